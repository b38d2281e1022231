"""Ops on quantiles of features, by which numbers are put into buckets (contrib.boosted_trees)."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.boosted_trees.define import define, define_handle
from stillflow.ops.registry import define_op

_HANDLE = "quantile_accumulator_handle: resource"
_STAMPED = f"{_HANDLE}, stamp_token: int64"
_HANDLES = "quantile_accumulator_handles: num_resource_handles * resource, stamp_token: int64"

quantile_stream_resource_handle_op = define_handle("QuantileStreamResourceHandleOp", "quantile_accumulator_handle")
quantile_accumulator_is_initialized = define(
    f"QuantileAccumulatorIsInitialized({_HANDLE}) -> (is_initialized: bool)",
    "",
    "quantile_accumulator_exists(quantile_accumulator_handle)",
    [None],
    [()],
)
create_quantile_accumulator = define(
    f"CreateQuantileAccumulator({_STAMPED}) -> ()",
    "container: string = ''; shared_name: string = ''; max_elements: int = 1099511627776; epsilon: float; "
    "num_quantiles: int; generate_quantiles: bool = false",
    "create_quantile_accumulator(quantile_accumulator_handle, stamp_token | max_elements, epsilon, num_quantiles, "
    "generate_quantiles)",
    [0, 0],
)
quantile_accumulator_add_summaries = define(
    f"QuantileAccumulatorAddSummaries({_HANDLES}, summaries: num_resource_handles * string) -> ()",
    "num_resource_handles: int >= 1",
    "add_to_quantile_accumulators(quantile_accumulator_handles, stamp_token, summaries | num_resource_handles)",
    [(0, "num_resource_handles"), 0, (0, "num_resource_handles")],
)


def _bucket_shapes(context):
    count = context.attrs["num_resource_handles"]
    return [()] * count + [(None,)] * count


quantile_accumulator_get_buckets = define(
    f"QuantileAccumulatorGetBuckets({_HANDLES}) -> (are_buckets_ready: num_resource_handles * bool, "
    "buckets: num_resource_handles * float32)",
    "num_resource_handles: int >= 1",
    "quantile_accumulator_buckets(quantile_accumulator_handles, stamp_token | num_resource_handles)",
    [None],
    _bucket_shapes,
)
quantile_accumulator_flush = define(
    f"QuantileAccumulatorFlush({_STAMPED}, next_stamp_token: int64) -> ()",
    "",
    "flush_quantile_accumulator(quantile_accumulator_handle, stamp_token, next_stamp_token)",
    [None],
)
quantile_accumulator_flush_summary = define(
    f"QuantileAccumulatorFlushSummary({_STAMPED}, next_stamp_token: int64) -> (output: string)",
    "",
    "flush_quantile_summary(quantile_accumulator_handle, stamp_token, next_stamp_token)",
    [None],
    [None],
)
quantile_accumulator_serialize = define(
    f"QuantileAccumulatorSerialize({_HANDLE}) -> (stamp_token: int64, stream_state: string, "
    "are_buckets_ready: bool, buckets: float32)",
    "",
    "serialize_quantile_accumulator(quantile_accumulator_handle)",
    [None],
    [None] * 4,
)
quantile_accumulator_deserialize = define(
    f"QuantileAccumulatorDeserialize({_STAMPED}, stream_state: string, are_buckets_ready: bool, "
    "buckets: float32) -> ()",
    "",
    "deserialize_quantile_accumulator(quantile_accumulator_handle, stamp_token, stream_state, are_buckets_ready, "
    "buckets)",
    [None],
)

# ---- Of one batch ------------------------------------------------------------------------------------------------

_BATCH = (
    "dense_float_features: num_dense_features * float32, sparse_float_feature_indices: num_sparse_features * int64, "
    "sparse_float_feature_values: num_sparse_features * float32, "
    "sparse_float_feature_shapes: num_sparse_features * int64, example_weights: float32"
)
_BATCH_NAMES = (
    "dense_float_features, sparse_float_feature_indices, sparse_float_feature_values, sparse_float_feature_shapes, "
    "example_weights"
)
_COUNTS = "num_dense_features: int >= 0; num_sparse_features: int >= 0"


def _summary_shapes(context):
    dense, sparse = context.attrs["num_dense_features"], context.attrs["num_sparse_features"]
    size = plain.with_rank(context.shapes[dense + 3 * sparse], 2)[0]
    for shape in context.shapes[:dense]:
        plain.merged_size(plain.with_rank(shape, 2)[0], size)
    return [()] * (dense + sparse)


make_quantile_summaries = define(
    f"MakeQuantileSummaries({_BATCH}) -> (dense_summaries: num_dense_features * string, "
    "sparse_summaries: num_sparse_features * string)",
    f"{_COUNTS}; epsilon: float",
    f"make_feature_summaries({_BATCH_NAMES} | num_dense_features, num_sparse_features, epsilon)",
    [],
    _summary_shapes,
    stateful=False,
)
quantile_buckets = define(
    f"QuantileBuckets({_BATCH}) -> (dense_buckets: num_dense_features * float32, "
    "sparse_buckets: num_sparse_features * float32)",
    f"{_COUNTS}; dense_config: list(string); sparse_config: list(string)",
    f"feature_buckets({_BATCH_NAMES} | num_dense_features, num_sparse_features, dense_config, sparse_config)",
    [],
    lambda context: [None] * (context.attrs["num_dense_features"] + context.attrs["num_sparse_features"]),
    stateful=False,
)


def _quantile_shapes(context):
    count = context.attrs["num_dense_features"] + context.attrs["num_sparse_features"]
    return [(shape[0] if shape else None, 2) for shape in context.shapes[:count]]


quantiles = define(
    "Quantiles(dense_values: num_dense_features * float32, sparse_values: num_sparse_features * float32, "
    "dense_buckets: num_dense_features * float32, sparse_buckets: num_sparse_features * float32, "
    "sparse_indices: num_sparse_features * int64) -> (dense_quantiles: num_dense_features * int32, "
    "sparse_quantiles: num_sparse_features * int32)",
    _COUNTS,
    "feature_quantiles(dense_values, sparse_values, dense_buckets, sparse_buckets, sparse_indices | "
    "num_dense_features, num_sparse_features)",
    [],
    _quantile_shapes,
    stateful=False,
)
bucketize_with_input_boundaries = define_op(
    "BucketizeWithInputBoundaries(input: T, boundaries: float32) -> (output: int32)",
    "T: {int32, int64, float32, float64}",
    kernel="bucketize_with_boundaries(input, boundaries)",
    differentiable=False,
)
bucketize_with_input_boundaries.shape_rule(lambda context: context.shapes[0])
