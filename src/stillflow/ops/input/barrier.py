"""Barrier: elements whose components come one by one, by a key, and that are taken out once they are complete."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.input.handle import HANDLES, shape_of_handle
from stillflow.ops.registry import define_op

barrier = define_op(
    "Barrier() -> (handle: Ref(string))",
    "component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; container: string = ''; "
    "shared_name: string = ''",
    kernel=f"make_barrier(| {HANDLES[1]}, container, shared_name, node_name, component_types, shapes, capacity)",
    state="op",
    stateful=True,
    differentiable=False,
)
barrier_insert_many = define_op(
    "BarrierInsertMany(handle: Ref(string), keys: string, values: T) -> ()",
    "T: type; component_index: int",
    kernel="barrier_insert_many(handle, keys, values | component_index)",
    differentiable=False,
    traits="waits",
)
barrier_take_many = define_op(
    "BarrierTakeMany(handle: Ref(string), num_elements: int32) -> (indices: int64, keys: string, "
    "values: component_types)",
    "component_types: list(type) >= 1; allow_small_batch: bool = false; wait_for_incomplete: bool = false; "
    "timeout_ms: int = -1",
    kernel="barrier_take_many(handle, num_elements | component_types, allow_small_batch, timeout_ms)",
    differentiable=False,
    traits="waits",
)
barrier_close = define_op(
    "BarrierClose(handle: Ref(string)) -> ()",
    "cancel_pending_enqueues: bool = false",
    kernel="barrier_close(handle | cancel_pending_enqueues)",
    differentiable=False,
    traits="waits",
)
barrier_ready_size = define_op(
    "BarrierReadySize(handle: Ref(string)) -> (size: int32)", "", kernel="barrier_ready_size(handle)",
    differentiable=False,
)  # fmt: skip
barrier_incomplete_size = define_op(
    "BarrierIncompleteSize(handle: Ref(string)) -> (size: int32)", "", kernel="barrier_incomplete_size(handle)",
    differentiable=False,
)  # fmt: skip

barrier.shape_rule(shape_of_handle)


@barrier_ready_size.shape_rule
@barrier_incomplete_size.shape_rule
def _(context):
    return ()


@barrier_take_many.shape_rule
def _(context):
    return [None] * (2 + len(context.attrs["component_types"]))


@barrier_insert_many.shape_rule
def _(context):
    keys = plain.with_rank(context.shapes[1], 1)
    values = plain.with_rank_at_least(context.shapes[2], 1)
    if keys is not None and values is not None and None not in (keys[0], values[0]) and keys[0] != values[0]:
        raise ShapeError(f"Dimensions must be equal, but are {keys[0]} and {values[0]}")
    return []
