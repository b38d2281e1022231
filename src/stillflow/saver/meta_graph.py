"""MetaGraphs: a graph with its collections and its Saver, written to a file and read from one."""

from __future__ import annotations

import logging
import os

from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph import collection_protos, op_def
from stillflow.graph import graph_def as graph_defs
from stillflow.graph.attr_value import from_message
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.graph import Graph
from stillflow.graph.inner_functions import strip_name_scope
from stillflow.graph.op_def import has_trait
from stillflow.names import public

_log = logging.getLogger("tensorflow")
UNBOUND_PREFIX = "$unbound_inputs_"
UNBOUND_INPUTS = "unbound_inputs"


@public("train.export_meta_graph")
def export_meta_graph(
    filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None, as_text=False,
    graph=None, export_scope=None, clear_devices=False, clear_extraneous_savers=False, strip_default_attrs=False,
    save_debug_info=False,
):  # fmt: skip
    """A MetaGraphDef message of a graph, also written to a file if `filename` is given.

    Args:
      filename: where to write it.
      meta_info_def: a MetaInfoDef message that it is to have.
      graph_def: a GraphDef message instead of the graph's.
      saver_def: a SaverDef message of the nodes that save and restore.
      collection_list: the names of the collections to write; by default all.
      as_text: whether the file is text.
      graph: the graph; by default the default graph.
      export_scope: only the nodes of this name scope, and without its name.
      clear_devices: without devices.
      clear_extraneous_savers: without the nodes of all Savers but the one of `saver_def`.
      strip_default_attrs: without attributes that have their defaults.
      save_debug_info: accepted; nodes carry no traces of where they were made.

    Raises:
      TypeError: if `graph` is no graph.
      tf.errors.OpError: if the file cannot be written.
      RuntimeError: in eager execution.
    """
    refuse_eager_execution()
    export = Export(_graph(graph), export_scope, clear_devices, saver_def, clear_extraneous_savers)
    found = export.message(export.nodes(graph_def), meta_info_def, collection_list, strip_default_attrs)
    if filename:
        write(filename, found, as_text)
    return found


@public("python.framework.meta_graph.create_meta_graph_def")
def create_meta_graph_def(
    meta_info_def=None, graph_def=None, saver_def=None, collection_list=None, graph=None, export_scope=None,
    exclude_nodes=None, clear_extraneous_savers=False, strip_default_attrs=False,
):  # fmt: skip
    """A MetaGraphDef message of nodes that are taken as they are, and of a graph's collections.

    Args:
      meta_info_def, graph_def, saver_def: messages that it is to have; by default the nodes are the graph's.
      collection_list: the names of the collections; by default all.
      graph: the graph; by default the default graph.
      export_scope: only what collections have of this name scope, and without its name.
      exclude_nodes: names of nodes that collections are not to mention.
      clear_extraneous_savers: whether the collection of Savers is to have that of `saver_def` alone.
      strip_default_attrs: without attributes that have their defaults.

    Raises:
      TypeError: for a graph or a message of another type.
    """
    kinds = {"meta_info_def": meta_info_def, "graph_def": graph_def, "saver_def": saver_def}
    types = {"meta_info_def": "MetaGraphDef.MetaInfoDef", "graph_def": "GraphDef", "saver_def": "SaverDef"}
    for name, value in kinds.items():
        if value and not isinstance(value, protobuf.message(types[name])):
            raise TypeError(f"{name} must be of type {types[name].rpartition('.')[2]}, not {type(value)}")
    graph = _graph(graph)
    export = Export(graph, export_scope, False, saver_def, clear_extraneous_savers, set(exclude_nodes or ()))
    nodes = graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def
    return export.message(nodes, meta_info_def, collection_list, strip_default_attrs)


def _graph(graph):
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"graph must be of type Graph, not {type(graph)}")
    return graph or get_default_graph()


def refuse_eager_execution():
    """Raises RuntimeError where there is no graph."""
    require_graph(
        "Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when "
        "eager execution is enabled."
    )


