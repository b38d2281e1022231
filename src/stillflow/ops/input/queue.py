"""Queues: the node that stands for one, and the ops that put in, take out and close.

Every op comes twice, as in TensorFlow: with a handle that is a reference to two strings, and with a resource.
"""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.input.handle import HANDLES, shape_of_handle, versions
from stillflow.ops.registry import define_op


def _queue(name, kind, types=">= 1", shapes=">= 0 = []", extra="", extra_values="0, 0, 0"):
    def define(handle, suffix, version):
        op = define_op(
            f"{name}{suffix}() -> (handle: {handle})",
            f"component_types: list(type) {types}; shapes: list(shape) {shapes}; capacity: int = -1; {extra}"
            "container: string = ''; shared_name: string = ''",
            kernel=f"make_queue(| {HANDLES[version]}, container, shared_name, node_name, '{kind}', component_types, "
            f"shapes, capacity, {extra_values})",
            state="op",
            stateful=True,
            differentiable=False,
        )
        op.shape_rule(shape_of_handle)
        return op

    return versions(define)


fifo_queue_v2, fifo_queue = _queue("FIFOQueue", "fifo")
padding_fifo_queue_v2, padding_fifo_queue = _queue("PaddingFIFOQueue", "padding_fifo")
random_shuffle_queue_v2, random_shuffle_queue = _queue(
    "RandomShuffleQueue",
    "random_shuffle",
    extra="min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; ",
    extra_values="min_after_dequeue, seed, seed2",
)
priority_queue_v2, priority_queue = _queue("PriorityQueue", "priority", ">= 0 = []", ">= 0")


# ---- Elements -----------------------------------------------------------------------------------------------


def _enqueue(name, kernel):
    return versions(
        lambda handle, suffix, version: define_op(
            f"{name}{suffix}(handle: {handle}, components: Tcomponents) -> ()",
            "Tcomponents: list(type) >= 1; timeout_ms: int = -1",
            kernel=f"{kernel}(handle, components | timeout_ms)",
            stateful=version == 2,
            differentiable=False,
            traits="waits",
        )
    )


queue_enqueue_v2, queue_enqueue = _enqueue("QueueEnqueue", "queue_enqueue")
queue_enqueue_many_v2, queue_enqueue_many = _enqueue("QueueEnqueueMany", "queue_enqueue_many")


def _unknown(context):
    """A handle says nothing of the components; tf.QueueBase sets their shapes."""
    return [None] * context.output_count()


def _check_count(context):
    plain.with_rank(context.shapes[1], 0)
    count = context.value(1)
    if count is not None and count < 0:
        raise ShapeError(f"Input 'n' must be >= 0, but is {count}")
    return _unknown(context)


def _define_dequeue(handle, suffix, version):
    op = define_op(
        f"QueueDequeue{suffix}(handle: {handle}) -> (components: component_types)",
        "component_types: list(type) >= 1; timeout_ms: int = -1",
        kernel="queue_dequeue(handle | component_types, timeout_ms)",
        stateful=version == 2,
        differentiable=False,
        traits="waits",
    )

    op.shape_rule(_unknown)
    return op


queue_dequeue_v2, queue_dequeue = versions(_define_dequeue)


def _dequeue_many(name, allows_fewer):
    def define(handle, suffix, version):
        op = define_op(
            f"{name}{suffix}(handle: {handle}, n: int32) -> (components: component_types)",
            "component_types: list(type) >= 1; timeout_ms: int = -1",
            kernel=f"queue_dequeue_many(handle, n | component_types, timeout_ms, {str(allows_fewer).lower()})",
            stateful=version == 2,
            differentiable=False,
            traits="waits",
        )

        op.shape_rule(_unknown if allows_fewer else _check_count)
        return op

    return versions(define)


queue_dequeue_many_v2, queue_dequeue_many = _dequeue_many("QueueDequeueMany", False)
queue_dequeue_up_to_v2, queue_dequeue_up_to = _dequeue_many("QueueDequeueUpTo", True)


# ---- The queue as a whole -----------------------------------------------------------------------------------


def _scalar(op):
    @op.shape_rule
    def _(context):
        return ()

    return op


queue_close_v2, queue_close = versions(
    lambda handle, suffix, version: define_op(
        f"QueueClose{suffix}(handle: {handle}) -> ()",
        "cancel_pending_enqueues: bool = false",
        kernel="queue_close(handle | cancel_pending_enqueues)",
        stateful=version == 2,
        differentiable=False,
        traits="waits",
    )
)
queue_is_closed_v2, queue_is_closed = versions(
    lambda handle, suffix, version: _scalar(
        define_op(
            f"QueueIsClosed{suffix}(handle: {handle}) -> (is_closed: bool)",
            kernel="queue_is_closed(handle)",
            stateful=version == 2,
            differentiable=False,
        )
    )
)
queue_size_v2, queue_size = versions(
    lambda handle, suffix, version: _scalar(
        define_op(
            f"QueueSize{suffix}(handle: {handle}) -> (size: int32)",
            kernel="queue_size(handle)",
            stateful=version == 2,
            differentiable=False,
        )
    )
)
