"""tensorflow.python.tools.freeze_graph: a graph and a checkpoint become one graph with constants for variables."""

from __future__ import annotations

import re

from stillflow.importer.graph_util import convert_variables_to_constants
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.names import public_module
from stillflow.saver.checkpoint_reader import NewCheckpointReader
from stillflow.saver.checkpoint_state import checkpoint_exists
from stillflow.saver.meta_graph_import import import_meta_graph
from stillflow.saver.saved_model import loader
from stillflow.saver.saved_model.names import SERVING
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.tools import graph_files, saved_model_utils

public_module("python.tools.freeze_graph")

_V1, _V2 = 1, 2  # SaverDef.CheckpointFormatVersion


def freeze_graph_with_def_protos(
    input_graph_def,
    input_saver_def,
    input_checkpoint,
    output_node_names,
    restore_op_name,
    filename_tensor_name,
    output_graph,
    clear_devices,
    initializer_nodes,
    variable_names_whitelist="",
    variable_names_blacklist="",
    input_meta_graph_def=None,
    input_saved_model_dir=None,
    saved_model_tags=None,
    checkpoint_version=_V2,
):
    """Freezes a graph that is given as messages; see `freeze_graph`. The graph is built in the default graph.

    Returns the frozen GraphDef. Raises ValueError without a checkpoint, without names of outputs, or if the graph has
    no variables or partitioned ones.
    """
    del restore_op_name, filename_tensor_name  # of old formats
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
    if clear_devices and graph_def:
        for node in graph_def.node:
            node.device = ""
    if input_graph_def:
        import_graph_def(input_graph_def, name="")
    with Session() as sess:
        if input_saver_def:
            Saver(saver_def=input_saver_def, write_version=checkpoint_version).restore(sess, input_checkpoint)
        elif input_saved_model_dir and not input_meta_graph_def:
            loader.load(sess, saved_model_tags or [], input_saved_model_dir)
        else:
            if input_meta_graph_def:
                saver = import_meta_graph(input_meta_graph_def, clear_devices=True)
            else:
                saver = _saver_for(input_checkpoint, sess.graph, checkpoint_version)
            saver.restore(sess, input_checkpoint)
            if initializer_nodes:
                sess.run(graph_files.names(initializer_nodes))
        frozen = convert_variables_to_constants(
            sess,
            graph_def,
            graph_files.names(output_node_names),
            variable_names_whitelist=_names_or_none(variable_names_whitelist),
            variable_names_blacklist=_names_or_none(variable_names_blacklist),
        )
    if output_graph:
        graph_files.write(output_graph, frozen)
    return frozen


def _names_or_none(text):
    return graph_files.names(text) if text else None


def _saver_for(checkpoint, graph, version):
    """A Saver of the tensors of a graph that a checkpoint has values for."""
    found = {}
    for name in NewCheckpointReader(checkpoint).get_variable_to_shape_map():
        try:
            found[name] = graph.get_tensor_by_name(name + ":0")
        except KeyError:
            continue
    try:
        return Saver(var_list=found, write_version=version)
    except TypeError:
        _explain_no_saver(graph, found)
        raise


def _explain_no_saver(graph, found):
    parts = [op.name for op in graph.get_operations() if op.outputs and re.search(r"/part_\d+(/|$)", op.name)]
    if any(name in part for name in found for part in parts):
        raise ValueError(
            "Models containing partition variables cannot be converted from checkpoint files. Please pass in a "
            "SavedModel using the flag --input_saved_model_dir."
        )
    if not any(op.type.startswith("Variable") or op.type.endswith("VariableOp") for op in graph.get_operations()):
        raise ValueError(
            "No variables were found in this model. It is likely the model was frozen previously. You cannot freeze "
            "a graph twice."
        )


def freeze_graph(
    input_graph,
    input_saver,
    input_binary,
    input_checkpoint,
    output_node_names,
    restore_op_name,
    filename_tensor_name,
    output_graph,
    clear_devices,
    initializer_nodes,
    variable_names_whitelist="",
    variable_names_blacklist="",
    input_meta_graph=None,
    input_saved_model_dir=None,
    saved_model_tags=SERVING,
    checkpoint_version=_V2,
):
    """Writes a graph whose variables are constants with the values of a checkpoint.

    Args:
      input_graph: the file of a GraphDef; or else `input_meta_graph` or `input_saved_model_dir` is given.
      input_saver: the file of a SaverDef, or "".
      input_binary: whether the files hold bytes, or text.
      input_checkpoint: the prefix of the checkpoint's files.
      output_node_names: the nodes that the graph is for, separated by commas; others are left out.
      restore_op_name, filename_tensor_name: not used.
      output_graph: the file to write, or "".
      clear_devices: whether nodes lose their devices.
      initializer_nodes: nodes to run after the variables have been restored, separated by commas.
      variable_names_whitelist, variable_names_blacklist: which variables become constants, which do not.
      saved_model_tags: the tags of the MetaGraph of a SavedModel, separated by commas.

    Returns:
      The frozen GraphDef.
    """
    graph = meta_graph = saver = None
    if input_saved_model_dir:
        graph = saved_model_utils.get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph = graph_files.read(input_graph, "GraphDef", input_binary)
    if input_meta_graph:
        meta_graph = graph_files.read(input_meta_graph, "MetaGraphDef", input_binary, "meta graph")
        print("Loaded meta graph file '" + input_meta_graph)
    if input_saver:
        saver = graph_files.read(input_saver, "SaverDef", input_binary, "saver")
    return freeze_graph_with_def_protos(
        graph,
        saver,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        meta_graph,
        input_saved_model_dir,
        graph_files.names(saved_model_tags),
        checkpoint_version=checkpoint_version,
    )


def main(unused_args, flags):
    """Freezes as the program's options say."""
    if flags.checkpoint_version not in (_V1, _V2):
        raise ValueError(f"Invalid checkpoint version (must be '1' or '2'): {flags.checkpoint_version}")
    freeze_graph(**vars(flags))


def run_main():
    """The program."""
    options = graph_files.Options()
    options.text("input_graph", help="the file of a GraphDef")
    options.text("input_saver", help="the file of a SaverDef")
    options.text("input_checkpoint", help="the checkpoint with the values of the variables")
    options.number("checkpoint_version", 2, help="1 or 2: the format of the checkpoint")
    options.text("output_graph", help="the file to write")
    options.switch("input_binary", False, help="whether the input files are binary")
    options.text("output_node_names", help="the output nodes, separated by commas")
    options.text("restore_op_name", "save/restore_all", help="not used")
    options.text("filename_tensor_name", "save/Const:0", help="not used")
    options.switch("clear_devices", True, help="whether to remove the devices of nodes")
    options.text("initializer_nodes", help="nodes to run before freezing, separated by commas")
    options.text("variable_names_whitelist", help="the only variables to convert, separated by commas")
    options.text("variable_names_blacklist", help="variables not to convert, separated by commas")
    options.text("input_meta_graph", help="the file of a MetaGraphDef")
    options.text("input_saved_model_dir", help="the folder of a SavedModel")
    options.text("saved_model_tags", SERVING, help="all tags of the MetaGraph to load, separated by commas")
    options.run(lambda flags: main(None, flags))


if __name__ == "__main__":
    run_main()
