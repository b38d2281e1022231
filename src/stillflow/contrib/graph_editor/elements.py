"""Lists of operations and tensors, what depends on what, and placeholders: tf.contrib.graph_editor.util."""

from __future__ import annotations

import collections.abc
from typing import Any

from stillflow import ops as nodes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.graph import Graph
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public

_PREFIX = "geph"  # of placeholders


@public("contrib.graph_editor.util.concatenate_unique", "python.ops.op_selector.concatenate_unique")
def extend_unique(items, others):
    """Appends those of `others` that are not in the list yet, and returns it."""
    known = set(items)
    for item in others:
        if item not in known:
            known.add(item)
            items.append(item)
    return items


@public("contrib.graph_editor.util.is_iterable", "python.ops.op_selector.is_iterable")
def is_iterable(obj):
    """Whether something holds others; a tensor does not."""
    if isinstance(obj, Tensor):
        return False
    try:
        iter(obj)
    except Exception:
        return False
    return True


@public("contrib.graph_editor.util.flatten_tree")
def flatten_tree(tree, leaves=None):
    """A list of what is in lists, tuples and values of dictionaries, one in the other."""
    found = [] if leaves is None else leaves
    if isinstance(tree, dict):
        tree = tree.values()
    if not is_iterable(tree):
        found.append(tree)
        return found
    for child in tree:
        flatten_tree(child, found)
    return found


@public("contrib.graph_editor.util.transform_tree")
def transform_tree(tree, fn, iterable_type=tuple):
    """The same lists, tuples and dictionaries, with fn(item) for every item."""
    if not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((key, transform_tree(child, fn)) for key, child in tree.items())
    if isinstance(tree, tuple) and hasattr(tree, "_asdict"):
        return type(tree)(**transform_tree(tree._asdict(), fn))
    kind: Any = type(tree) if isinstance(tree, collections.abc.Sequence) else iterable_type
    return kind(transform_tree(child, fn) for child in tree)


@public("contrib.graph_editor.util.check_graphs", "python.ops.op_selector.check_graphs")
def check_graphs(*args):
    """Raises ValueError if things with an attribute `graph` are of several graphs; a graph of None is of any."""
    graph = None
    for index, item in enumerate(args):
        if graph is None:
            graph = item.graph
        elif item.graph is not None and item.graph is not graph:
            raise ValueError(f"Argument[{index}]: Wrong graph!")


@public("contrib.graph_editor.util.get_unique_graph", "python.ops.op_selector.get_unique_graph")
def get_unique_graph(tops, check_types=None, none_if_empty=False):
    """The graph that all of some operations and tensors are of; a graph is its own.

    Raises:
      TypeError: for what is not of `check_types`, which are tf.Operation and tf.Tensor if not given.
      ValueError: for items of several graphs, or none, unless `none_if_empty`.
    """
    if isinstance(tops, Graph):
        return tops
    if not is_iterable(tops):
        raise TypeError(f"{type(tops)} is not iterable")
    if check_types is None:
        check_types = (Operation, Tensor)
    elif not is_iterable(check_types):
        check_types = (check_types,)
    graph = None
    for item in tops:
        if not isinstance(item, tuple(check_types)):
            raise TypeError(f"Expected a type in ({', '.join(map(str, check_types))}), got: {type(item)}")
        if graph is None:
            graph = item.graph
        elif graph is not item.graph:
            raise ValueError(f"Operation {item} does not belong to given graph")
    if graph is None and not none_if_empty:
        raise ValueError("Can't find the unique graph of an empty list")
    return graph


def _as_list(items, kind, all_of, check_graph, allow_graph, ignores_others):
    if isinstance(items, Graph):
        if not allow_graph:
            raise TypeError("allow_graph is False: cannot convert a tf.Graph.")
        return all_of(items)
    items = list(items) if is_iterable(items) else [items]
    if items and check_graph:
        get_unique_graph(items, check_types=None if ignores_others else kind)
    return [item for item in items if isinstance(item, kind)]


@public(
    "contrib.graph_editor.make_list_of_op",
    "contrib.graph_editor.util.make_list_of_op",
    "python.ops.op_selector.make_list_of_op",
)
def make_list_of_op(ops, check_graph=True, allow_graph=True, ignore_ts=False):
    """A list of the operations in a graph or a list, or of the one operation.

    Args:
      check_graph: whether to raise ValueError if they are of several graphs.
      allow_graph: whether `ops` may be a graph.
      ignore_ts: whether to leave out tensors, instead of raising TypeError for them.
    """
    return _as_list(ops, Operation, Graph.get_operations, check_graph, allow_graph, ignore_ts)


