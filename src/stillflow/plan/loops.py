"""Loops: what the nodes of a frame (Enter, Merge, LoopCond, Switch, NextIteration, Exit) are in a plan.

A loop is a run of nodes that lie together, between the nodes

    _LoopEnter   gives the loop's variables their first values
    ...          what is computed in every round, from the variables
    _LoopTest    goes to the end if the predicate is false
    ...          what is computed only if there is another round
    _LoopNext    gives the variables their next values, and goes back
    _LoopEnd
    ...          what is computed from the last values, within the frame

Being in a loop, and before or after its test, are conditions of a guard that the place of a node decides.
"""

from __future__ import annotations

import heapq

import numpy as np

from stillflow import errors
from stillflow.graph import dtypes
from stillflow.graph.operation import Operation
from stillflow.ops.control_flow.kinds import is_back_edge
from stillflow.ops.registry import Special
from stillflow.plan.branches import guard_of_operation, guard_of_tensor
from stillflow.plan.guards import ALWAYS, Condition, both_ways, implies, joined
from stillflow.plan.infer import known_in_both
from stillflow.plan.ir import Node, Plan, Value, constant_of
from stillflow.plan.late_waits import LateWaits
from stillflow.plan.reads import read
from stillflow.plan.watch import is_watched, show_outputs

_ENTER, _TEST, _NEXT, _END = (Special(kind) for kind in ("loop_enter", "loop_test", "loop_next", "loop_end"))


class Loop:
    """The operations of one frame in the order in which they run; loops among them are Loops."""

    __slots__ = ("enters", "items", "merges", "name", "region", "test", "ways")

    def __init__(self, name):
        self.name = name
        self.enters: list = []
        self.merges: list = []  # of first and next values
        self.items: list = []
        self.test = None  # the LoopCond operation
        self.region = None  # Condition: being in the loop
        self.ways: tuple = ()  # Conditions: the predicate is false, is true


# ---- From operations to loops ---------------------------------------------------------------------------------


def nested(operations, fed):
    """Operations and Loops in the order in which they run. `operations` are in order but for what lies in loops."""
    frames = _frames(operations, fed)
    late = LateWaits(operations, frames)
    if late.operations:
        operations = [op for op in operations if op not in late.operations]
        frames = {op: frames[op] for op in operations}
    loops: dict = {(): Loop("")}
    members: dict = {}  # frame -> {operation or Loop that lies in it: its place in the order of creation}
    for op in operations:
        frame = frames[op]
        for depth in range(1, len(frame) + 1):
            inner = frame[:depth]
            if inner not in loops:
                loops[inner] = Loop(inner[-1])
            items = members.setdefault(inner[:-1], {})
            items[loops[inner]] = min(items.get(loops[inner], op._id), op._id)
        members.setdefault(frame, {})[op] = op._id
        _note_role(op, loops[frame], loops, frame)
    waits = _dependences(operations, fed, frames, loops, late)
    if loops[()].merges:
        raise _unsupported(loops[()].merges[0], "a loop outside of a frame")
    for frame, items in members.items():
        loops[frame].items = _sorted(items, waits)
    return loops[()].items


def _note_role(op, loop, loops, frame):
    kind = op._op_def.special
    if kind == "enter":
        inner = (*frame, op._attrs["frame_name"])
        if inner in loops:
            loops[inner].enters.append(op)
        else:
            loops[inner] = Loop(inner[-1])
            loops[inner].enters.append(op)
    elif kind == "loop_cond":
        if loop.test is not None:
            raise _unsupported(op, "a frame with two LoopConds")
        loop.test = op
    elif kind == "merge" and any(is_back_edge(op, tensor) for tensor in op._inputs):
        loop.merges.append(op)


def _frames(operations, fed):
    """{operation: the frame it runs in}, a tuple of names. Raises InvalidArgumentError for inputs of several."""
    found: dict = {}

    def output_frame(op):
        frame = found[op]
        kind = op._op_def.special
        if kind == "enter":
            return (*frame, op._attrs["frame_name"])
        return frame[:-1] if kind == "exit" else frame

    for op in operations:
        sources = [
            (tensor._op, () if tensor in fed else output_frame(tensor._op))
            for tensor in op._inputs
            if not is_back_edge(op, tensor)
        ]
        sources += [(control, output_frame(control)) for control in op._control_inputs if control in found]
        found[op] = max((frame for _, frame in sources), key=len, default=())
        for source, frame in sources:
            if frame != found[op]:
                raise errors.make(
                    errors.INVALID_ARGUMENT,
                    f"{{{{node {op.name}}}}} has inputs from different frames. The input {{{{node {source.name}}}}} "
                    f"is in frame '{_text(frame)}', another one in frame '{_text(found[op])}'.",
                    op,
                )
    return found


def _text(frame):
    return frame[-1].decode("utf-8", "replace") if frame else ""


