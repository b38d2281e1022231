"""ExecutedOperation: an operation that has run. DeclaredOperation: one that says where something is."""

from __future__ import annotations

from stillflow.graph.operation import Operation


class ExecutedOperation(Operation):
    """What gradient functions ask about an operation that has run.

    `differentiate` is its gradient function where that is not the op's.
    """

    is_seeded_once = False  # whether no other call is like this one
    _id = 0
    _device = ""
    _original_op = None
    _control_flow_context = None

    def __init__(self, graph, op_def, name, inputs, attrs, outputs, differentiate=None):
        self._graph = graph
        self._op_def = op_def
        self._name = name
        self._inputs = inputs
        self._attrs = attrs
        self._outputs = outputs
        self._control_inputs = []
        self._control_outputs = []
        self._call_sites = []
        self.differentiate = differentiate


class DeclaredOperation(Operation):
    """What makes a handle, such as a variable's or an iterator's.

    It keeps what has been compiled for uses of the handle; with handles of several, the last one made keeps it.
    """

    def __init__(self, graph, op_def, name, number, inputs, attrs):
        self._set_up(graph, op_def, name, 0, [], [], attrs)
        self._inputs = inputs  # which do not keep their consumers
        self.number = number
        self.compiled: dict = {}
        self.calls: dict = {}

    def forget_uses(self):
        self.compiled.clear()
        self.calls.clear()
