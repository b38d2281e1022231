"""Waiting in a loop for what comes after the loop.

A gradient of a loop that is made where it has to wait for another one of the same loop adds a counter to the loop
that waits for it as well. Values that flow on their own stand that, as nothing in the loop needs the counter; a loop
that runs as a whole does not, and does not wait.
"""

from __future__ import annotations


class LateWaits:
    """What not to wait for. `frames` are the operations' frames; `operations` are in the order of what they need."""

    def __init__(self, operations, frames):
        self.operations: set = set()  # these only make others in a loop wait for what needs the loop to have ended
        self._firsts: dict = {}  # constants with which a variable begins -> the control inputs that they wait for
        if any(op._op_def.special == "exit" for op in operations):
            self._find(operations, frames, _ended(operations, frames))

    def controls_of(self, op):
        return self._firsts.get(op, op._control_inputs)

    def _find(self, operations, frames, ended):
        for op in operations:
            if op._op_def.special != "enter":
                continue
            source, frame = op._inputs[0]._op, (*frames[op], op._attrs["frame_name"])
            if source.type == "Const":
                early = [other for other in source._control_inputs if frame not in ended.get(other, ())]
                if len(early) < len(source._control_inputs):
                    self._firsts[source] = early
            elif frame in ended.get(source, ()) and all(_only_waits(user) for user in op._outputs[0]._consumers):
                self.operations.update((op, *op._outputs[0]._consumers))


def _only_waits(op):
    return op.type == "Identity" and not op._outputs[0]._consumers


def _ended(operations, frames):
    """{operation: the frames that must have ended before it}."""
    ended: dict = {}
    for op in operations:
        before = {ended[other] for other in _before(op) if other in ended}
        if op._op_def.special == "exit":
            before.add(frozenset({frames[op]}))
        if before:
            ended[op] = frozenset().union(*before) if len(before) > 1 else before.pop()
    return ended


def _before(op):
    yield from (tensor._op for tensor in op._inputs)
    yield from op._control_inputs
