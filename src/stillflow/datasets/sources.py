"""Data sets of tensors, their rows, and numbers."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import nest, structure
from stillflow.datasets.dataset import DatasetSource
from stillflow.datasets.specs import TensorSpec, type_spec_from_value
from stillflow.graph import dtypes
from stillflow.graph.shape import Dimension
from stillflow.ops.convert import convert_to_tensor


class TensorDataset(DatasetSource):
    """One element."""

    def __init__(self, element):
        element = structure.normalize_element(element)
        self._structure = type_spec_from_value(element)
        self._tensors = structure.to_tensor_list(self._structure, element)
        variant = ops.tensor_dataset(self._tensors, output_shapes=structure.flat_tensor_shapes(self._structure))
        super().__init__(variant)

    @property
    def element_spec(self):
        return self._structure


class TensorSliceDataset(DatasetSource):
    """An element for each row."""

    def __init__(self, element):
        element = structure.normalize_element(element)
        batched = type_spec_from_value(element)
        self._tensors = structure.to_batched_tensor_list(batched, element)
        self._structure = nest.map_structure(lambda part: part._unbatch(), batched)
        rows = _row_count(self._tensors[0])
        for tensor in self._tensors[1:]:
            rows.assert_is_compatible_with(_row_count(tensor))
        variant = ops.tensor_slice_dataset(self._tensors, output_shapes=structure.flat_tensor_shapes(self._structure))
        super().__init__(variant)

    @property
    def element_spec(self):
        return self._structure


def _row_count(tensor):
    return Dimension(None) if tensor.shape.rank is None else tensor.shape.dims[0]


class RangeDataset(DatasetSource):
    """Numbers."""

    def __init__(self, *args):
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        self._start, self._stop, self._step = (
            convert_to_tensor(value, dtype=dtypes.int64, name=name)
            for value, name in ((start, "start"), (stop, "stop"), (step, "step"))
        )
        super().__init__(ops.range_dataset(self._start, self._stop, self._step, **self._flat_structure))

    @property
    def element_spec(self):
        return TensorSpec([], dtypes.int64)
