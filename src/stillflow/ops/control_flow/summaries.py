"""Summaries that are written inside of branches and loops: what these return waits for them, for nothing else can."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph


def with_summaries(function, *args):
    """What a function returns, which waits for the summaries that it writes; they are not collected then."""
    graph = get_default_graph()
    before = len(graph.get_collection(GraphKeys._SUMMARY_COLLECTION))
    result = function(*args)
    written = graph.get_collection(GraphKeys._SUMMARY_COLLECTION)[before:]
    if not written or result is None:
        return result
    del graph.get_collection_ref(GraphKeys._SUMMARY_COLLECTION)[before:]
    with graph.control_dependencies(written):
        return nest.map_structure(_copy, result, expand_composites=True)


def _copy(value):
    return value if hasattr(value, "flow") else ops.identity(value)  # a TensorArray stays as it is
