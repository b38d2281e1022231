"""Where operations are among the branches of a graph: under which outcomes of which predicates they run.

This is told by what an operation needs, not by the context that it was added in: gradients of branches are added
outside of them.
"""

from __future__ import annotations

EVERYWHERE: frozenset = frozenset()


class BranchPlaces:
    """The places of the operations that a graph got from a version of it on.

    A place is a set of (predicate, outcome); outside of all branches it is empty, and so it is for older operations.
    """

    def __init__(self, first):
        self._first = first  # the id of the first operation
        self._places: dict = {}  # operation -> its place
        self._switches: dict = {}  # predicate -> the first Switch of it

    def of(self, op):
        waiting = [op]
        while waiting:
            last = waiting[-1]
            if last in self._places:
                waiting.pop()
                continue
            # An operation may be older than the Switches that lead to it.
            missing = [other for other in self._needed(last) if other not in self._places]
            waiting.extend(missing)
            if not missing:
                self._places[last] = self._found(last)
        return self._places[op]

    def _needed(self, op):
        if op._id < self._first:
            return []
        inputs = [tensor._op for tensor in op._inputs]
        if op.type == "Merge":
            return [other for other in inputs if other.type != "NextIteration"]
        return inputs + op._control_inputs

    def _found(self, op):
        if op._id < self._first:
            return EVERYWHERE
        if op.type == "Switch":
            self._note_switch(op)
        before = [self._of_output(tensor) for tensor in op._inputs if tensor._op in self._places]
        if op.type == "Merge":
            return frozenset.intersection(*before)
        return EVERYWHERE.union(*before, *(self._places[other] for other in op._control_inputs))

    def of_output(self, tensor):
        """The place of what reads a tensor."""
        self.of(tensor._op)
        return self._of_output(tensor)

    def _of_output(self, tensor):
        place = self._places[tensor._op]
        predicate = _predicate(tensor._op)
        return place if predicate is None else place | {(predicate, tensor._value_index == 1)}

    def _note_switch(self, switch):
        predicate = _predicate(switch)
        first = self._switches.get(predicate)
        if first is None or switch._id < first._id:
            self._switches[predicate] = switch

    def leave(self, place, outer):
        """The Switch of the outermost branch that is left on the way from a place to `outer`."""
        left = [self._switches[predicate] for predicate, _ in place - outer]
        return min(left, key=lambda switch: (len(self._places[switch]), switch._id))


def exclude(place, other):
    """Whether no run gets to both places."""
    return any((predicate, not outcome) in other for predicate, outcome in place)


def _predicate(op):
    """What decides a Switch of a branch; None of other operations, the Switches of loops among them."""
    if op.type != "Switch" or op._inputs[1]._op.type == "LoopCond":
        return None
    predicate = op._inputs[1]
    while predicate._op.type == "Identity":
        predicate = predicate._op._inputs[0]
    return predicate
