"""Where tensors are when gradients are built inside of a function: what it takes from outside is outside."""

from __future__ import annotations


class Places:
    """The graphs that gradients go through: that which is built, and those around it.

    Args:
      graph: the graph that is built.
      xs: the tensors with respect to which gradients are computed; a function's argument among them is that argument.
    """

    def __init__(self, graph, xs):
        self._bodies = []
        while graph is not None and graph.building_function:
            self._bodies.append(graph)
            graph = graph.outer_graph
        self._xs = set(xs)

    def outside(self, tensor):
        """What an argument that the function has taken itself stands for; other tensors themselves."""
        if not self._bodies:
            return tensor
        while tensor._op._captured is not None and tensor not in self._xs:
            tensor = tensor._op._captured
        return tensor

    def inputs(self, op):
        """The inputs of an operation, as far outside as they are."""
        return [self.outside(tensor) for tensor in op._inputs] if self._bodies else op._inputs

    def consumers(self, tensor):
        """The operations that take a tensor, also inside of the functions that are built."""
        found = list(tensor._consumers)
        for body in self._bodies:
            argument = body._captures.get(tensor)
            if argument is not None:
                found += self.consumers(argument)
        return found
