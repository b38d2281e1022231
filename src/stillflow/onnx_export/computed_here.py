"""Values that a model has as constants, computed by running ops while it is made."""

from __future__ import annotations

from stillflow.graph.graph import Graph
from stillflow.session.session import Session


def computed_here(build):
    """The values of what `build()` makes in a graph of its own."""
    with Graph().as_default(), Session() as session:
        return session.run(build())
