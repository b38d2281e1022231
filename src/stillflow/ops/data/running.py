"""How pipelines run, and what is measured then."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.data.declare import SPEC, define_dataset
from stillflow.ops.registry import define_op

_HANDLE = "container: string = ''; shared_name: string = ''"


def _define_handle(name, kernel, attrs=""):
    op = define_op(
        f"{name}() -> (handle: resource)",
        f"{attrs}{_HANDLE}",
        kernel=kernel,
        state="op",
        stateful=True,
        differentiable=False,
    )

    @op.shape_rule
    def _(context):
        return ()

    return op


max_intra_op_parallelism_dataset = define_dataset(
    "MaxIntraOpParallelismDataset",
    "input_dataset: variant, max_intra_op_parallelism: int64",
    "max_intra_op_parallelism_dataset(input_dataset, max_intra_op_parallelism)",
)
private_thread_pool_dataset = define_dataset(
    "PrivateThreadPoolDataset",
    "input_dataset: variant, num_threads: int64",
    "private_thread_pool_dataset(input_dataset, num_threads)",
)


def _define_pool(prefix):
    handle = _define_handle(
        f"{prefix}ThreadPoolHandle",
        "thread_pool_handle(| 'resource', container, shared_name, node_name, num_threads)",
        "num_threads: int; max_intra_op_parallelism: int = 1; display_name: string; ",
    )
    dataset = define_dataset(
        f"{prefix}ThreadPoolDataset",
        "input_dataset: variant, thread_pool: resource",
        "thread_pool_dataset(input_dataset, thread_pool)",
        stateful=True,
    )
    return handle, dataset


thread_pool_handle, thread_pool_dataset = _define_pool("")
experimental_thread_pool_handle, experimental_thread_pool_dataset = _define_pool("Experimental")

stats_aggregator_handle = _define_handle(
    "StatsAggregatorHandle", "stats_aggregator_handle(| 'resource', container, shared_name, node_name)"
)
stats_aggregator_summary = define_op(
    "StatsAggregatorSummary(iterator: resource) -> (summary: string)",
    kernel="stats_aggregator_summary(iterator)",
    stateful=True,
    differentiable=False,
)


@stats_aggregator_summary.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return ()


set_stats_aggregator_dataset = define_dataset(
    "SetStatsAggregatorDataset",
    "input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string",
    "set_stats_aggregator_dataset(input_dataset, stats_aggregator, tag, counter_prefix | output_types, "
    "output_shapes)",
    attrs=SPEC,
    stateful=True,
)
latency_stats_dataset = define_dataset(
    "LatencyStatsDataset",
    "input_dataset: variant, tag: string",
    "latency_stats_dataset(input_dataset, tag | output_types, output_shapes)",
)
bytes_produced_stats_dataset = define_dataset(
    "BytesProducedStatsDataset",
    "input_dataset: variant, tag: string",
    "bytes_produced_stats_dataset(input_dataset, tag | output_types, output_shapes)",
)
