"""What depends on the mode: whether operations become nodes of a graph or run when they are called.

The default graph is the mode, and whoever builds nodes never asks which one it is. A function that eager execution
replaces is marked `@by_mode`, a class whose instances it replaces has the metaclass `MadeByMode`, and the default
graph says what takes their place: the eager version, marked `@eager_version_of(...)`. It stands in stillflow.eager,
where stillflow.eager.versions lists its module; of what is above that package, beside the graph's version.

What one mode refuses calls `require_graph` or `require_eager_execution` of stillflow.graph.default_graph.
"""

from __future__ import annotations

import functools
from typing import Any

from stillflow.graph.default_graph import get_default_graph, outermost_graph

EAGER_VERSIONS: dict[Any, Any] = {}  # function or class -> what eager execution has in its place
FUNCTIONAL_VERSIONS: dict[Any, Any] = {}  # ... graphs in which conditions and loops are nodes that call functions


def by_mode(function):
    """Decorates a function or method of which eager execution may have a version of its own."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        return get_default_graph().version_of(function)(*args, **kwargs)

    return call


def by_outermost_mode(function):
    """Like `by_mode`, for what eager execution does its own way also while it traces a function."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        return outermost_graph().version_of(function)(*args, **kwargs)

    return call


class MadeByMode(type):
    """The metaclass of classes of which eager execution has a subclass of its own."""

    def __call__(cls, *args, **kwargs):
        return type.__call__(get_default_graph().version_of(cls), *args, **kwargs)


def eager_version_of(item):
    """Decorates what eager execution has in the place of a function marked `@by_mode`, or of a class."""
    return _version_of(item, EAGER_VERSIONS)


def functional_version_of(item):
    """Decorates what has the place of a function or class where control flow is that of TensorFlow 2."""
    return _version_of(item, FUNCTIONAL_VERSIONS)


def _version_of(item, versions):
    def mark(version):
        versions[getattr(item, "__wrapped__", item)] = version
        return version

    return mark
