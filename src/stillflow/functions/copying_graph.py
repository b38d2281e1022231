"""CopyingGraph: the body of a function with copies of the nodes outside that it uses."""

from __future__ import annotations

from stillflow.functions.function_graph import FunctionGraph


class CopyingGraph(FunctionGraph):
    """The body of a function that has copies of what it uses from outside."""

    def allow(self, operations):
        """Says which nodes with state may be copied; others may not."""
        self._allowed = operations
        self._copies: dict = {}

    def capture(self, tensor):
        if tensor.graph is self:
            return tensor
        if tensor not in self._copies:
            self._copy(tensor)
        return self._copies[tensor]

    def _copy(self, tensor):
        """Copies a node with all that is before it, again what has been copied for another one."""
        op = tensor.op
        if op._op_def.is_stateful and op not in self._allowed:
            raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.")
        if op.type == "Placeholder":
            raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
        inputs = [self._copy(source) for source in op._inputs]
        copy = self._add_node(op._op_def, inputs, dict(op._attrs), op.name)
        self._copies.update(zip(op._outputs, copy._outputs, strict=True))
        return copy._outputs[tensor.value_index]
