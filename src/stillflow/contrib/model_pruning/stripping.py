"""Graphs of trained models without masks: products of weights and masks become constants."""

from __future__ import annotations

from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.graph.python_values import make_tensor_proto
from stillflow.importer.graph_util import convert_variables_to_constants, extract_sub_graph
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.names import public
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.meta_graph_import import import_meta_graph
from stillflow.session.session import Session


@public("contrib.model_pruning.strip_pruning_vars_fn")
def strip_pruning_vars_fn(input_graph_def, output_node_names):
    """A GraphDef with constants in place of products of weights and masks.

    Args:
      input_graph_def: a GraphDef whose variables are constants.
      output_node_names: the names of the nodes that are needed.
    """
    products = [node.name for node in input_graph_def.node if "masked_weight" in node.name]
    with Graph().as_default() as graph:
        import_graph_def(input_graph_def, name="")
        with Session(graph=graph) as session:
            values = dict(zip(products, session.run([f"{name}:0" for name in products]), strict=True))
    stripped = type(input_graph_def)()
    for node in input_graph_def.node:
        copy = stripped.node.add()
        if node.name not in values:
            copy.CopyFrom(node)
            continue
        copy.op, copy.name = "Const", node.name
        copy.attr["dtype"].CopyFrom(node.attr["T"])
        copy.attr["value"].tensor.CopyFrom(make_tensor_proto(values[node.name]))
    return extract_sub_graph(stripped, output_node_names)


@public("contrib.model_pruning.graph_def_from_checkpoint")
def graph_def_from_checkpoint(checkpoint_dir, output_node_names):
    """The GraphDef of a directory's latest checkpoint, with constants in place of variables.

    Raises ValueError if there is no checkpoint.
    """
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver = import_meta_graph(path + ".meta", clear_devices=True)
    with Session() as session:
        saver.restore(session, path)
        return convert_variables_to_constants(session, get_default_graph().as_graph_def(), output_node_names)