class Export:
    """One call: what is left out of the graph, and what it is called outside of its scope."""

    def __init__(self, graph, scope, clears_devices, saver_def, clears_savers, excluded=frozenset()):
        self._graph = graph
        self._scope = scope
        self._clears_devices = clears_devices
        self._saver_def = saver_def
        self._clears_savers = clears_savers
        self._excluded = excluded
        self._unbound: list = []

    def message(self, graph_def, meta_info_def, collection_list, strip_default_attrs):
        """The MetaGraphDef message of these nodes and the graph's collections."""
        proto = protobuf.message("MetaGraphDef")()
        if meta_info_def:
            proto.meta_info_def.CopyFrom(meta_info_def)
        proto.meta_info_def.tensorflow_version = "1.15.5"
        proto.meta_info_def.tensorflow_git_version = "v1.15.4-39-g3db52be"
        proto.graph_def.CopyFrom(graph_def)
        if not proto.meta_info_def.stripped_op_list.op:
            proto.meta_info_def.stripped_op_list.op.extend(_op_defs(proto.graph_def))
        if strip_default_attrs:
            _strip_defaults(proto.graph_def)
            proto.meta_info_def.stripped_default_attrs = True
        if self._saver_def:
            proto.saver_def.CopyFrom(self._saver_def)
        names = self._graph.collections if collection_list is None else collection_list
        for name in names:
            self._add_collection(proto, name)
        return proto

    # ---- Nodes ----------------------------------------------------------------------------------------------

    def nodes(self, graph_def=None, unbound_inputs=UNBOUND_INPUTS):
        """The GraphDef message of what is exported, of the graph or of `graph_def`.

        The names of inputs from outside of the scope become the collection `unbound_inputs` of the graph.
        """
        if graph_def is None:
            graph_def = self._graph.as_graph_def(add_shapes=True)
        if not (self._scope or self._clears_savers or self._clears_devices):
            return graph_def
        if self._clears_savers:
            self._excluded = _nodes_of_other_savers(graph_def, self._saver_def)
        found = protobuf.message("GraphDef")(versions=graph_def.versions, library=graph_def.library)
        for node in graph_def.node:
            if self.includes(node.name):
                self._fill_node(found.node.add(), node)
        if unbound_inputs:
            self._graph.clear_collection(unbound_inputs)
            for name in self._unbound:
                self._graph.add_to_collection(unbound_inputs, name)
        return found

    def includes(self, name):
        """Whether the node or tensor of that name is exported."""
        if name in self._excluded:
            return False
        return not self._scope or name.startswith((UNBOUND_PREFIX, self._scope))

    def _fill_node(self, to, node):
        to.CopyFrom(node)
        to.name = strip_name_scope(node.name, self._scope)
        if self._clears_devices:
            to.device = ""
        if not self._scope:
            return
        for i, text in enumerate(node.input):
            if text.lstrip("^").startswith(self._scope):
                to.input[i] = strip_name_scope(text, self._scope)
            else:
                to.input[i] = ("^" if text.startswith("^") else "") + UNBOUND_PREFIX + text.lstrip("^")
                self._unbound.append(to.input[i])
        if "_class" in node.attr:
            groups = [group.decode() for group in node.attr["_class"].list.s]
            inside = [group for group in groups if group.split("@")[-1].startswith(self._scope)]
            to.attr["_class"].list.s[:] = [strip_name_scope(group, self._scope).encode() for group in inside]
        if node.op in ("Enter", "RefEnter"):
            to.attr["frame_name"].s = strip_name_scope(node.attr["frame_name"].s.decode(), self._scope).encode()

    # ---- Collections ----------------------------------------------------------------------------------------

    def _add_collection(self, proto, name):
        if not isinstance(name, (str, bytes)):
            _log.warning("Only collections with string type keys will be serialized. This key has %s", type(name))
            return
        items = self._graph.get_collection(name)
        if self._clears_savers and name == GraphKeys.SAVERS:
            found = collection_protos.find(name)
            items = [] if found is None else [found.from_proto(self._saver_def)]
        items = [item for item in items if self._includes_item(item)]
        if not items:
            return
        try:
            self._fill_collection(proto.collection_def[name], name, items)
        except Exception as error:  # whatever the items' own functions raise
            _log.warning(
                "Issue encountered when serializing %s.\nType is unsupported, or the types of the items don't match "
                "field type in CollectionDef. Note this is a warning and probably safe to ignore.\n%s",
                name,
                error,
            )
            del proto.collection_def[name]

    def _includes_item(self, item):
        name = item if isinstance(item, str) else getattr(item, "name", None)
        return not isinstance(name, str) or self.includes(name)

    def _fill_collection(self, to, name, items):
        registered = collection_protos.find(name)
        if registered is not None:
            kind = registered.kind
            for item in items:
                message = registered.to_proto(item, export_scope=self._scope)
                if message is None:
                    continue
                if not isinstance(message, kind):
                    raise TypeError(f"{message!r} is no {kind.__name__}")
                to.bytes_list.value.append(protobuf.to_bytes(message))
            return
        first = items[0]
        if isinstance(first, (str, bytes)):
            to.bytes_list.value.extend(item.encode() if isinstance(item, str) else item for item in items)
        elif isinstance(first, int):
            to.int64_list.value.extend(items)
        elif isinstance(first, float):
            to.float_list.value.extend(items)
        elif getattr(getattr(first, "DESCRIPTOR", None), "full_name", "") == "google.protobuf.Any":
            to.any_list.value.extend(items)
        else:
            names = [item.name for item in items]
            inside = [item for item in names if not self._scope or item.startswith(self._scope)]
            to.node_list.value.extend(strip_name_scope(item, self._scope) for item in inside)


