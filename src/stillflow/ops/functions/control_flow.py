"""If, Case, While and For: branches and loops whose bodies are functions."""

from __future__ import annotations

from stillflow.ops.registry import define_op

_IF_ATTRS = (
    "Tcond: type; Tin: list(type) >= 0; Tout: list(type) >= 0; then_branch: func; else_branch: func; "
    "output_shapes: list(shape) = []"
)
_IF_KERNEL = "call_branch(cond, input | then_branch(input), else_branch(input), Tout)"
_WHILE_ATTRS = (
    "T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; parallel_iterations: int = 10"
)
_WHILE_KERNEL = "call_loop(input | cond(input*), body(input*), T)"

if_op = define_op(
    "If(cond: Tcond, input: Tin) -> (output: Tout)",
    _IF_ATTRS,
    kernel=_IF_KERNEL,
    state="op",
    stateful=True,
    traits="asks_for_state waits",
)
stateless_if = define_op(
    "StatelessIf(cond: Tcond, input: Tin) -> (output: Tout)",
    _IF_ATTRS,
    kernel=_IF_KERNEL,
    state="op",
    traits="waits",
)
case_op = define_op(
    "Case(branch_index: int32, input: Tin) -> (output: Tout)",
    "Tin: list(type) >= 0; Tout: list(type) >= 0; branches: list(func) >= 1; output_shapes: list(shape) = []",
    kernel="call_case(branch_index, input | Tout, branches(input))",
    state="op",
    stateful=True,
    traits="asks_for_state waits",
)
while_op = define_op(
    "While(input: T) -> (output: T)",
    _WHILE_ATTRS,
    kernel=_WHILE_KERNEL,
    state="op",
    stateful=True,
    traits="waits",
)
stateless_while = define_op(
    "StatelessWhile(input: T) -> (output: T)",
    _WHILE_ATTRS,
    kernel=_WHILE_KERNEL,
    state="op",
    traits="waits",
)
for_op = define_op(
    "For(start: int32, limit: int32, delta: int32, input: T) -> (output: T)",
    "T: list(type) >= 0; body: func",
    kernel="call_counted_loop(start, limit, delta, input | body(input*), T)",
    state="op",
    differentiable=None,
    traits="waits",
)


@if_op.shape_rule
@stateless_if.shape_rule
@case_op.shape_rule
@while_op.shape_rule
@stateless_while.shape_rule
def _(context):
    shapes = context.attrs["output_shapes"]
    return [shape._dims for shape in shapes] if shapes else [None] * context.output_count()


@for_op.shape_rule
def _(context):
    return [None] * context.output_count()


@if_op.gradient
@stateless_if.gradient
def _(op, *grads):
    return op._graph.find_function(op._attrs["then_branch"].name).gradients_of_branches(op, grads)


@case_op.gradient
def _(op, *grads):
    return op._graph.find_function(op._attrs["branches"][0].name).gradients_of_branches(op, grads)


@while_op.gradient
@stateless_while.gradient
def _gradients_of_loop(op, *grads):
    return op._graph.find_function(op._attrs["body"].name).gradients_of_loop(op, grads)


# A result that nothing depends on needs no zeros.
_gradients_of_loop.takes_none = True
