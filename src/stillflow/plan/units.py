"""units: steps that may be overtaken while a step before them blocks on a queue or a Python function.

Steps run in order. Where one waits for long, the engine overtakes it: it runs what does not depend on it (see
csrc/runtime/executor/lanes.h). Loops are overtaken, and overtake, as a whole.

What uses the same variable, queue or world outside keeps its order even so, that results do not depend on how long
something waits: it comes after what was passed over, though not after what waits itself. If nothing else is left to
do, the engine passes over these dependences, the loose ones, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from stillflow.graph import dtypes
from stillflow.ops.registry import Special
from stillflow.plan.functions import waits

_OUTSIDE = object()  # what Python functions, files and printed lines have in common


@dataclass(slots=True)
class Unit:
    """The nodes [first, end) of a plan. Sets of units that wait are numbers with a bit for each."""

    first: int
    end: int
    is_loop: bool
    waits: bool
    after: int  # what it depends on
    loosely_after: int  # that, and what it comes after because of what both use


@dataclass(frozen=True, slots=True)
class _Before:
    """What has to be done before something."""

    strict: int = 0
    loose: int = 0

    def __or__(self, other):
        return _Before(self.strict | other.strict, self.loose | other.loose)

    def and_unit(self, number):
        return _Before(self.strict | 1 << number, self.loose | 1 << number)


_NOTHING = _Before()


def find_units(plan):
    """The units of a plan, in order, or [] if no node waits that others need not wait for."""
    if not any(map(_may_wait, plan.nodes)):
        return []
    search = _Search(plan)
    for first, end in _ranges(plan.nodes):
        search.add(first, end)
    return _without_needless_waits(search.units)


def _may_wait(node):
    """Whether it may wait: not if it is a part of what its operation does, as the read of a variable."""
    return node.type == node.op.type and waits(node.op, node.attrs)


def numbers_in(units):
    """The numbers in a set of units."""
    return [number for number in range(units.bit_length()) if units >> number & 1]


def _ranges(nodes):
    """(first, end) of single nodes and of outermost loops."""
    first = 0
    while first < len(nodes):
        end = first + 1
        if nodes[first].type == "_LoopEnter":
            loop = nodes[first].attrs["loop"]
            while not (nodes[end].type == "_LoopEnd" and nodes[end].attrs["loop"] is loop):
                end += 1
            end += 1
        yield first, end
        first = end


class _Search:
    """What is known of the nodes up to some place."""

    def __init__(self, plan):
        self.units: list[Unit] = []
        self._nodes = plan.nodes
        self._operations = _Operations(plan.operations)
        self._made: dict = {}  # Value -> _Before of its readers
        self._decided: dict = {}  # Condition -> the same
        self._used: dict = {}  # what several nodes use -> bits of what was passed over
        self._loops = _NOTHING

    def add(self, first, end):
        nodes = self._nodes[first:end]
        before = self._loops
        for node in nodes:
            before |= self._before(node)
        may_wait = any(map(_may_wait, nodes))
        number = self._append(Unit(first, end, end > first + 1, may_wait, before.strict, before.loose))
        after = before.and_unit(number) if may_wait else before
        for node in nodes:
            self._note(node, before, after)
        if end > first + 1:
            self._loops |= after

    def _before(self, node):
        before = _NOTHING
        for op in node.parts:
            before |= self._operations.before(op)
        for value in node.inputs:
            before |= self._made.get(value, _NOTHING)
        for guard in (node.guard, *node.attrs.get("guards", ())):
            for condition in guard:
                before |= self._decided.get(condition, _NOTHING)
        for thing in _used(node):
            before |= _Before(0, self._used.get(thing, 0))
        return before

    def _note(self, node, before, after):
        for op in node.parts:
            self._operations.note(op, after)
        self._made.update(dict.fromkeys(node.outputs, after))
        self._decided.update(dict.fromkeys(node.conditions, after))
        for thing in _used(node):
            self._used[thing] = self._used.get(thing, 0) | before.loose

    def _append(self, unit):
        """The number of the unit, or of the one before if that can be made longer."""
        last = self.units[-1] if self.units else None
        if last is None or last.is_loop or last.waits or unit.is_loop or unit.waits:
            self.units.append(unit)
        elif (last.after, last.loosely_after) == (unit.after, unit.loosely_after):
            last.end = unit.end
        else:
            self.units.append(unit)
        return len(self.units) - 1


class _Operations:
    """What has to be done before and after operations, also those that no node is left of."""

    def __init__(self, operations):
        self._operations = operations
        self._places = {op: place for place, op in enumerate(operations)}
        self._next = 0
        self._before: dict = {}
        self._after: dict = {}

    def before(self, op):
        place = self._places.get(op, -1)
        for passed in self._operations[self._next : place + 1]:
            found = _NOTHING
            for tensor in passed._inputs:
                found |= self._after.get(tensor._op, _NOTHING)
            for control in passed._control_inputs:
                found |= self._after.get(control, _NOTHING)
            self._before[passed] = self._after[passed] = found
        self._next = max(self._next, place + 1)
        return self._before.get(op, _NOTHING)

    def note(self, op, after):
        self._after[op] = self._after.get(op, _NOTHING) | after


def _used(node):
    """What a node uses that others may change: variables, queues and other resources, the world outside."""
    if isinstance(node.lowering, Special):
        return []
    found = [value for value in node.inputs if value.is_reference or _is_handle(value)]
    if not found and not node.is_pure and getattr(node.lowering, "state", None) != "random":
        found = [_OUTSIDE]
    return found


def _is_handle(value):
    return value.dtype is dtypes.resource or (value.source is not None and value.source._dtype._is_ref_dtype)


def _without_needless_waits(units):
    """The units, where only those wait that a later one need not wait for."""
    overtaken = 0
    for number, unit in enumerate(units):
        overtaken |= ~unit.after & (1 << number) - 1
    waiting = sum(1 << number for number, unit in enumerate(units) if unit.waits) & overtaken
    if not waiting:
        return []
    for number, unit in enumerate(units):
        unit.waits = bool(waiting >> number & 1)
        unit.after &= waiting
        unit.loosely_after &= waiting & ~unit.after
    return units
