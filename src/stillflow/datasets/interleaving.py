"""Data sets of elements of several, in an order that another data set says."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import nest, structure
from stillflow.datasets.dataset import DatasetV1
from stillflow.datasets.node import DatasetNode
from stillflow.graph import dtypes
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.names import public


@public("python.data.experimental.ops.interleave_ops._DirectedInterleaveDataset")
class DirectedInterleaveDataset(DatasetNode):
    """Elements of several data sets, in an order that another says."""

    def __init__(self, selector, datasets):
        self._selector, self._datasets = selector, list(datasets)
        first = self._datasets[0]
        for each in self._datasets[1:]:
            for what, of in (("types", structure.output_types), ("classes", structure.output_classes)):
                if of(first.element_spec) != of(each.element_spec):
                    raise TypeError(f"All datasets in `data_inputs` must have the same {what}.")
        shapes = [structure.output_shapes(each.element_spec) for each in self._datasets]
        common = nest.flatten(shapes[0])
        for other in shapes[1:]:
            pairs = zip(common, nest.flatten(other), strict=True)
            common = [ours.most_specific_compatible_shape(theirs) for ours, theirs in pairs]
        spec = first.element_spec
        self._structure = structure.convert_legacy_structure(
            structure.output_types(spec), nest.pack_sequence_as(shapes[0], common), structure.output_classes(spec)
        )
        variant = ops.directed_interleave_dataset(
            selector._variant_tensor, [each._variant_tensor for each in self._datasets], **self._flat_structure
        )
        super().__init__(variant)

    def _inputs(self):
        return [self._selector, *self._datasets]

    @property
    def element_spec(self):
        return self._structure


@public("data.experimental.choose_from_datasets", "contrib.data.choose_from_datasets")
def choose_from_datasets(datasets, choice_dataset):
    """A data set of elements of several.

    Args:
      datasets: a list of data sets of one structure.
      choice_dataset: a data set of int64 scalars, the numbers of those that the next elements are of.

    Raises TypeError for data sets of other elements.
    """
    spec = choice_dataset.element_spec
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([], dtypes.int64)):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return DatasetV1._of(DirectedInterleaveDataset(choice_dataset, datasets))
