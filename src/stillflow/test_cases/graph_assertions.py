"""tensorflow.python.framework.test_util: what tests look for in graphs and meta graphs."""

from __future__ import annotations

from stillflow.names import public


@public("python.framework.test_util.assert_ops_in_graph")
def assert_ops_in_graph(expected_ops, graph):
    """Nodes of a graph by name.

    Args:
      expected_ops: {name of a node: its op}.
      graph: the graph.

    Returns:
      {name: NodeDef} of the expected ones.

    Raises ValueError if one is not there or is another op.
    """
    found = {}
    for node in graph.as_graph_def().node:
        if node.name in expected_ops:
            if expected_ops[node.name] != node.op:
                raise ValueError(
                    f"Expected op for node {node.name} is different. {expected_ops[node.name]} vs {node.op}"
                )
            found[node.name] = node
    if set(expected_ops) != set(found):
        raise ValueError(f"Not all expected ops are present. Expected {expected_ops.keys()}, found {found.keys()}")
    return found


@public("python.framework.test_util.get_node_def_from_graph")
def get_node_def_from_graph(node_name, graph_def):
    """The node of a name in a GraphDef, or None."""
    return next((node for node in graph_def.node if node.name == node_name), None)
