"""Data sets that store elements (cache) or compute them in advance (prefetch)."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform import tf2


class CacheDataset(UnaryUnchangedStructureDataset):
    """Elements made once."""

    def __init__(self, input_dataset, filename):
        self._input_dataset = input_dataset
        self._filename = convert_to_tensor(filename, dtype=dtypes.string, name="filename")
        super().__init__(input_dataset, _cached(self))


@by_mode
def _cached(dataset):
    variant = dataset._input_dataset._variant_tensor
    return ops.cache_dataset(variant, filename=dataset._filename, **dataset._flat_structure)


@eager_version_of(_cached)
def _cached_for_all_loops(dataset):
    """With TensorFlow 2's behaviour, iterators over one data set share its cache."""
    if not tf2.enabled():
        return _cached.__wrapped__(dataset)
    cache, _ = ops.anonymous_memory_cache()
    get_default_graph().free_with(dataset, cache, "memory_cache")
    variant = dataset._input_dataset._variant_tensor
    return ops.cache_dataset_v2(variant, dataset._filename, cache, **dataset._flat_structure)


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
