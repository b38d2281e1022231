"""Ops on streams of quantiles, by which numbers are put into buckets."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.boosted_trees.define import STREAMS, define, define_handle

boosted_trees_quantile_stream_resource_handle_op = define_handle(
    "BoostedTreesQuantileStreamResourceHandleOp", "quantile_stream_handle"
)
is_boosted_trees_quantile_stream_resource_initialized = define(
    f"IsBoostedTreesQuantileStreamResourceInitialized({STREAMS}) -> (is_initialized: bool)",
    "",
    "quantile_stream_exists(quantile_stream_resource_handle)",
    [0],
    [()],
)
boosted_trees_create_quantile_stream_resource = define(
    f"BoostedTreesCreateQuantileStreamResource({STREAMS}, epsilon: float32, num_streams: int64) -> ()",
    "max_elements: int = 1099511627776",
    "create_quantile_streams(quantile_stream_resource_handle, epsilon, num_streams | max_elements)",
    [0, 0, 0],
)
boosted_trees_make_quantile_summaries = define(
    "BoostedTreesMakeQuantileSummaries(float_values: num_features * float32, example_weights: float32, "
    "epsilon: float32) -> (summaries: num_features * float32)",
    "num_features: int >= 0",
    "make_quantile_summaries(float_values, example_weights, epsilon)",
    [(1, "num_features"), 1, 0],
    lambda context: [(None, 4)] * context.attrs["num_features"],
    stateful=False,
)
boosted_trees_flush_quantile_summaries = define(
    f"BoostedTreesFlushQuantileSummaries({STREAMS}) -> (summaries: num_features * float32)",
    "num_features: int >= 0",
    "flush_quantile_summaries(quantile_stream_resource_handle)",
    [None],
    lambda context: [(None, 4)] * context.attrs["num_features"],
)
boosted_trees_quantile_stream_resource_add_summaries = define(
    f"BoostedTreesQuantileStreamResourceAddSummaries({STREAMS}, summaries: num_features * float32) -> ()",
    "num_features: int >= 0",
    "add_quantile_summaries(quantile_stream_resource_handle, summaries)",
    [0, (2, "num_features")],
)
boosted_trees_quantile_stream_resource_deserialize = define(
    f"BoostedTreesQuantileStreamResourceDeserialize({STREAMS}, bucket_boundaries: num_streams * float32) -> ()",
    "num_streams: int >= 1",
    "deserialize_quantile_streams(quantile_stream_resource_handle, bucket_boundaries)",
    [0],
)
boosted_trees_quantile_stream_resource_flush = define(
    f"BoostedTreesQuantileStreamResourceFlush({STREAMS}, num_buckets: int64) -> ()",
    "generate_quantiles: bool = false",
    "flush_quantile_streams(quantile_stream_resource_handle, num_buckets | generate_quantiles)",
    [0, 0],
)
boosted_trees_quantile_stream_resource_get_bucket_boundaries = define(
    f"BoostedTreesQuantileStreamResourceGetBucketBoundaries({STREAMS}) -> "
    "(bucket_boundaries: num_features * float32)",
    "num_features: int >= 0",
    "quantile_boundaries(quantile_stream_resource_handle)",
    [0],
    lambda context: [(None,)] * context.attrs["num_features"],
)


def _bucket_shapes(context):
    sizes = [plain.with_rank(shape, 1)[0] for shape in context.shapes[: context.attrs["num_features"]]]
    for size in sizes:
        plain.merged_size(sizes[0], size)
    return [(size,) for size in sizes]


boosted_trees_bucketize = define(
    "BoostedTreesBucketize(float_values: num_features * float32, bucket_boundaries: num_features * float32) -> "
    "(buckets: num_features * int32)",
    "num_features: int >= 0",
    "boosted_trees_bucketize(float_values, bucket_boundaries)",
    [(1, "num_features")],
    _bucket_shapes,
    stateful=False,
)
