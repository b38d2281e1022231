"""ControlDependencies: the context that makes new nodes wait for given ones."""

from __future__ import annotations

from stillflow.graph.indexed_slices import IndexedSlices


class ControlDependencies:
    """What `Graph.control_dependencies` returns. None as control inputs clears those of outer contexts."""

    def __init__(self, graph, control_inputs):
        self._graph = graph
        self._clears = control_inputs is None
        self._seen = set()
        self._saved: tuple = ([], None)
        ops: dict = {}
        for item in () if control_inputs is None else control_inputs:
            ops[_operation(graph, item)] = None
        # What outer contexts wait for already is not waited for again.
        outer = {op for controller in graph._control_stack for op in controller.control_inputs}
        self.control_inputs = [op for op in ops if op not in outer]

    def __enter__(self):
        if self._clears:
            self._saved = self._graph._control_stack, self._graph._control_flow_context
            self._graph._control_stack = []
            self._graph._control_flow_context = None
        self._graph._control_stack.append(self)

    def __exit__(self, *exception):
        self._graph._control_stack.pop()
        if self._clears:
            self._graph._control_stack, self._graph._control_flow_context = self._saved

    def add_op(self, op):
        """Notes a node that waits for the control inputs."""
        self._seen.add(op)

    def dominates(self, input_ops) -> bool:
        """Whether a node with these inputs waits already, through one of them."""
        return not self._seen.isdisjoint(input_ops)


def _operation(graph, item):
    if isinstance(item, IndexedSlices):
        item = item.op
    if hasattr(item, "_handle"):
        return item.op  # of what assigning to a resource variable returns, the assignment
    element = graph.as_graph_element(getattr(item, "_as_graph_element", lambda: item)())
    return getattr(element, "op", element)
