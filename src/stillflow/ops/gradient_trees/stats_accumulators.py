"""Ops that sum gradients and hessians by partition and feature (contrib.boosted_trees)."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.boosted_trees.define import define, define_handle

_HANDLE = "stats_accumulator_handle: resource"
_STAMPED = f"{_HANDLE}, stamp_token: int64"
_ROWS = "partition_ids: int32, feature_ids: int64, gradients: float32, hessians: float32"
_ROW_NAMES = "partition_ids, feature_ids, gradients, hessians"
_SUMS = "output_partition_ids: int32, output_feature_ids: int64, output_gradients: float32, output_hessians: float32"
_ROW_LISTS = (
    "partition_ids: num_resource_handles * int32, feature_ids: num_resource_handles * int64, "
    "gradients: num_resource_handles * float32, hessians: num_resource_handles * float32"
)
_ADDED = f"(stats_accumulator_handles, stamp_token, {_ROW_NAMES} | num_resource_handles)"


def _check_rows(shapes, is_scalar):
    """Checks the shapes of partitions, features, gradients and hessians."""
    partitions, features, *sums = shapes
    size = plain.with_rank(partitions, 1)[0]
    plain.with_rank(features, 2)
    for shape in sums:
        shape = plain.with_rank(shape, 1) if is_scalar else plain.with_rank_at_least(shape, 2)
        if shape is not None:
            plain.merged_size(size, shape[0])


def _add_shapes(is_scalar):
    def shapes(context):
        count = context.attrs["num_resource_handles"]
        for i in range(count):
            _check_rows([context.shapes[1 + count * part + i] for part in range(1, 5)], is_scalar)
        return []

    return shapes


def _deserialize_shapes(is_scalar):
    def shapes(context):
        _check_rows(context.shapes[3:7], is_scalar)
        return []

    return shapes


def _sums(is_scalar):
    """The shapes of partitions, features, gradients and hessians that come out."""
    return [(None,), None, (None,), (None,)] if is_scalar else [(None,), None, None, None]


_HANDLES = [(0, "num_resource_handles"), 0]

stats_accumulator_scalar_resource_handle_op = define_handle(
    "StatsAccumulatorScalarResourceHandleOp", "stats_accumulator_scalar_handle"
)
stats_accumulator_scalar_is_initialized = define(
    f"StatsAccumulatorScalarIsInitialized({_HANDLE}) -> (is_initialized: bool)",
    "",
    "stats_accumulator_scalar_exists(stats_accumulator_handle)",
    [None],
    [()],
)
create_stats_accumulator_scalar = define(
    f"CreateStatsAccumulatorScalar({_STAMPED}) -> ()",
    "",
    "create_stats_accumulator_scalar(stats_accumulator_handle, stamp_token)",
    [0, 0],
)
stats_accumulator_scalar_add = define(
    "StatsAccumulatorScalarAdd(stats_accumulator_handles: num_resource_handles * resource, stamp_token: int64, "
    f"{_ROW_LISTS}) -> ()",
    "num_resource_handles: int >= 1",
    f"stats_accumulator_scalar_add{_ADDED}",
    _HANDLES,
    _add_shapes(is_scalar=True),
)
stats_accumulator_scalar_flush = define(
    f"StatsAccumulatorScalarFlush({_STAMPED}, next_stamp_token: int64) -> (num_updates: int64, {_SUMS})",
    "",
    "stats_accumulator_scalar_flush(stats_accumulator_handle, stamp_token, next_stamp_token)",
    [0, 0, 0],
    [(), *_sums(is_scalar=True)],
)
stats_accumulator_scalar_deserialize = define(
    f"StatsAccumulatorScalarDeserialize({_STAMPED}, num_updates: int64, {_ROWS}) -> ()",
    "",
    f"stats_accumulator_scalar_deserialize(stats_accumulator_handle, stamp_token, num_updates, {_ROW_NAMES})",
    [0, 0, 0],
    _deserialize_shapes(is_scalar=True),
)
stats_accumulator_scalar_serialize = define(
    f"StatsAccumulatorScalarSerialize({_HANDLE}) -> (stamp_token: int64, num_updates: int64, {_SUMS})",
    "",
    "stats_accumulator_scalar_serialize(stats_accumulator_handle)",
    [0],
    [(), (), *_sums(is_scalar=True)],
)
stats_accumulator_scalar_make_summary = define(
    f"StatsAccumulatorScalarMakeSummary({_ROWS}) -> ({_SUMS})",
    "",
    f"stats_accumulator_scalar_summary({_ROW_NAMES})",
    [None],
    [None] * 4,
    stateful=False,
)

# ---- Gradients of any shape --------------------------------------------------------------------------------------

stats_accumulator_tensor_resource_handle_op = define_handle(
    "StatsAccumulatorTensorResourceHandleOp", "stats_accumulator_tensor_handle"
)
stats_accumulator_tensor_is_initialized = define(
    f"StatsAccumulatorTensorIsInitialized({_HANDLE}) -> (is_initialized: bool)",
    "",
    "stats_accumulator_tensor_exists(stats_accumulator_handle)",
    [None],
    [()],
)
create_stats_accumulator_tensor = define(
    f"CreateStatsAccumulatorTensor({_STAMPED}, per_slot_gradient_shape: int64, per_slot_hessian_shape: int64) -> ()",
    "",
    "create_stats_accumulator_tensor(stats_accumulator_handle, stamp_token, per_slot_gradient_shape, "
    "per_slot_hessian_shape)",
    [0, 0, 1, 1],
)
stats_accumulator_tensor_add = define(
    "StatsAccumulatorTensorAdd(stats_accumulator_handles: num_resource_handles * resource, stamp_token: int64, "
    f"{_ROW_LISTS}) -> ()",
    "num_resource_handles: int >= 1",
    f"stats_accumulator_tensor_add{_ADDED}",
    _HANDLES,
    _add_shapes(is_scalar=False),
)
stats_accumulator_tensor_flush = define(
    f"StatsAccumulatorTensorFlush({_STAMPED}, next_stamp_token: int64) -> (num_updates: int64, {_SUMS})",
    "",
    "stats_accumulator_tensor_flush(stats_accumulator_handle, stamp_token, next_stamp_token)",
    [0, 0, 0],
    [(), *_sums(is_scalar=False)],
)
stats_accumulator_tensor_deserialize = define(
    f"StatsAccumulatorTensorDeserialize({_STAMPED}, num_updates: int64, {_ROWS}) -> ()",
    "",
    f"stats_accumulator_tensor_deserialize(stats_accumulator_handle, stamp_token, num_updates, {_ROW_NAMES})",
    [0, 0, 0],
    _deserialize_shapes(is_scalar=False),
)
stats_accumulator_tensor_serialize = define(
    f"StatsAccumulatorTensorSerialize({_HANDLE}) -> (stamp_token: int64, num_updates: int64, {_SUMS})",
    "",
    "stats_accumulator_tensor_serialize(stats_accumulator_handle)",
    [0],
    [(), (), *_sums(is_scalar=False)],
)
stats_accumulator_tensor_make_summary = define(
    f"StatsAccumulatorTensorMakeSummary({_ROWS}) -> ({_SUMS})",
    "",
    f"stats_accumulator_tensor_summary({_ROW_NAMES})",
    [None],
    [None] * 4,
    stateful=False,
)
