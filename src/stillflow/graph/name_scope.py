"""name_scope: the context in which a function of several nodes makes them."""

from __future__ import annotations

import contextlib

from stillflow.graph.default_graph import get_default_graph, graphs_to_outermost
from stillflow.graph.mode import by_mode
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public


def graph_of_inputs(values, graph=None):
    """The graph that the values belong to, or the default graph. Lists among them are looked into.

    A graph that takes any input, as the body of a function does, is that graph itself.

    Raises:
      ValueError: if they belong to several graphs, or not to `graph` when it is given.
    """
    first = None
    default = get_default_graph()
    if graph is None and default.takes_any_input:
        return default
    for value in _flattened(values):
        element = value if isinstance(value, (Tensor, Operation)) else _graph_element(value)
        if element is None:
            continue
        if graph is None:
            first, graph = element, _graph_of(element)
        elif _graph_of(element) is not graph:
            if first is None:
                raise ValueError(f"{element!r} is not from the passed-in graph.")
            raise ValueError(f"{element!r} must be from the same graph as {first!r}.")
    return graph if graph is not None else default


def _graph_of(element):
    graph = element._op._graph if isinstance(element, Tensor) else element.graph
    graph.require_nodes("Attempting to capture an EagerTensor without building a function.")
    return graph


def _flattened(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _flattened(value)
        else:
            yield value


def _graph_element(value):
    if isinstance(value, (int, float, str, bytes, bool, type(None))):
        return None
    convert = getattr(value, "_as_graph_element", None)
    if convert is not None:
        return convert()
    return value if hasattr(value, "graph") and hasattr(value, "op") else None


@public("name_scope", "keras.backend.name_scope")
class name_scope:  # noqa: N801
    """Puts the names of new nodes into a scope, made unique; entering it yields the scope's prefix.

    `name`, or `default_name` where it is None, is the scope's name; None for both, without `values`, leaves
    all scopes. `values` are inputs of the nodes: their graph becomes the default inside. Raises ValueError for
    names that cannot be a scope's, and when `values` are of several graphs.
    """

    def __init__(self, name, default_name=None, values=None):
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this "
                "into the `values` kwarg."
            )
        self._default_name = default_name
        self._name = default_name if name is None else name
        self._values = values
        self._contexts = []

    @property
    def name(self):
        return self._name

    def __enter__(self):
        default = graph = get_default_graph()
        if self._name is None and self._values is not None and default.scopes_need_names:
            raise ValueError(
                f"At least one of name ({self._name}) and default_name ({self._default_name}) must be provided."
            )
        if self._values:
            graph = graph_of_inputs(self._values)
            if graph is not default:
                self._enter(graph.as_default())
        try:
            return self._enter(graph.name_scope(self._name))
        except BaseException:
            self.__exit__(None, None, None)  # the graph must not stay the default
            raise

    def _enter(self, context):
        entered = context.__enter__()
        self._contexts.append(context)
        return entered

    def __exit__(self, *exception):
        while self._contexts:
            self._contexts.pop().__exit__(*exception)
        return False


@public("init_scope")
@by_mode
@contextlib.contextmanager
def init_scope():
    """A scope outside of all functions, control dependencies and control flow, under the same names.

    For initial values, and for variables that functions make. Executed eagerly, tapes do not record in it.
    """
    inside, *around = graphs_to_outermost()
    scope = inside.get_name_scope()
    graph = around[-1] if around else inside
    with contextlib.ExitStack() as stack:
        stack.enter_context(graph.as_default())
        stack.enter_context(graph.control_dependencies(None))
        stack.enter_context(name_scope(f"{scope}/" if scope else None))
        devices = next((each._device_stack for each in (inside, *around) if each._device_stack), None)
        if around and devices is not graph._device_stack:
            stack.enter_context(graph.devices_of(devices or []))
        yield
