"""tf.device and its kin: methods of the default graph as functions."""

from __future__ import annotations

from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public


@public("device")
def device(device_name_or_function):
    """A context in which new nodes of the default graph carry a device.

    Args:
      device_name_or_function: a name such as "/cpu:0" or "/job:ps/task:1", whose parts complete those of contexts
        outside; a function from an Operation to such a name; or None to leave all contexts outside.
    """
    return get_default_graph().device(device_name_or_function)


@public("container")
def container(container_name):
    """New stateful nodes of the default graph keep their state under this name."""
    return get_default_graph().container(container_name)


@public("python.framework.ops.colocate_with")
@public("colocate_with")
def colocate_with(op, ignore_existing=False):
    """New nodes of the default graph are marked to be placed with `op`."""
    return get_default_graph().colocate_with(op, ignore_existing)


@public("control_dependencies")
def control_dependencies(control_inputs):
    """A context in which new nodes of the default graph run after others.

    Args:
      control_inputs: a list of operations, tensors and variables; None leaves all contexts outside.

    Raises:
      TypeError: for anything else in the list.
    """
    return get_default_graph().control_dependencies(control_inputs)


@public("op_scope")
def op_scope(values, name, default_name=None):
    """The old argument order of name_scope."""
    return name_scope(name, default_name, values)


@public("add_to_collection")
def add_to_collection(name, value):
    """Adds a value to a collection of the default graph.

    Args:
      name: the collection's name, often one of tf.GraphKeys.
      value: anything; it may be in the collection more than once.
    """
    get_default_graph().add_to_collection(name, value)


@public("add_to_collections")
def add_to_collections(names, value):
    """Adds to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


@public("get_collection")
def get_collection(key, scope=None):
    """A copy of a collection of the default graph.

    Args:
      key: the collection's name, often one of tf.GraphKeys.
      scope: a regular expression; only items with a `name` whose beginning it matches are returned.

    Returns:
      A list, in the order in which items were added; empty if there is no such collection.
    """
    return get_default_graph().get_collection(key, scope)


@public("get_collection_ref")
def get_collection_ref(key):
    """The list behind a collection of the default graph."""
    return get_default_graph().get_collection_ref(key)
