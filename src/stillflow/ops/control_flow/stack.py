"""Stacks: intermediate values that a forward loop pushes and its gradient's loop pops. Each run has its own.

The ops without V2 are those of graphs from before TensorFlow 1.4.
"""

from __future__ import annotations

from stillflow.ops.registry import define_op

stack_v2 = define_op(
    "StackV2(max_size: int32) -> (handle: resource)",
    "elem_type: type; stack_name: string = ''",
    kernel="stack(max_size | elem_type)",
    stateful=True,
    traits="is_unordered",  # a gradient makes it before the loop, when automatic control has seen the loop's end
    differentiable=False,
)
stack_push_v2 = define_op(
    "StackPushV2(handle: resource, elem: T) -> (output: T)",
    "T: type; swap_memory: bool = false",
    kernel="stack_push(handle, elem)",
    stateful=True,
    differentiable=False,
)
stack_pop_v2 = define_op(
    "StackPopV2(handle: resource) -> (elem: elem_type)",
    "elem_type: type",
    kernel="stack_pop(handle | elem_type)",
    stateful=True,
    differentiable=False,
)
stack_close_v2 = define_op(
    "StackCloseV2(handle: resource) -> ()",
    kernel="stack_close(handle)",
    stateful=True,
    differentiable=False,
)
stack_op = define_op(
    "Stack() -> (handle: Ref(string))",
    "elem_type: type; stack_name: string = ''",
    kernel="stack_by_name(| elem_type, stack_name)",
    stateful=True,
    differentiable=False,
)
stack_push = define_op(
    "StackPush(handle: Ref(string), elem: T) -> (output: T)",
    "T: type; swap_memory: bool = false",
    kernel="stack_push(handle, elem)",
    differentiable=False,
)
stack_pop = define_op(
    "StackPop(handle: Ref(string)) -> (elem: elem_type)",
    "elem_type: type",
    kernel="stack_pop(handle | elem_type)",
    differentiable=False,
)
stack_close = define_op("StackClose(handle: Ref(string)) -> ()", kernel="stack_close(handle)", differentiable=False)


@stack_op.shape_rule
@stack_v2.shape_rule
def _(context):
    return (2,)  # as of the handles of old, two strings: TensorFlow has kept that shape


@stack_push.shape_rule
@stack_push_v2.shape_rule
def _(context):
    return context.shapes[1]


@stack_pop.shape_rule
@stack_pop_v2.shape_rule
def _(context):
    return None
