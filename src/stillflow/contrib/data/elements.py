"""What elements are held to, and what all of them make."""

from __future__ import annotations

import numpy as np

from stillflow.contrib.framework.shapes import with_shape
from stillflow.datasets import nest, structure
from stillflow.datasets.dataset import DatasetV1
from stillflow.datasets.node import UnaryDataset
from stillflow.names import public
from stillflow.platform.deprecation import deprecated


class _Reshaped(UnaryDataset):
    """The same elements, of which more is known."""

    def __init__(self, input_dataset, spec):
        self._structure = spec
        super().__init__(input_dataset, input_dataset._variant_tensor)

    @property
    def element_spec(self):
        return self._structure


@public("contrib.data.assert_element_shape")
def assert_element_shape(expected_shapes):
    """For Dataset.apply: checks the shapes of components, and makes them known.

    Args:
      expected_shapes: a TensorShape for each component; what is unknown is not checked.

    Raises ValueError for shapes that cannot be. At run time: InvalidArgumentError for those that are not.
    """

    def check(*elements):
        pairs = zip(nest.flatten(expected_shapes), nest.flatten(elements), strict=True)
        return nest.pack_sequence_as(elements, [with_shape(shape, part) if shape else part for shape, part in pairs])

    def transformation(dataset):
        spec = dataset.element_spec
        types, shapes, classes = (of(spec) for of in _LEGACY)
        expected = nest.flatten_up_to(shapes, expected_shapes)
        merged = [ours.merge_with(theirs) for ours, theirs in zip(nest.flatten(shapes), expected, strict=True)]
        known = structure.convert_legacy_structure(types, nest.pack_sequence_as(shapes, merged), classes)
        return dataset._of(_Reshaped(dataset.map(check), known))

    return transformation


_LEGACY = structure.output_types, structure.output_shapes, structure.output_classes


@public("contrib.data.reduce_dataset")
@deprecated(None, "Use `tf.data.Dataset.reduce(...)`.")
def reduce_dataset(dataset, reducer):
    """What a tf.data.experimental.Reducer makes of all elements; its `finalize_func` is not called.

    Raises TypeError for what is no data set.
    """
    if not isinstance(dataset, DatasetV1):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(np.int64(0)), reducer.reduce_func)
