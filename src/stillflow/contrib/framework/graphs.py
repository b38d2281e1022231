"""What tf.contrib.framework says of graphs, and tensors of several."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_scalar
from stillflow.composites.confusion_matrix import remove_squeezable_dimensions as _squeezed
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.graph.name_scope import graph_of_inputs, name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("python.framework.ops._get_graph_from_inputs")
@public("contrib.framework.get_graph_from_inputs")
def get_graph_from_inputs(op_input_list, graph=None):
    """The graph that tensors, operations and variables are of, or the default graph if there are none.

    Raises ValueError if they are of several graphs, or not of `graph`.
    """
    return graph_of_inputs(op_input_list, graph)


@public("contrib.framework.get_name_scope")
def get_name_scope():
    """The default graph's current name scope."""
    return get_default_graph().get_name_scope()


@public("contrib.framework.get_placeholders")
def get_placeholders(graph):
    """A list of the placeholders of a graph. Raises TypeError for what is no graph."""
    if not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    return [op.outputs[0] for op in graph.get_operations() if op.type == "Placeholder"]


@public("contrib.framework.reduce_sum_n")
def reduce_sum_n(tensors, name=None):
    """The sum of all elements of some tensors, a scalar. Raises ValueError if there are none."""
    if not tensors:
        raise ValueError("No tensors provided.")
    with name_scope(name, "reduce_sum_n", tensors) as scope:
        sums = [ops.reduce_sum(tensor, name=f"{tensor.op.name}/sum") for tensor in tensors]
        return sums[0] if len(sums) == 1 else ops.add_n(sums, name=scope)


@public("contrib.framework.remove_squeezable_dimensions")
def remove_squeezable_dimensions(predictions, labels, name=None):
    """Both, the one that has one dimension more than the other without its last, which must be of size 1."""
    labels, predictions = _squeezed(labels, predictions, name=name)
    return predictions, labels


@public("contrib.framework.assert_scalar_int")
def assert_scalar_int(tensor, name=None):
    """The tensor. Raises ValueError unless it is a scalar of an integer type."""
    with name_scope(name, "assert_scalar_int", [tensor]) as scope:
        tensor = convert_to_tensor(tensor)
        if not tensor.dtype.base_dtype.is_integer:
            raise ValueError(f"Expected integer type for {tensor.name}, received type: {tensor.dtype}.")
        return assert_scalar(tensor, name=scope)