def _dependences(operations, fed, frames, loops, late):
    """{operation or Loop: those in the same frame that it waits for}."""
    waits: dict = {}
    for op in operations:
        before = [t._op for t in op._inputs if t not in fed and not is_back_edge(op, t)]
        for source in [*before, *late.controls_of(op)]:
            if source not in frames:
                continue
            a, b = frames[source], frames[op]
            depth = 0
            while depth < min(len(a), len(b)) and a[depth] == b[depth]:
                depth += 1
            first = source if len(a) == depth else loops[a[: depth + 1]]
            second = op if len(b) == depth else loops[b[: depth + 1]]
            if first is not second:
                waits.setdefault(second, set()).add(first)
    return waits


def _sorted(items, waits):
    """The items, each after what it waits for, and otherwise in the order of creation."""
    followers: dict = {}
    left = {}
    for item in items:
        before = waits.get(item, ())
        left[item] = len(before)
        for other in before:
            followers.setdefault(other, []).append(item)
    ready = [(place, item) for item, place in items.items() if left[item] == 0]
    heap = [(place, index) for index, (place, _) in enumerate(ready)]
    queue = [item for _, item in ready]
    heapq.heapify(heap)
    ordered = []
    while heap:
        item = queue[heapq.heappop(heap)[1]]
        ordered.append(item)
        for follower in followers.get(item, ()):
            left[follower] -= 1
            if left[follower] == 0:
                queue.append(follower)
                heapq.heappush(heap, (items[follower], len(queue) - 1))
    if len(ordered) < len(items):
        stuck = next(item for item in items if left[item] > 0)
        op = stuck if isinstance(stuck, Operation) else stuck.enters[0]
        message = f"Graph is invalid, contains a cycle with {len(items) - len(ordered)} nodes"
        raise errors.make(errors.INVALID_ARGUMENT, message, op)
    return ordered


# ---- From a loop to nodes -------------------------------------------------------------------------------------


def lift_enter(plan: Plan, op, order):
    """What enters a loop is the same inside; the loop says when."""
    _hand_on(plan, op, guard_of_operation(plan, op))


lift_next_iteration = lift_enter


def lift_loop_cond(plan: Plan, op, order):
    _hand_on(plan, op, guard_of_operation(plan, op))


def lift_control_trigger(plan: Plan, op, order):
    """It waits for others, whether they run or not; in a loop, the loop says when."""


def lift_exit(plan: Plan, op, order):
    """What leaves a loop is the same outside, wherever the loop has run."""
    if op not in plan.ways_of_exits:
        raise errors.make(errors.INVALID_ARGUMENT, f"{op.type} outside of a loop", op)
    region, ends = plan.ways_of_exits[op]
    if guard_of_operation(plan, op) not in ends:
        raise _unsupported(op, "an Exit that does not wait for the loop's end")
    _hand_on(plan, op, region.within)


def _hand_on(plan, op, guard):
    (tensor,) = op._outputs
    if tensor not in plan.fed:
        plan.values[tensor] = plan.values[op._inputs[0]]
    plan.guards[op] = guard


def lift_loop(plan: Plan, loop: Loop, orders, lift_item):
    """Adds the nodes of a loop. `lift_item(item)` adds those of an item.

    The shapes of the variables are at first those of their first values, and then what these have in common with
    those of the next values, until nothing changes.
    """
    plan.is_guarded = True
    outer = joined([plan.guards.get(op, ALWAYS) for op in loop.enters])
    if loop.merges and loop.test is None:
        raise _unsupported(loop.merges[0], "a loop without a LoopCond")
    order = orders[loop.merges[0]] if loop.merges else 0
    firsts = [_first_value(plan, op, order, outer) for op in loop.merges]
    dims = [first.dims for first in firsts]
    start = len(plan.nodes)
    while True:
        lifting = _Lifting(plan, loop, outer)
        lifting.run(firsts, dims, orders, lift_item, start)
        wider = [
            known_in_both(_in_common(known, value.dims), op._outputs[0]._dims)
            for known, value, op in zip(dims, lifting.next_values, loop.merges, strict=True)
        ]
        if wider == dims:
            return
        dims = wider
        del plan.nodes[start:]


def _first_value(plan, merge, order, guard):
    """The value with which a variable begins."""
    (tensor,) = (tensor for tensor in merge._inputs if not is_back_edge(merge, tensor))
    value = plan.values[tensor]
    if value.is_reference and not merge._outputs[0]._dtype._is_ref_dtype:
        value = read(plan, merge, value, order, guard)
    return value


