"""Data sets of what a function makes of elements: map, filter, flat_map, interleave."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import nest
from stillflow.datasets.batch import known_batch_size
from stillflow.datasets.node import UnaryDataset, UnaryUnchangedStructureDataset
from stillflow.datasets.specs import DatasetSpec
from stillflow.datasets.structured_function import StructuredFunction
from stillflow.graph import dtypes
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform.deprecation import deprecated


class _FunctionDataset(UnaryDataset):
    """One whose elements a function makes."""

    _transformation: str

    def __init__(self, input_dataset, function):
        self._input_dataset = input_dataset
        self._map_func = StructuredFunction(function, self._transformation, input_dataset.element_spec)
        self._structure = self._element_structure(self._map_func.output_structure)
        super().__init__(input_dataset, self._as_variant_tensor(self._map_func.function))

    def _element_structure(self, returned):
        return returned

    def _as_variant_tensor(self, function):
        raise NotImplementedError

    def _functions(self):
        return [self._map_func]

    @property
    def element_spec(self):
        return self._structure


class MapDataset(_FunctionDataset):
    """Results of a function."""

    _transformation = "Dataset.map()"
    _may_batch = _may_reorder = False

    def __init__(self, input_dataset, function, preserves_cardinality=False, use_inter_op_parallelism=True):
        self._preserves_cardinality = preserves_cardinality
        self._use_inter_op_parallelism = use_inter_op_parallelism
        super().__init__(input_dataset, function)

    def _as_variant_tensor(self, function):
        return ops.map_dataset(
            self._input_dataset._variant_tensor,
            function.captured_inputs,
            f=function,
            use_inter_op_parallelism=self._use_inter_op_parallelism,
            preserve_cardinality=self._preserves_cardinality,
            **self._flat_structure,
        )


class ParallelMapDataset(_FunctionDataset):
    """Results of a function, several at a time."""

    _transformation = "Dataset.map()"
    _may_batch = _may_reorder = False

    def __init__(self, input_dataset, function, num_parallel_calls, preserves_cardinality=False):
        self._calls = num_parallel_calls
        self._preserves_cardinality = preserves_cardinality
        super().__init__(input_dataset, function)

    def _as_variant_tensor(self, function):
        calls = convert_to_tensor(self._calls, dtype=dtypes.int32, name="num_parallel_calls")
        return ops.parallel_map_dataset(
            self._input_dataset._variant_tensor,
            function.captured_inputs,
            f=function,
            num_parallel_calls=calls,
            preserve_cardinality=self._preserves_cardinality,
            **self._flat_structure,
        )


class MapAndBatchDataset(_FunctionDataset):
    """Batches of results of a function."""

    _transformation = "tf.data.experimental.map_and_batch()"

    def __init__(self, input_dataset, function, batch_size, num_parallel_calls, drop_remainder):
        self._numbers = batch_size, num_parallel_calls, drop_remainder
        super().__init__(input_dataset, function)

    def _element_structure(self, returned):
        batch_size, num_parallel_calls, drop_remainder = self._numbers
        batch_size = convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size")
        num_parallel_calls = convert_to_tensor(num_parallel_calls, dtype=dtypes.int64, name="num_parallel_calls")
        drop_remainder = convert_to_tensor(drop_remainder, dtype=dtypes.bool_, name="drop_remainder")
        self._numbers = batch_size, num_parallel_calls, drop_remainder
        size = known_batch_size(batch_size, drop_remainder)
        return nest.map_structure(lambda part: part._batch(size), returned)

    def _as_variant_tensor(self, function):
        batch_size, num_parallel_calls, drop_remainder = self._numbers
        return ops.map_and_batch_dataset(
            self._input_dataset._variant_tensor,
            function.captured_inputs,
            f=function,
            batch_size=batch_size,
            num_parallel_calls=num_parallel_calls,
            drop_remainder=drop_remainder,
            preserve_cardinality=True,
            **self._flat_structure,
        )


@public("contrib.data.map_and_batch")
@public("data.experimental.map_and_batch")
def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """A transformation for Dataset.apply: `map(map_func)`, then `batch(batch_size)`.

    Args:
      map_func: as for Dataset.map.
      batch_size: how many elements are stacked, an int64 scalar, at least 1.
      num_parallel_batches: for how many batches functions may be at work.
      drop_remainder: whether a last batch that is smaller is left out.
      num_parallel_calls: how many calls may be under way at a time, instead of `num_parallel_batches`.

    Raises ValueError if both numbers are given.
    """
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")
    if num_parallel_calls is None:
        num_parallel_calls = batch_size * (1 if num_parallel_batches is None else num_parallel_batches)

    def transformation(dataset):
        return dataset._of(MapAndBatchDataset(dataset, map_func, batch_size, num_parallel_calls, drop_remainder))

    return transformation


@public("data.experimental.map_and_batch_with_legacy_function")
@deprecated(None, "Use `tf.data.experimental.map_and_batch()")
def map_and_batch_with_legacy_function(
    map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None
):
    """See `map_and_batch`. Functions are traced in one way here."""
    return map_and_batch(map_func, batch_size, num_parallel_batches, drop_remainder, num_parallel_calls)


class FilterDataset(UnaryUnchangedStructureDataset):
    """The elements of which a function says so."""

    def __init__(self, input_dataset, predicate):
        self._input_dataset = input_dataset
        self._predicate = StructuredFunction(predicate, "Dataset.filter()", input_dataset.element_spec)
        returned = self._predicate.output_structure
        wanted = TensorSpec([], dtypes.bool_)
        if not isinstance(returned, TensorSpec) or not returned.is_compatible_with(wanted):
            raise ValueError(
                f"`predicate` return type must be convertible to a scalar boolean tensor. Was {returned}."
            )
        function = self._predicate.function
        variant = ops.filter_dataset(
            input_dataset._variant_tensor,
            other_arguments=function.captured_inputs,
            predicate=function,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    def _functions(self):
        return [self._predicate]


# ---- Data sets of data sets -----------------------------------------------------------------------------------


class _NestedDataset(_FunctionDataset):
    """One whose elements are those of the data sets that a function makes."""

    def _element_structure(self, returned):
        if not isinstance(returned, DatasetSpec):
            raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(returned)}")
        return returned._element_spec


class FlatMapDataset(_NestedDataset):
    """One data set after the other."""

    _transformation = "Dataset.flat_map()"

    def _as_variant_tensor(self, function):
        return ops.flat_map_dataset(
            self._input_dataset._variant_tensor, function.captured_inputs, f=function, **self._flat_structure
        )


class InterleaveDataset(_NestedDataset):
    """Several data sets in turns."""

    _transformation = "Dataset.interleave()"

    def __init__(self, input_dataset, function, cycle_length, block_length, num_parallel_calls=None):
        self._lengths = cycle_length, block_length
        self._calls = num_parallel_calls
        super().__init__(input_dataset, function)

    def _as_variant_tensor(self, function):
        cycle_length, block_length = self._lengths
        arguments = [
            self._input_dataset._variant_tensor,
            function.captured_inputs,
            convert_to_tensor(cycle_length, dtype=dtypes.int64, name="cycle_length"),
            convert_to_tensor(block_length, dtype=dtypes.int64, name="block_length"),
        ]
        if self._calls is None:
            return ops.interleave_dataset(*arguments, f=function, **self._flat_structure)
        arguments.append(convert_to_tensor(self._calls, dtype=dtypes.int64, name="num_parallel_calls"))
        return ops.parallel_interleave_dataset_v2(*arguments, f=function, **self._flat_structure)


class ParallelInterleaveDataset(_NestedDataset):
    """Several data sets in turns, as tf.data.experimental.parallel_interleave makes them."""

    _transformation = "tf.data.experimental.parallel_interleave()"

    def __init__(self, input_dataset, function, cycle_length, block_length, sloppy, output_elements, input_elements):
        self._lengths = cycle_length, block_length
        self._sloppy = sloppy
        self._buffers = output_elements, input_elements
        super().__init__(input_dataset, function)

    def _as_variant_tensor(self, function):
        cycle_length, block_length = self._lengths
        output_elements, input_elements = self._buffers

        def number(value, name, default=None):
            return convert_to_tensor(default if value is None else value, dtype=dtypes.int64, name=name)

        return ops.parallel_interleave_dataset(
            self._input_dataset._variant_tensor,
            function.captured_inputs,
            number(cycle_length, "cycle_length"),
            number(block_length, "block_length"),
            convert_to_tensor(self._sloppy, dtype=dtypes.bool_, name="sloppy"),
            number(output_elements, "buffer_output_elements", 2 * block_length),
            number(input_elements, "prefetch_input_elements", 2 * cycle_length),
            f=function,
            **self._flat_structure,
        )
