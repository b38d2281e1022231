"""Data sets that store elements (cache) or compute them in advance (prefetch)."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.graph import dtypes
from stillflow.ops.convert import convert_to_tensor


class CacheDataset(UnaryUnchangedStructureDataset):
    """Elements made once."""

    def __init__(self, input_dataset, filename):
        self._input_dataset = input_dataset
        self._filename = convert_to_tensor(filename, dtype=dtypes.string, name="filename")
        variant = ops.cache_dataset(input_dataset._variant_tensor, filename=self._filename, **self._flat_structure)
        super().__init__(input_dataset, variant)


class PrefetchDataset(UnaryUnchangedStructureDataset):
    """Elements made in advance."""

    def __init__(self, input_dataset, buffer_size, slack_period=None):
        self._input_dataset = input_dataset
        size = -1 if buffer_size is None else buffer_size
        self._buffer_size = convert_to_tensor(size, dtype=dtypes.int64, name="buffer_size")
        variant = ops.prefetch_dataset(
            input_dataset._variant_tensor,
            buffer_size=self._buffer_size,
            slack_period=slack_period or 0,
            **self._flat_structure,
        )
        super().__init__(input_dataset, variant)
