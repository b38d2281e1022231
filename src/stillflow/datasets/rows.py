"""Data sets of the rows of elements: unbatch."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import nest, structure
from stillflow.datasets.node import UnaryDataset
from stillflow.graph.shape import Dimension


class _UnbatchDataset(UnaryDataset):
    """The rows of elements."""

    def __init__(self, input_dataset):
        size = Dimension(None)
        for shape in structure.get_flat_tensor_shapes(input_dataset.element_spec):
            if shape.rank == 0:
                raise ValueError("Cannot unbatch an input with scalar components.")
            try:
                size = size.merge_with(shape[0])
            except ValueError:
                raise ValueError("Cannot unbatch an input whose components have different batch sizes.") from None
        self._input_dataset = input_dataset
        self._structure = nest.map_structure(lambda part: part._unbatch(), input_dataset.element_spec)
        super().__init__(input_dataset, ops.unbatch_dataset(input_dataset._variant_tensor, **self._flat_structure))

    @property
    def element_spec(self):
        return self._structure


class _RestructuredDataset(UnaryDataset):
    """The same node, of whose elements something else is known."""

    def __init__(self, input_dataset, spec):
        self._input_dataset = input_dataset
        self._structure = spec
        super().__init__(input_dataset, input_dataset._variant_tensor)

    @property
    def element_spec(self):
        return self._structure


def unbatched(dataset):
    """See Dataset.unbatch."""
    spec = dataset.element_spec

    def normalize(arg, *rest):
        return structure.to_batched_tensor_list(spec, (arg, *rest) if rest else arg)

    return dataset._of(_UnbatchDataset(_RestructuredDataset(dataset.map(normalize), spec)))
