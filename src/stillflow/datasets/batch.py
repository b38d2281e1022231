"""Data sets of several elements as one: batches and windows."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets import nest
from stillflow.datasets.node import UnaryDataset
from stillflow.datasets.specs import DatasetSpec
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.convert import convert_to_tensor


class BatchDataset(UnaryDataset):
    """Several elements stacked."""

    _may_reorder = False

    def __init__(self, input_dataset, batch_size, drop_remainder):
        self._input_dataset = input_dataset
        self._batch_size = convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size")
        self._drop_remainder = convert_to_tensor(drop_remainder, dtype=dtypes.bool_, name="drop_remainder")
        size = known_batch_size(self._batch_size, self._drop_remainder)
        self._structure = nest.map_structure(lambda part: part._batch(size), input_dataset.element_spec)
        variant = ops.batch_dataset_v2(
            input_dataset._variant_tensor,
            batch_size=self._batch_size,
            drop_remainder=self._drop_remainder,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    @property
    def element_spec(self):
        return self._structure


def known_batch_size(batch_size, drop_remainder):
    """How many elements every batch has, if that is known: None where the last may be smaller."""
    if not constant_value(drop_remainder):
        return None
    size = constant_value(batch_size)
    return None if size is None else int(size)


class WindowDataset(UnaryDataset):
    """Data sets of several elements."""

    _may_reorder = False

    def __init__(self, input_dataset, size, shift, stride, drop_remainder):
        self._input_dataset = input_dataset
        self._size = convert_to_tensor(size, dtype=dtypes.int64, name="size")
        self._shift = convert_to_tensor(shift, dtype=dtypes.int64, name="shift")
        self._stride = convert_to_tensor(stride, dtype=dtypes.int64, name="stride")
        self._drop_remainder = convert_to_tensor(drop_remainder, dtype=dtypes.bool_, name="drop_remainder")
        self._structure = nest.map_structure(DatasetSpec, input_dataset.element_spec)
        variant = ops.window_dataset(
            input_dataset._variant_tensor,
            self._size,
            self._shift,
            self._stride,
            self._drop_remainder,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)

    @property
    def element_spec(self):
        return self._structure
