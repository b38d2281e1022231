"""Initial values that depend on other variables: they use those variables' initial values until they have a value."""

from __future__ import annotations

from stillflow.graph.collections import GraphKeys
from stillflow.graph.operation import Operation, Tensor


def guarded(name, tensor: Tensor) -> Tensor:
    """A tensor that is `tensor` with the initialized value of each variable it depends on in the variable's place.

    New nodes are named after the old ones and `name`, that of the variable to be initialized. A tensor that depends
    on no variable, or on itself, comes back as it is.
    """
    if tensor._value is not None:  # computed eagerly, outside of the function that makes the variable
        return tensor
    order = _in_order(tensor._op)
    if order is None or not any(op._op_def.is_variable for op in order):
        return tensor
    replaced: dict = {}  # Operation -> the one in its place
    for op in order:
        replaced[op] = _replacement(name, op, replaced)
    return replaced[tensor.op].outputs[tensor.value_index]


def _in_order(op: Operation):
    """What `op` is computed from and itself, inputs first; None if there is a circle."""
    order: list = []
    state: dict = {}  # Operation -> whether all it is computed from has been gone through
    stack = [op]
    while stack:
        op = stack[-1]
        if op not in state:
            state[op] = False
            before = [] if op._op_def.asks_for_state else [tensor.op for tensor in op._inputs]
            if any(state.get(other) is False for other in before):
                return None
            stack.extend(other for other in reversed(before) if other not in state)
            continue
        stack.pop()
        if not state[op]:
            state[op] = True
            order.append(op)
    return order


def _replacement(name, op, replaced):
    if op._op_def.asks_for_state:
        return op
    if op._op_def.is_variable:
        value = _initialized_value(op)
        return op if value is None else value.op
    inputs = [replaced[tensor.op].outputs[tensor.value_index] for tensor in op._inputs]
    if all(new is old for new, old in zip(inputs, op._inputs, strict=True)):
        return op
    op_type = "Switch" if op.type == "RefSwitch" else op.type
    return op.graph.create_op(op_type, inputs, name=f"{op.name}_{name}".replace(":", "_"), attrs=op._attrs)


def _initialized_value(op):
    names = op.name, f"{op.name}:0"
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in op.graph.get_collection(key):
            if variable.name in names:
                return variable.initialized_value()
    return None


def check_outside_of_branches(initial_value, name):
    """Raises ValueError for an initial value that is computed in a branch or a loop."""
    if initial_value._op._control_flow_context is not None:
        raise ValueError(
            f"Initializer for variable {name} is from inside a control-flow construct, such as a loop or "
            "conditional. When creating a variable inside a loop or conditional, use a lambda as the initializer."
        )