def _in_common(a, b):
    """The shape that is known of both of two values."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


class _Lifting:
    """One attempt at a loop, for given shapes of its variables."""

    def __init__(self, plan, loop, outer):
        self.plan = plan
        self.loop = loop
        self.region = Condition(outer, is_placed=True)
        self.inside = frozenset({self.region})
        self.ways = both_ways(self.inside, is_placed=True)
        self.next_values: list = []

    def run(self, firsts, dims, orders, lift_item, start):
        plan, loop = self.plan, self.loop
        for op in loop.enters:
            plan.guards[op._outputs[0]] = self.inside
            show_outputs(plan, op, orders[op], is_in_round=True)
        if loop.test is not None:
            plan.loop_ways[loop.test] = self.ways
        variables = self._variables(firsts, dims)
        merges = set(loop.merges)
        for item in loop.items:
            if kind_of_item(item) == "exit":
                ends = {frozenset({self.ways[0]})} if loop.merges else {self.inside}
                plan.ways_of_exits[item] = self.region, ends
            if kind_of_item(item) == "control_trigger":
                plan.guards[item] = self.inside
            if item in merges:
                show_outputs(plan, item, orders[item])
            else:
                lift_item(item)
        if loop.merges:
            self._put_together(variables, firsts, orders, start)

    def _variables(self, firsts, dims):
        plan = self.plan
        variables = []
        for op, first, known in zip(self.loop.merges, firsts, dims, strict=True):
            tensor = op._outputs[0]
            variable = first
            if not first.is_reference:
                variable = Value(tensor._dtype.base_dtype, known, None, tensor)
            variables.append(variable)
            if tensor not in plan.fed:
                plan.values[tensor] = variable
            plan.guards[op] = self.inside
            index = Value(dtypes.int32, (), None, op._outputs[1])
            plan.values.setdefault(op._outputs[1], index)
        return variables

    def _next_values(self, variables, order, goes_on):
        """The values that the variables have in the next round."""
        plan = self.plan
        nexts = []
        for op, variable in zip(self.loop.merges, variables, strict=True):
            (tensor,) = (tensor for tensor in op._inputs if is_back_edge(op, tensor))
            if guard_of_tensor(plan, tensor) != goes_on:
                raise _unsupported(op, "a NextIteration that does not wait for the loop's test")
            value = plan.values[tensor]
            if value.is_reference and value is not variable:
                value = read(plan, op, value, order, goes_on)
            nexts.append(value)
        return nexts

    def _carried(self, variables, firsts):
        """(variables, first values, next values) of what is carried from round to round.

        References are not: they stay what they are. Which input a Merge has taken is, where that is asked for.
        """
        plan, loop = self.plan, self.loop
        carried = []
        for variable, first, following in zip(variables, firsts, self.next_values, strict=True):
            if not variable.is_reference:
                carried.append((variable, first, following))
            elif following is not variable:
                raise _unsupported(loop.merges[0], "a variable's reference that changes from round to round")
        for op in loop.merges:
            tensor = op._outputs[1]
            if tensor._consumers or is_watched(plan, tensor):
                index_of_first, index_of_next = (constant_of(np.array(index, np.int32)) for index in (0, 1))
                carried.append((plan.values[tensor], index_of_first, index_of_next))
        return tuple([row[i] for row in carried] for i in range(3))

    def _put_together(self, variables, firsts, orders, start):
        """Brings the nodes of the loop into their places, among those that make it one."""
        plan, loop = self.plan, self.loop
        order = orders[loop.merges[0]]
        is_over, goes_on = (frozenset({way}) for way in self.ways)
        self.next_values = self._next_values(variables, order, goes_on)
        body = plan.nodes[start:]
        del plan.nodes[start:]
        variables, firsts, nexts = self._carried(variables, firsts)
        attrs = {"loop": object(), "variables": tuple(variables)}

        def node(name, lowering, inputs, guard):
            made = Node(loop.merges[0], name, lowering, inputs, attrs, (order, 1), is_pure=False)
            made.guard = guard
            return made

        enter = node("_LoopEnter", _ENTER, firsts, self.region.within)
        enter.outputs = list(variables)
        for variable in variables:
            variable.producer = enter
        predicate = plan.values[loop.test._inputs[0]]
        if predicate.is_reference:
            predicate = read(plan, loop.test, predicate, orders[loop.test], self.inside)
            body.append(plan.nodes.pop())
        test = node("_LoopTest", _TEST, [predicate], self.inside)
        test.op, test.parts = loop.test, [loop.test]
        plan.nodes.append(enter)
        plan.nodes += [n for n in body if not implies(n.guard, goes_on) and not implies(n.guard, is_over)]
        plan.nodes.append(test)
        plan.nodes += [n for n in body if implies(n.guard, goes_on)]
        plan.nodes.append(node("_LoopNext", _NEXT, nexts, goes_on))
        plan.nodes.append(node("_LoopEnd", _END, [], self.region.within))
        plan.nodes += [n for n in body if implies(n.guard, is_over)]


def kind_of_item(item):
    return item._op_def.special if isinstance(item, Operation) else None


def _unsupported(op, what):
    return errors.make(errors.UNIMPLEMENTED, f"{what} cannot be run", op)
