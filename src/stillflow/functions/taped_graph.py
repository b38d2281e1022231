"""TapedGraph: the body of a function that Python code with gradient tapes builds."""

from __future__ import annotations

import contextlib

from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph import recording
from stillflow.graph.capture import tell_of


class TapedGraph(FunctionGraph):
    """A body whose tapes may watch what is outside of it."""

    def capture(self, tensor):
        """The tensor of this graph that stands for `tensor`; a tape of the body that watches `tensor` is told."""
        inside = super().capture(tensor)
        if inside is not tensor:
            tell_of(self, tensor, inside)
        return inside

    @contextlib.contextmanager
    def building(self):
        """A context in which nodes are added to the body, and tapes around it see nothing of them."""
        with self.as_default(), recording.paused():
            yield
