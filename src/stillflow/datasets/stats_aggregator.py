"""tf.data.experimental.StatsAggregator: what is measured while elements are made."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public


@public("data.experimental.StatsAggregator", "python.data.experimental.ops.stats_aggregator.StatsAggregatorV1")
class StatsAggregator:
    """Keeps statistics of pipelines that have it as their tf.data.Options.experimental_stats.aggregator."""

    def __init__(self):
        self._resource = ops.stats_aggregator_handle()

    def get_summary(self):
        """A string scalar: a tf.Summary message with a histogram for each name."""
        return ops.stats_aggregator_summary(self._resource)
