"""Branches: what Switch and Merge are in a plan.

A Switch computes nothing: its outputs are its input, under conditions that a `branch` node decides. What reads them
is guarded by these conditions, and so is all that depends on it, up to a Merge. There is one `branch` node for all
Switches of one predicate.
"""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes
from stillflow.ops.registry import Alias, Special
from stillflow.plan.guards import ALWAYS, Condition, alternatives, both_ways, common, joined, known_outcome
from stillflow.plan.infer import infer
from stillflow.plan.ir import Node, Plan, Value, constant_of
from stillflow.plan.reads import read

_BRANCH = Special("branch")


def guard_of_tensor(plan: Plan, tensor):
    """The guard under which a tensor has a value; what is fed always has."""
    if not plan.guards or tensor in plan.fed:
        return ALWAYS
    found = plan.guards.get(tensor)
    return plan.guards.get(tensor._op, ALWAYS) if found is None else found


def guard_of_operation(plan: Plan, op):
    """The guard under which an operation runs: nothing that it waits for may be missing."""
    if not plan.guards:
        return ALWAYS
    before = [guard_of_tensor(plan, tensor) for tensor in op._inputs]
    return joined(before + [plan.guards.get(control, ALWAYS) for control in op._control_inputs])


def lift_switch(plan: Plan, op, order):
    """Makes the outputs of a Switch its input, each under its condition."""
    plan.is_guarded = True
    data = plan.values[op._inputs[0]]
    guard = guard_of_operation(plan, op)
    predicate = _predicate(plan, op)
    known = None if op._inputs[1]._op in plan.loop_ways else known_outcome(guard, predicate)
    if known is None:
        ways = [frozenset({condition}) for condition in _conditions(plan, op, order, guard, predicate)]
    else:  # inside of a branch of the same predicate
        ways = [ALWAYS if condition is known else frozenset({condition}) for condition in known.ways]
    for tensor, way in zip(op._outputs, ways, strict=True):
        if tensor not in plan.fed:
            plan.values[tensor] = data
            plan.guards[tensor] = joined([guard, way])
    if guard:
        plan.guards[op] = guard


def _predicate(plan, op):
    """The value that decides a Switch."""
    predicate = plan.values[op._inputs[1]]
    while predicate.producer is not None and isinstance(predicate.producer.lowering, Alias):
        predicate = predicate.producer.inputs[predicate.producer.lowering.input]
    return predicate


def _conditions(plan, op, order, guard, predicate):
    """The conditions of a Switch's outputs; all Switches of a tf.cond have the same.

    A variable that is a predicate is read once for each tf.cond, unless nothing has changed it in between. A new
    tf.cond is known by a Switch of the predicate itself, or by a predicate tensor of its own.
    """
    ways = plan.loop_ways.get(op._inputs[1]._op)
    if ways is not None:
        return ways
    changes = plan.changes.get(predicate, 0)
    found = plan.branches.get((predicate, guard))
    if found is not None:
        conditions, changes_before, tensors = found
        is_known = op._inputs[1] in tensors and plan.values[op._inputs[0]] is not predicate
        if is_known or changes == changes_before:
            tensors.add(op._inputs[1])
            return conditions
    conditions = both_ways(guard, predicate=None if predicate.is_reference else predicate)
    plan.branches[predicate, guard] = conditions, changes, {op._inputs[1]}
    value = read(plan, op, predicate, order, guard) if predicate.is_reference else predicate
    decide(plan, op, value, (order, 1), guard, conditions)
    return conditions


def decide(plan: Plan, op, predicate, position, guard, conditions):
    """Adds the node that decides two conditions, the ways that a predicate may go."""
    node = Node(op, "_Branch", _BRANCH, [predicate], {}, position, is_pure=True)
    node.conditions = conditions
    node.guard = guard
    plan.nodes.append(node)


