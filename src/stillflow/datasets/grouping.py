"""Data sets of elements that are grouped by a key: group_by_window, bucket_by_sequence_length."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_less
from stillflow.datasets import nest, structure
from stillflow.datasets.node import UnaryDataset
from stillflow.datasets.specs import DatasetSpec
from stillflow.datasets.structured_function import StructuredFunction
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_TRANSFORMATION = "tf.data.experimental.group_by_window()"
_KEY = TensorSpec([], dtypes.int64)


class GroupByWindowDataset(UnaryDataset):
    """What a function makes of elements with the same key."""

    def __init__(self, input_dataset, key_func, reduce_func, window_size_func):
        self._input_dataset = input_dataset
        spec = input_dataset.element_spec
        self._key_func = _number_function("key_func", key_func, spec)
        self._reduce_func = StructuredFunction(reduce_func, _TRANSFORMATION, (_KEY, DatasetSpec(spec)))
        if not isinstance(self._reduce_func.output_structure, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        self._window_size_func = _number_function("window_size_func", window_size_func, _KEY)
        self._structure = self._reduce_func.output_structure._element_spec
        variant = ops.group_by_window_dataset(
            input_dataset._variant_tensor,
            self._key_func.function.captured_inputs,
            self._reduce_func.function.captured_inputs,
            self._window_size_func.function.captured_inputs,
            key_func=self._key_func.function,
            reduce_func=self._reduce_func.function,
            window_size_func=self._window_size_func.function,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self):
        return [self._key_func, self._reduce_func, self._window_size_func]

    @property
    def element_spec(self):
        return self._structure


def _number_function(name, function, spec):
    """A function of which every result is an int64 scalar."""

    def wrapper(*args):
        return convert_to_tensor(function(*args), dtype=dtypes.int64)

    wrapper.__name__ = f"{name}_wrapper"
    found = StructuredFunction(wrapper, _TRANSFORMATION, spec)
    spec = found.output_structure
    if spec is None or not spec.is_compatible_with(_KEY):
        raise ValueError(f"`{name}` must return a single tf.int64 scalar tensor.")
    return found


@public("data.experimental.group_by_window", "contrib.data.group_by_window")
def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """For Dataset.apply: gathers elements with the same key, and replaces them by the elements of a data set.

    Args:
      key_func: makes an int64 scalar of an element.
      reduce_func: makes a data set of a key and a data set of `window_size` elements, or fewer at the end.
      window_size: how many elements are gathered.
      window_size_func: or a function that makes that number of a key.

    Raises ValueError if neither or both are given.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    if window_size is not None:

        def constant_window_func(unused_key):
            return ops.constant(window_size, dtype=dtypes.int64)

        window_size_func = constant_window_func

    return lambda dataset: dataset._of(GroupByWindowDataset(dataset, key_func, reduce_func, window_size_func))


@public("data.experimental.bucket_by_sequence_length", "contrib.data.bucket_by_sequence_length")
def bucket_by_sequence_length(
    element_length_func,
    bucket_boundaries,
    bucket_batch_sizes,
    padded_shapes=None,
    padding_values=None,
    pad_to_bucket_boundary=False,
    no_padding=False,
    drop_remainder=False,
):
    """For Dataset.apply: batches of elements that are about as long as each other.

    Args:
      element_length_func: makes the length, an int32 scalar, of an element.
      bucket_boundaries: the lengths at which the next bucket begins, ascending.
      bucket_batch_sizes: the batch size of each bucket, of which there is one more than boundaries.
      padded_shapes, padding_values: as for Dataset.padded_batch; by default what is unknown is padded with 0.
      pad_to_bucket_boundary: whether unknown sizes become the boundary less 1; longer elements are errors then.
      no_padding: whether elements of a bucket are batched as they are.
      drop_remainder: whether smaller batches at the end are left out.

    Raises ValueError if the numbers of boundaries and sizes do not fit.
    """
    with name_scope("bucket_by_seq_length"):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
        batch_sizes = ops.constant(bucket_batch_sizes, dtype=dtypes.int64)

        def element_to_bucket_id(*args):
            length = element_length_func(*args)
            boundaries = list(bucket_boundaries)
            smallest = [np.iinfo(np.int32).min, *boundaries]
            beyond = [*boundaries, np.iinfo(np.int32).max]
            is_within = ops.logical_and(ops.less_equal(smallest, length), ops.less(length, beyond))
            return ops.reduce_min(ops.where(is_within))

        def window_size_fn(bucket_id):
            return batch_sizes[bucket_id]

        def batching_fn(bucket_id, dataset):
            size = window_size_fn(bucket_id)
            if no_padding:
                return dataset.batch(size, drop_remainder=drop_remainder)
            filler = _bucket_boundary(bucket_id, bucket_boundaries) - 1 if pad_to_bucket_boundary else None
            shapes = padded_shapes or structure.output_shapes(dataset.element_spec)
            return dataset.padded_batch(
                size, _filled_shapes(shapes, filler), padding_values, drop_remainder=drop_remainder
            )

        return lambda dataset: dataset.apply(
            group_by_window(element_to_bucket_id, batching_fn, window_size_func=window_size_fn)
        )


def _bucket_boundary(bucket_id, boundaries):
    check = assert_less(
        bucket_id,
        ops.constant(len(boundaries), dtype=dtypes.int64),
        message="When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).",
    )
    with get_default_graph().control_dependencies([check]):
        return ops.constant(boundaries, dtype=dtypes.int64)[bucket_id]


def _filled_shapes(shapes, filler):
    """The shapes, with `filler` for sizes that are not known."""
    filled = [
        [filler if dimension_value(size) is None else size for size in TensorShape(shape)]
        for shape in nest.flatten(shapes)
    ]
    return nest.pack_sequence_as(shapes, filled)
