"""watch: nodes that show what tensors hold, for a debugger, beside what a plan computes.

They are put in where the operations are lifted: a tensor is shown each time that its operation has run, in every
round of a loop and in the branches that are taken, before anything changes it. A plan without a watch has none of
them.
"""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.ops.registry import Kernel
from stillflow.plan.branches import decide, guard_of_operation, guard_of_tensor
from stillflow.plan.guards import both_ways, joined
from stillflow.plan.ir import Node, Plan, Value
from stillflow.plan.reads import read

_SHOW = Kernel("host_call", ("input",), ("token", "Tout"))
_ASK = Kernel("is_initialized", ("ref",), ())


def is_watched(plan: Plan, tensor):
    """Whether somebody wants to see a tensor that is computed."""
    return plan.watch is not None and tensor not in plan.fed and plan.watch.watches(tensor)


def show_outputs(plan: Plan, op, order, is_in_round=False):
    """Adds nodes that show the watched outputs of an operation that has just been lifted.

    What enters a loop is shown there and then; but what is the same in every round, in every one: `is_in_round`.

    `plan.watch.token(tensor, is_handle)` is the token of a Python function (see stillflow.host.py_functions). It is
    called with the value; without one for handles, and for variables that have none yet.
    """
    if plan.watch is None:
        return
    for tensor in op._outputs:
        if is_watched(plan, tensor) and is_in_round == _is_same_in_all_rounds(op):
            # What leaves a loop is shown where the loop has ended, which is its input's guard.
            is_exit = op._op_def.special == "exit"
            guard = guard_of_operation(plan, op) if is_exit else guard_of_tensor(plan, tensor)
            _show(plan, op, tensor, plan.values[tensor], order, guard)


def _is_same_in_all_rounds(op):
    return op._op_def.special == "enter" and op._attrs["is_constant"]


def _show(plan, op, tensor, value, order, guard):
    dtype = tensor._dtype
    is_handle = dtype in (dtypes.resource, dtypes.variant) or (dtype._is_ref_dtype and not value.is_reference)
    token = plan.watch.token(tensor, is_handle).encode()
    if is_handle:
        _add(plan, op, [], order, guard, token)
    elif value.is_reference:
        _show_variable(plan, op, value, order, guard, token)
    else:
        _add(plan, op, [value], order, guard, token)


def _show_variable(plan, op, variable, order, guard, token):
    """Shows a variable, which may have no value yet."""
    ask = Node(op, "_IsInitialized", _ASK, [variable], {}, (order, 2), is_pure=False)
    ask.guard = guard
    answer = Value(dtypes.bool_, (), ask)
    ask.outputs = [answer]
    plan.nodes.append(ask)
    plan.is_guarded = True
    without, with_value = conditions = both_ways(guard, predicate=answer)
    decide(plan, op, answer, (order, 2), guard, conditions)
    way = joined([guard, frozenset({with_value})])
    _add(plan, op, [read(plan, op, variable, order, way)], order, way, token)
    _add(plan, op, [], order, joined([guard, frozenset({without})]), token)


def _add(plan, op, values, order, guard, token):
    node = Node(op, "_Show", _SHOW, values, {"token": token, "Tout": ()}, (order, 3), is_pure=False)
    node.guard = guard
    plan.nodes.append(node)
