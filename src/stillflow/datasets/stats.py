"""What pipelines measure: latency_stats, bytes_produced_stats."""

from __future__ import annotations

from stillflow import ops
from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.datasets.rewriting import SetStatsAggregatorDataset
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform.deprecation import deprecated


class _StatsDataset(UnaryUnchangedStructureDataset):
    """The same elements, each measured under a name."""

    def __init__(self, input_dataset, op, tag):
        self._input_dataset = input_dataset
        self._tag = convert_to_tensor(tag, dtype=dtypes.string)
        super().__init__(input_dataset, op(input_dataset._variant_tensor, self._tag, **self._flat_structure))


@public("data.experimental.bytes_produced_stats")
def bytes_produced_stats(tag):
    """For Dataset.apply: tells the aggregator of the pipeline how many bytes each element has, under a name."""
    return lambda dataset: dataset._of(_StatsDataset(dataset, ops.bytes_produced_stats_dataset, tag))


@public("data.experimental.latency_stats")
def latency_stats(tag):
    """For Dataset.apply: tells the aggregator of the pipeline how many microseconds each element takes."""
    return lambda dataset: dataset._of(_StatsDataset(dataset, ops.latency_stats_dataset, tag))


@public("python.data.experimental.ops.stats_ops.set_stats_aggregator")
@deprecated(None, "Use `tf.data.experimental.StatsOptions`.")
def set_stats_aggregator(stats_aggregator, prefix="", counter_prefix=""):
    """For Dataset.apply: makes a tf.data.experimental.StatsAggregator that of the pipeline."""
    return lambda dataset: dataset._of(SetStatsAggregatorDataset(dataset, stats_aggregator, prefix, counter_prefix))