def _scope_of(node_name):
    return node_name.rpartition("/")[0]


def _nodes_of_other_savers(graph_def, saver_def):
    """The names of the nodes in scopes that save or restore, but for the scopes of `saver_def`."""
    saving = {node.name for node in graph_def.node if has_trait(node.op, "saves_or_restores")}
    scopes = {_scope_of(name) for name in saving} - saving
    if saver_def is not None:
        scopes -= {_scope_of(saver_def.save_tensor_name), _scope_of(saver_def.restore_op_name)}
    prefixes = tuple(f"{scope}/" for scope in scopes)
    return {node.name for node in graph_def.node if node.name.startswith(prefixes)} if prefixes else set()


@public("contrib.util.ops_used_by_graph_def", "python.framework.meta_graph.ops_used_by_graph_def")
def ops_used_by_graph_def(graph_def):
    """The types of the ops that a graph uses, sorted; those of functions that its nodes call as well.

    Functions that attributes name do not count, such as those of datasets: TensorFlow does not look there.
    """
    functions = {function.signature.name: function for function in graph_def.library.function}
    types: set = set()
    open_nodes = list(graph_def.node)
    while open_nodes:
        name = open_nodes.pop().op
        if name not in types and name in functions:
            open_nodes.extend(functions[name].node_def)
        types.add(name)
    return sorted(types - functions.keys())


def _op_defs(graph_def):
    found = (op_def.find(name) for name in ops_used_by_graph_def(graph_def))
    return [graph_defs.op_def_message(item) for item in found if item is not None]


@public("contrib.util.stripped_op_list_for_graph", "python.framework.meta_graph.stripped_op_list_for_graph")
def stripped_op_list_for_graph(graph_def):
    """An OpList message with the definitions of the ops that a graph uses. ValueError for one that is not known."""
    used = ops_used_by_graph_def(graph_def)
    unknown = [name for name in used if op_def.find(name) is None]
    if unknown:
        raise ValueError(f"Op {unknown[0]} is used by the graph, but is not registered")
    return protobuf.message("OpList")(op=_op_defs(graph_def))


def _strip_defaults(graph_def):
    nodes = [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]
    for node in nodes:
        found = op_def.find(node.op)
        if found is None:
            continue
        for attr in found.attrs.values():
            if attr.has_default and attr.name in node.attr and from_message(node.attr[attr.name]) == attr.default:
                del node.attr[attr.name]


def write(filename, proto, as_text):
    """Writes a message to a file, as text or binary; makes its folder."""
    if as_text:
        from google.protobuf import text_format

        data = text_format.MessageToString(proto, as_utf8=False, descriptor_pool=protobuf.pool()).encode()
    else:
        data = proto.SerializeToString(deterministic=True)
    with filesystem.typed_errors(filename):
        folder = os.path.dirname(filename)
        if folder:
            system, path = filesystem.system_of(folder)
            system.make_dirs(path)
        filesystem.write_atomically(filename, data)


@public("python.framework.meta_graph.read_meta_graph_file")
def read_meta_graph_file(filename):
    """The MetaGraphDef message in a file, binary or text.

    Raises:
      OSError: if there is no such file, or it has neither form.
      UnicodeDecodeError: if it is neither binary nor text.
    """
    from google.protobuf import message, text_format

    filename = filesystem.path_text(filename)
    system, path = filesystem.system_of(filename)
    if not system.exists(path):
        raise OSError(f"File {filename} does not exist.")
    with filesystem.typed_errors(filename), system.open(path, "rb") as file:
        data = file.read()
    kind = protobuf.message("MetaGraphDef")
    try:
        return kind.FromString(data)
    except message.DecodeError:
        pass
    try:
        return text_format.Merge(data.decode(), kind(), descriptor_pool=protobuf.pool())
    except text_format.ParseError as error:
        raise OSError(f"Cannot parse file {filename}: {error}.") from None
