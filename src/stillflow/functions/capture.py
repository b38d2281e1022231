"""Capture: what gradient tapes are told of a tensor that stands for one from outside of a function."""

from __future__ import annotations

from stillflow.graph.op_def import OpDef
from stillflow.graph.operation import Operation

_CAPTURE = OpDef("captured_value", (), (), {})


class Capture(Operation):
    """An operation that no graph has: `inside`, a tensor of the function's body, is `outside`."""

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
