"""tf.contrib.copy_graph: nodes, with all that they depend on, and variables, into another graph."""

from __future__ import annotations

from stillflow.graph.collections import GraphKeys
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public
from stillflow.session.session import Session
from stillflow.variables.variable import Variable


def _name(instance, scope):
    name = instance.name.partition(":")[0] if isinstance(instance, Variable) else instance.name
    return f"{scope}/{name}" if scope else name


def _collections(instance, scope, kept=()):
    """The names of the collections that it is in, in a scope if they are not among those kept."""
    graph = instance.graph
    return [
        key if not scope or key in kept else f"{scope}/{key}"
        for key in graph.get_all_collection_keys()
        if any(instance is each for each in graph.get_collection_ref(key))
    ]


@public(
    "contrib.copy_graph.copy_variable_to_graph",
    "contrib.copy_graph.python.util.copy_elements.copy_variable_to_graph",
)
def copy_variable_to_graph(org_instance, to_graph, scope=""):
    """A variable like another one, in another graph, of its initial value.

    Args:
      org_instance: the variable.
      to_graph: the other graph.
      scope: put before the name, and the names of collections besides the global and trainable variables.

    Raises TypeError for what is no variable.
    """
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    kept = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)
    collections = _collections(org_instance, scope, kept)
    is_trainable = GraphKeys.TRAINABLE_VARIABLES in collections
    with org_instance.graph.as_default(), Session() as session:
        value = session.run(org_instance.initialized_value())
    with to_graph.as_default():
        return Variable(
            value, is_trainable, name=_name(org_instance, scope), collections=collections, validate_shape=False
        )


@public(
    "contrib.copy_graph.copy_op_to_graph",
    "contrib.copy_graph.python.util.copy_elements.copy_op_to_graph",
)
def copy_op_to_graph(org_instance, to_graph, variables, scope=""):
    """An operation or tensor in another graph, with what it depends on; what is there already is used.

    Args:
      org_instance: the operation or tensor.
      to_graph: the other graph.
      variables: those that have been copied to it, by copy_variable_to_graph.
      scope: put before the names.

    Raises TypeError for anything else.
    """
    name = _name(org_instance, scope)
    if any(variable.name == name for variable in variables):
        return to_graph.get_tensor_by_name(name)
    try:
        return to_graph.as_graph_element(name, allow_tensor=True, allow_operation=True)
    except (KeyError, ValueError):
        pass
    if isinstance(org_instance, Tensor):
        op = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        found = op.outputs[org_instance.value_index]
        for collection in _collections(org_instance, scope):
            to_graph.add_to_collection(collection, found)
        return found
    if not isinstance(org_instance, Operation):
        raise TypeError(f"Could not copy instance: {org_instance}")
    controls = [copy_op_to_graph(op, to_graph, variables, scope) for op in org_instance.control_inputs]
    inputs = [copy_op_to_graph(tensor, to_graph, variables, scope) for tensor in org_instance.inputs]
    with to_graph.as_default(), to_graph.control_dependencies(None), to_graph.control_dependencies(controls):
        attrs = dict(org_instance.node_def.attr)
        return to_graph.create_op(org_instance.type, inputs, name=f"{name}/", attrs=attrs)


@public("contrib.copy_graph.get_copied_op", "contrib.copy_graph.python.util.copy_elements.get_copied_op")
def get_copied_op(org_instance, graph, scope=""):
    """The operation or tensor of a graph that another one was copied as. Raises KeyError if there is none."""
    return graph.as_graph_element(_name(org_instance, scope), allow_tensor=True, allow_operation=True)
