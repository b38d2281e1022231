"""Data set ops under the names that they had in TensorFlow 1.13 and 1.14, which MetaGraphs of that time hold."""

from __future__ import annotations

from stillflow.ops.data import experimental, functions, running, transformations
from stillflow.ops.registry import define_again

for _op in (
    transformations.assert_next_dataset,
    transformations.auto_shard_dataset,
    running.bytes_produced_stats_dataset,
    transformations.choose_fastest_dataset,
    experimental.dense_to_sparse_batch_dataset,
    transformations.directed_interleave_dataset,
    functions.group_by_window_dataset,
    transformations.ignore_errors_dataset,
    running.latency_stats_dataset,
    functions.map_and_batch_dataset,
    functions.map_dataset,
    running.max_intra_op_parallelism_dataset,
    transformations.non_serializable_dataset,
    functions.parallel_interleave_dataset,
    running.private_thread_pool_dataset,
    experimental.random_dataset,
    transformations.rebatch_dataset,
    functions.scan_dataset,
    running.set_stats_aggregator_dataset,
    running.stats_aggregator_handle,
    running.stats_aggregator_summary,
    experimental.take_while_dataset,
    transformations.unbatch_dataset,
    experimental.unique_dataset,
):
    define_again(_op.op_def, f"Experimental{_op.op_def.name}")
