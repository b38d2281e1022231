"""tf.train.import_meta_graph: the nodes and collections of a MetaGraph, added to the default graph."""

from __future__ import annotations

import logging
import re

from stillflow.formats import protobuf
from stillflow.graph import collection_protos
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.inner_functions import prepend_name_scope, strip_name_scope
from stillflow.importer.import_graph_def import import_graph_def
from stillflow.names import public
from stillflow.saver.meta_graph import (
    UNBOUND_INPUTS,
    read_meta_graph_file,
    refuse_eager_execution,
)
from stillflow.saver.saver import Saver, all_saveable_objects

_log = logging.getLogger("tensorflow")


@public("train.import_meta_graph")
def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds a MetaGraph to the default graph: its nodes, and what its collections have.

    Args:
      meta_graph_or_file: a MetaGraphDef message, or the name of a file with one, binary or text.
      clear_devices: whether to forget the devices of the nodes.
      import_scope: a name scope to put everything in.
      **kwargs: input_map, unbound_inputs_col_name and restore_collections_predicate: {name of a tensor in the
        MetaGraph: what to read in its place}; the collection that says what has to be in it; and a function of a
        collection's name that says whether it is wanted.

    Returns:
      A Saver over the imported nodes; without a SaverDef a new one; None if there are no variables.

    Raises:
      OSError: if there is no such file.
      TypeError: for what is neither message nor name.
      ValueError: if inputs are missing, and as import_graph_def.
      RuntimeError: in eager execution.
    """
    refuse_eager_execution()
    return import_with_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def import_with_elements(
    meta_graph_or_file, clear_devices=False, import_scope=None, return_elements=None, input_map=None,
    unbound_inputs_col_name=UNBOUND_INPUTS, restore_collections_predicate=lambda key: True,
):  # fmt: skip
    """import_meta_graph that also returns what `return_elements` names."""
    proto = read_message(meta_graph_or_file)
    elements, scope = add_to_graph(
        proto, clear_devices, import_scope, return_elements, input_map, unbound_inputs_col_name,
        restore_collections_predicate,
    )  # fmt: skip
    return _saver(proto, get_default_graph(), scope, import_scope), elements


def read_message(meta_graph_or_file):
    """The MetaGraphDef message that is given, copied, or that a file has."""
    if not isinstance(meta_graph_or_file, protobuf.message("MetaGraphDef")):
        return read_meta_graph_file(meta_graph_or_file)
    copy = type(meta_graph_or_file)()
    copy.CopyFrom(meta_graph_or_file)
    return copy


def add_to_graph(
    proto, clear_devices, import_scope, return_elements, input_map, unbound_inputs, restore_collections_predicate
):
    """Adds a MetaGraph's nodes and collections to the default graph: (the elements asked for, its scope there)."""
    _check_inputs(proto, unbound_inputs, input_map)
    graph = get_default_graph()
    if clear_devices:
        for node in proto.graph_def.node:
            node.device = ""
    scope = graph.unique_name(import_scope or "", mark_as_used=False)
    producer_ops = proto.meta_info_def.stripped_op_list if proto.meta_info_def.HasField("stripped_op_list") else None
    elements = import_graph_def(
        proto.graph_def,
        name=import_scope or scope,
        input_map=input_map,
        producer_op_list=producer_ops,
        return_elements=return_elements,
    )
    _Collections(graph, scope, _says_trainable(proto.meta_info_def.tensorflow_version)).add(
        proto.collection_def, unbound_inputs, restore_collections_predicate
    )
    return elements, scope


def _check_inputs(proto, collection, input_map):
    if not collection or collection not in proto.collection_def:
        return
    needed = proto.collection_def[collection]
    values = [
        value.decode() if isinstance(value, bytes) else value
        for value in getattr(needed, needed.WhichOneof("kind") or "node_list").value
    ]
    if values and sorted(values) != sorted(input_map or ()):
        missing = ",".join(value for value in values if not input_map or value not in input_map)
        raise ValueError(f"Graph contains unbound inputs: {missing}. Must provide these inputs through input_map.")


def _says_trainable(version):
    """Whether VariableDefs of that TensorFlow say what is trainable: since 1.9, or so long ago that no version is
    written."""
    numbers = re.findall(r"\d+", version)[:2]
    return len(numbers) < 2 or tuple(int(number) for number in numbers) >= (1, 9)


class _Collections:
    """Adds the collections of one MetaGraph to the graph."""

    def __init__(self, graph, scope, says_trainable):
        self._graph = graph
        self._scope = scope
        self._says_trainable = says_trainable
        self._variables: dict = {}  # bytes of the VariableDef -> variable: one object in several collections

    def add(self, collections, unbound_inputs, predicate):
        for name in sorted(collections, key=lambda name: (name != GraphKeys.TRAINABLE_VARIABLES, name)):
            if name == unbound_inputs or not predicate(name):
                continue
            definition = collections[name]
            kind = definition.WhichOneof("kind")
            if kind is None:
                _log.error("Cannot identify data type for collection %s. Skipping.", name)
                continue
            for item in self._items(name, kind, getattr(definition, kind).value):
                self._graph.add_to_collection(name, item)

    def _items(self, name, kind, values):
        registered = collection_protos.find(name)
        if registered is not None and kind == "bytes_list":
            if name in GraphKeys._VARIABLE_COLLECTIONS:
                return [self._variable(name, registered, value) for value in values]
            parse = registered.kind.FromString
            return [registered.from_proto(parse(value), import_scope=self._scope) for value in values]
        if registered is not None:
            _log.warning(
                "The saved meta_graph is possibly from an older release:\n'%s' collection should be of type "
                "'byte_list', but instead is of type '%s'.",
                name,
                kind,
            )
        if kind == "node_list":
            return [self._graph.as_graph_element(prepend_name_scope(value, self._scope)) for value in values]
        if kind == "bytes_list" and self._scope:
            return [prepend_name_scope(value.decode("utf-8", "surrogateescape"), self._scope) for value in values]
        return list(values)

    def _variable(self, name, registered, value):
        if value not in self._variables:
            message = registered.kind.FromString(value)
            if not self._says_trainable:
                message.trainable = name == GraphKeys.TRAINABLE_VARIABLES
            self._variables[value] = registered.from_proto(message, import_scope=self._scope)
        return self._variables[value]


def _saver(proto, graph, scope, import_scope):
    if proto.HasField("saver_def"):
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)
        if variables:
            name = variables[0].name
            import_scope = name[: len(name) - len(strip_name_scope(name, scope))]
        return Saver(saver_def=proto.saver_def, name=import_scope)
    if all_saveable_objects(scope=import_scope):
        return Saver()
    _log.info("Saver not created because there are no variables in the graph to restore")
    return None