@public(
    "contrib.graph_editor.get_tensors", "contrib.graph_editor.util.get_tensors", "python.ops.op_selector.get_tensors"
)
def get_tensors(graph):
    """A list of the tensors of a graph. Raises TypeError for what is none."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a graph, got: {type(graph)}")
    return [tensor for op in graph.get_operations() for tensor in op.outputs]


@public(
    "contrib.graph_editor.make_list_of_t",
    "contrib.graph_editor.util.make_list_of_t",
    "python.ops.op_selector.make_list_of_t",
)
def make_list_of_t(ts, check_graph=True, allow_graph=True, ignore_ops=False):
    """A list of the tensors in a graph or a list, or of the one tensor; the arguments are as in `make_list_of_op`."""
    return _as_list(ts, Tensor, get_tensors, check_graph, allow_graph, ignore_ops)


@public(
    "contrib.graph_editor.get_generating_ops",
    "contrib.graph_editor.util.get_generating_ops",
    "python.ops.op_selector.get_generating_ops",
)
def get_generating_ops(ts):
    """The operations that tensors are outputs of."""
    return [tensor.op for tensor in make_list_of_t(ts, allow_graph=False)]


@public(
    "contrib.graph_editor.get_consuming_ops",
    "contrib.graph_editor.util.get_consuming_ops",
    "python.ops.op_selector.get_consuming_ops",
)
def get_consuming_ops(ts):
    """The operations that tensors are inputs of, each once."""
    found: list = []
    for tensor in make_list_of_t(ts, allow_graph=False):
        extend_unique(found, tensor.consumers())
    return found


@public("contrib.graph_editor.ControlOutputs", "contrib.graph_editor.util.ControlOutputs")
class ControlOutputs:
    """Which operations of a graph have to run after which, by control dependencies. Raises TypeError."""

    def __init__(self, graph):
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._followers: dict = {}
        self._version = None
        self.update()

    def update(self):
        """Takes note of nodes that the graph has got since."""
        if self._version != self._graph.version:
            self._followers = {}
            for op in self._graph.get_operations():
                for control in op.control_inputs:
                    extend_unique(self._followers.setdefault(control, []), [op])
            self._version = self._graph.version
        return self

    def get_all(self):
        """{operation: [operations that run after it]}."""
        return self._followers

    def get(self, op):
        """The operations that run after `op`."""
        return self._followers.get(op, ())

    @property
    def graph(self):
        return self._graph


@public("contrib.graph_editor.util.ListView")
class ListView:
    """A list that nobody can change by this."""

    def __init__(self, items):
        self._items = items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return bool(self._items)

    def __getitem__(self, index):
        return self._items[index]

    def __add__(self, other):
        return [*self._items, *other]


@public("contrib.graph_editor.util.scope_finalize")
def with_slash(scope):
    """A scope as the beginning of names."""
    return f"{scope}/" if scope and not scope.endswith("/") else scope


@public("contrib.graph_editor.placeholder_name", "contrib.graph_editor.util.placeholder_name")
def placeholder_name(t=None, scope=None, prefix=_PREFIX):
    """The name of a placeholder that stands for a tensor: that of its operation, after the prefix, in the scope.

    Raises TypeError for what is no tensor.
    """
    if t is None:
        return f"{with_slash(scope) or ''}{prefix}"
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tenfor, got: {type(t)}")
    folder, slash, name = t.op.name.rpartition("/")
    if not name.startswith(f"{prefix}__"):
        name = f"{prefix}__{name}_{t.value_index}"
    return (folder + slash if scope is None else with_slash(scope)) + name


@public("contrib.graph_editor.make_placeholder_from_tensor", "contrib.graph_editor.util.make_placeholder_from_tensor")
def make_placeholder_from_tensor(t, scope=None, prefix=_PREFIX):
    """A placeholder of the default graph with a tensor's type and shape."""
    return nodes.placeholder(dtype=t.dtype, shape=t.shape, name=placeholder_name(t, scope=scope, prefix=prefix))


@public("contrib.graph_editor.make_placeholder_from_dtype_and_shape", "contrib.graph_editor.ph")
@public("contrib.graph_editor.util.make_placeholder_from_dtype_and_shape")
def make_placeholder_from_dtype_and_shape(dtype, shape=None, scope=None, prefix=_PREFIX):
    """A placeholder of the default graph, named by the scope and the prefix."""
    return nodes.placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix))


def predefined_collections():
    """The names of the collections that TensorFlow itself has."""
    return [value for name, value in vars(GraphKeys).items() if not name.startswith("_") and isinstance(value, str)]