def lift_merge(plan: Plan, op, order):
    """Makes a node that takes whichever input is there. Its guard is that of any of them."""
    plan.is_guarded = True
    values = [plan.values[tensor] for tensor in op._inputs]
    guards = tuple(guard_of_tensor(plan, tensor) for tensor in op._inputs)
    guard = alternatives(guards)
    conditions: tuple = ()
    if guard is None:
        conditions = (Condition(common(guards)),)
        guard = frozenset(conditions)
    output, index = op._outputs
    hands_on_reference = _is_reference_type(output._dtype) and all(value is values[0] for value in values)
    for i, value in enumerate(values):
        if value.is_reference and not hands_on_reference:
            values[i] = read(plan, op, value, order, guards[i])
    node = Node(op, op.type, op._op_def.lowering, values, {**op._attrs, "guards": guards}, (order, 1), is_pure=True)
    node.conditions = conditions
    node.guard = ALWAYS if conditions else guard  # it decides itself whether it has a value
    node.outputs = [Value(tensor._dtype.base_dtype, tensor._dims, node, tensor) for tensor in op._outputs]
    infer(node)
    found = [values[0] if hands_on_reference else node.outputs[0], node.outputs[1]]
    for tensor, value in zip((output, index), found, strict=True):
        if tensor not in plan.fed:
            plan.values[tensor] = value
    if guard:
        plan.guards[op] = guard
    plan.nodes.append(node)


def _is_reference_type(dtype):
    return dtype._is_ref_dtype or dtype is dtypes.resource


def settle(plan: Plan):
    """Decides the branches whose predicates are known. Returns whether there were any.

    Nodes of branches that are not taken go; a Merge of which one input is left goes too.
    """
    settling = _Settling(plan)
    known_before = len(plan.holding)
    plan.nodes = [node for node in plan.nodes if settling.keeps(node)]
    if len(plan.holding) == known_before:
        return False
    plan.fetch_guards = [settling.resolved(guard) for guard in plan.fetch_guards]
    plan.replace(settling.replacements)
    for i, guard in enumerate(plan.fetch_guards):
        if settling.is_dead(guard):  # no node is left to compute it; the run fails, and says why
            plan.fetch_values[i] = _anything(plan.fetch_values[i].dtype)
    return True


class _Settling:
    """What is known of conditions, from the first node to the last."""

    def __init__(self, plan):
        # Of earlier calls as well: an inner condition still says that it lies within one that is settled.
        self.holding = plan.holding
        self.failing = plan.failing
        self.replacements = {}  # Value -> Value

    def resolved(self, guard):
        """The guard without what is known to hold."""
        for condition in guard:
            if condition.is_placed:
                condition.within = self.resolved(condition.within)
        if self.holding.isdisjoint(guard):
            return guard
        return joined([self.resolved(c.within) if c in self.holding else frozenset({c}) for c in guard])

    def is_dead(self, guard):
        return any(c in self.failing or not self.failing.isdisjoint(c.implied) for c in guard)

    def keeps(self, node):
        if not self.holding and node.type != "_Branch":
            return True
        node.guard = self.resolved(node.guard)
        if self.is_dead(node.guard):
            self.failing.update(node.conditions)
            return False
        if node.type == "_Branch":
            predicate = node.inputs[0].constant
            if predicate is None or predicate.ndim:
                return True
            taken = node.conditions[int(predicate)]
            self.holding.add(taken)
            self.failing.add(taken.opposite)
            return False
        return not _is_merge(node) or self._keeps_merge(node)

    def _keeps_merge(self, node):
        guards = [self.resolved(guard) for guard in node.attrs["guards"]]
        left = [i for i, guard in enumerate(guards) if not self.is_dead(guard)]
        if not left:
            self.failing.update(node.conditions)
            return False
        (first, *others) = left
        if not others and not (node.conditions and guards[first]):
            self.holding.update(node.conditions)
            self.replacements[node.outputs[0]] = node.inputs[first]
            node.outputs[1].constant = np.array(first, np.int32)
            node.outputs[1].producer = None
            return False
        node.attrs = {**node.attrs, "guards": tuple(guards)}
        node.inputs = [value if i in left else node.inputs[first] for i, value in enumerate(node.inputs)]
        return True


def _is_merge(node):
    return isinstance(node.lowering, Special) and node.lowering.kind == "merge"


def _anything(dtype):
    value = b"" if dtype is dtypes.string else np.zeros((), dtype.as_numpy_dtype)
    return constant_of(np.asarray(value, object if dtype is dtypes.string else None), dtype)


def conditional_operations(operations):
    """Those of the operations, given in order, that may not run just once: in branches and in loops."""
    in_branches: set = set()
    in_loops: set = set()
    for op in operations:
        kind = op._op_def.special
        before = [tensor._op for tensor in op._inputs] + op._control_inputs
        if kind == "switch" or (kind != "merge" and not in_branches.isdisjoint(before)):
            in_branches.add(op)
        if kind == "enter" or (kind != "exit" and not in_loops.isdisjoint(before)):
            in_loops.add(op)
        if kind == "exit":
            in_branches.discard(op)
    return in_branches | in_loops
