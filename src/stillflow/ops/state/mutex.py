"""MutexV2, MutexLock, ConsumeMutexLock: parts of graphs that exclude each other."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.input.handle import HANDLES
from stillflow.ops.registry import define_op

mutex_v2 = define_op(
    "MutexV2() -> (resource: resource)",
    "container: string = ''; shared_name: string = ''",
    kernel=f"make_mutex(| {HANDLES[2]}, container, shared_name, node_name)",
    state="op",
    stateful=True,
    differentiable=False,
)
mutex_lock = define_op(
    "MutexLock(mutex: resource) -> (mutex_lock: variant)",
    kernel="mutex_lock(mutex)",
    stateful=True,
    differentiable=False,
    traits="waits",
)
consume_mutex_lock = define_op(
    "ConsumeMutexLock(mutex_lock: variant) -> ()",
    kernel="consume_mutex_lock(mutex_lock)",
    stateful=True,
    differentiable=None,
)


@mutex_v2.shape_rule
@mutex_lock.shape_rule
def _(context):
    return ()


@consume_mutex_lock.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 0)
    return []
