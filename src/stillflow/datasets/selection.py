"""Data sets of some elements of another."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.graph import dtypes
from stillflow.ops.convert import convert_to_tensor


class TakeDataset(UnaryUnchangedStructureDataset):
    """The first elements."""

    def __init__(self, input_dataset, count):
        self._input_dataset = input_dataset
        self._count = convert_to_tensor(count, dtype=dtypes.int64, name="count")
        variant = ops.take_dataset(input_dataset._variant_tensor, count=self._count, **self._flat_structure)
        super().__init__(input_dataset, variant)


class SkipDataset(UnaryUnchangedStructureDataset):
    """What comes after the first elements."""

    def __init__(self, input_dataset, count):
        self._input_dataset = input_dataset
        self._count = convert_to_tensor(count, dtype=dtypes.int64, name="count")
        variant = ops.skip_dataset(input_dataset._variant_tensor, count=self._count, **self._flat_structure)
        super().__init__(input_dataset, variant)


class ShardDataset(UnaryUnchangedStructureDataset):
    """Every so many elements one."""

    def __init__(self, input_dataset, num_shards, index):
        self._input_dataset = input_dataset
        self._num_shards = convert_to_tensor(num_shards, dtype=dtypes.int64, name="num_shards")
        self._index = convert_to_tensor(index, dtype=dtypes.int64, name="index")
        variant = ops.shard_dataset(
            input_dataset._variant_tensor, num_shards=self._num_shards, index=self._index, **self._flat_structure
        )
        super().__init__(input_dataset, variant)
