"""Capture: what gradient tapes are told of a tensor that stands for one outside of a function, branch or loop."""

from __future__ import annotations

from stillflow.graph import recording
from stillflow.graph.op_def import OpDef
from stillflow.graph.operation import Operation

_CAPTURE = OpDef("captured_value", (), (), {})


class Capture(Operation):
    """An operation that no graph has: `inside`, a tensor of a function's body, a branch or a loop, is `outside`."""

    def __init__(self, graph, outside, inside):
        self._graph = graph
        self._op_def = _CAPTURE
        self._name = "captured_value"
        self._inputs = [outside]
        self._outputs = [inside]
        self._attrs = {}
        self._control_flow_context = None

    @staticmethod
    def differentiate(op, grad):
        return [grad]


def tell_of(graph, outside, inside):
    """Tells this thread's tapes of a tensor that stands for another one."""
    if recording.active():
        recording.record(Capture(graph, outside, inside))
