"""Parts of graphs as MetaGraphs: written, read and copied with the variables of one name scope."""

from __future__ import annotations

from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.inner_functions import strip_name_scope
from stillflow.names import public
from stillflow.saver.meta_graph import UNBOUND_INPUTS, Export, write
from stillflow.saver.meta_graph_import import add_to_graph, read_message


def _refuse_eager_execution():
    require_graph(
        "Exporting/importing meta graphs is not supported when Eager Execution is enabled.", error=ValueError
    )


@public("python.framework.meta_graph.export_scoped_meta_graph")
def export_scoped_meta_graph(
    filename=None, graph_def=None, graph=None, export_scope=None, as_text=False,
    unbound_inputs_col_name=UNBOUND_INPUTS, clear_devices=False, saver_def=None, clear_extraneous_savers=False,
    strip_default_attrs=False, save_debug_info=False, *, meta_info_def=None, collection_list=None,
):  # fmt: skip
    """A MetaGraphDef message of the nodes in a name scope, and the variables in it.

    Arguments are those of tf.train.export_meta_graph, and `unbound_inputs_col_name`: the collection that is to have
    the names of what the nodes read from outside of the scope.

    Returns:
      The message, and {name of a variable without the scope: variable}.

    Raises:
      TypeError: if `graph` is no graph.
      ValueError: in eager execution.
      tf.errors.OpError: if the file cannot be written.
    """
    if graph_def is None or graph is None:
        _refuse_eager_execution()
    graph = graph or get_default_graph()
    export = Export(graph, export_scope, clear_devices, saver_def, clear_extraneous_savers)
    nodes = export.nodes(graph_def, unbound_inputs_col_name)
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=export_scope)
    found = {strip_name_scope(item.name, export_scope): item for item in variables if export.includes(item.name)}
    message = export.message(nodes, meta_info_def, collection_list, strip_default_attrs)
    if filename:
        write(filename, message, as_text)
    return message, found


@public("python.framework.meta_graph.import_scoped_meta_graph_with_return_elements")
def import_scoped_meta_graph_with_return_elements(
    meta_graph_or_file, clear_devices=False, graph=None, import_scope=None, input_map=None,
    unbound_inputs_col_name=UNBOUND_INPUTS, restore_collections_predicate=lambda key: True, return_elements=None,
):  # fmt: skip
    """`import_scoped_meta_graph` that also returns the nodes and tensors that `return_elements` names."""
    _refuse_eager_execution()
    graph = graph or get_default_graph()
    with graph.as_default():
        elements, scope = add_to_graph(
            read_message(meta_graph_or_file), clear_devices, import_scope, return_elements, input_map,
            unbound_inputs_col_name, restore_collections_predicate,
        )  # fmt: skip
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope)
    return {strip_name_scope(item.name, scope): item for item in variables}, elements


@public("python.framework.meta_graph.import_scoped_meta_graph")
def import_scoped_meta_graph(
    meta_graph_or_file, clear_devices=False, graph=None, import_scope=None, input_map=None,
    unbound_inputs_col_name=UNBOUND_INPUTS, restore_collections_predicate=lambda key: True,
):  # fmt: skip
    """Adds a MetaGraph to a graph, in a name scope.

    Args:
      meta_graph_or_file: a MetaGraphDef message, or the name of a file with one, binary or text.
      clear_devices: whether to forget the devices of the nodes.
      graph: the graph; by default the default graph.
      import_scope: the name scope.
      input_map: {name of a tensor in the MetaGraph: what to read in its place}.
      unbound_inputs_col_name: the collection that says what has to be in `input_map`.
      restore_collections_predicate: a function of a collection's name that says whether it is wanted.

    Returns:
      {name of a variable without the scope: variable}.

    Raises:
      OSError: if there is no such file.
      ValueError: if inputs are missing, in eager execution, and as tf.import_graph_def.
    """
    return import_scoped_meta_graph_with_return_elements(
        meta_graph_or_file, clear_devices, graph, import_scope, input_map, unbound_inputs_col_name,
        restore_collections_predicate,
    )[0]  # fmt: skip


@public("python.framework.meta_graph.copy_scoped_meta_graph")
def copy_scoped_meta_graph(from_scope, to_scope, from_graph=None, to_graph=None):
    """Copies what a name scope has to another scope, of the same graph or another.

    Returns:
      {name of a variable without the scope: the copied variable}.

    Raises:
      ValueError: if both are the same scope of one graph.
    """
    from_graph = from_graph or get_default_graph()
    to_graph = to_graph or get_default_graph()
    if from_graph is to_graph and from_scope == to_scope:
        raise ValueError("'from_scope' and 'to_scope' need to be different when performing copy in the same graph.")
    message, _ = export_scoped_meta_graph(export_scope=from_scope, graph=from_graph)
    return import_scoped_meta_graph(message, graph=to_graph, import_scope=to_scope)
