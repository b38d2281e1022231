"""tf.saved_model.load_v2: brings back the object of a SavedModel, with its variables and functions."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.files import filesystem
from stillflow.graph import nest, tensor_proto
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import init_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.structure_coder import StructureCoder
from stillflow.names import public
from stillflow.resources.trackable import CapturableResource, TrackableAsset
from stillflow.saved_objects import graph_models
from stillflow.saved_objects.function_library import load_function_def_library
from stillflow.saved_objects.restored_functions import recreate_function, setup_bare_concrete_function
from stillflow.saved_objects.restored_resource import RestoredResource
from stillflow.saver.objects.checkpoint import ObjectSaver
from stillflow.saver.saved_model import names
from stillflow.saver.saved_model.loader import read_saved_model
from stillflow.tracking import revived_types
from stillflow.tracking.structures import AutoTrackable
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.creators import variable_creator_scope
from stillflow.variables.resource_variable import is_resource_variable
from stillflow.variables.uninitialized import uninitialized_variable
from stillflow.variables.variable import Variable


@public("saved_model.load_v2", "python.saved_model.load.load")
@public("compat.v2.saved_model.load")
def load(export_dir, tags=None):
    """The object of a SavedModel, with what it depends on, its variables' values, and its functions.

    Of the program's own classes only the attributes come back. `signatures` are the functions that servers call, by
    name. A SavedModel of a session's graph comes back as an object with `signatures`, `variables`, `graph` and
    `prune`, which makes functions of parts of the graph.

        loaded = tf.saved_model.load_v2("/tmp/adder")
        loaded.add(1.0)
        loaded.signatures["serving_default"](x=tf.constant(1.0))

    Args:
      export_dir: the folder.
      tags: a tag, or several, of the graph; not needed if there is only one graph.

    Raises:
      OSError: if there is no SavedModel, or its file is damaged.
      ValueError: if no graph has these tags.
      tf.errors.OpError: if the variables cannot be read.
    """
    return load_internal(export_dir, tags)


@public("python.saved_model.load.load_internal")
def load_internal(export_dir, tags=None, loader_cls=None):
    """See `load`; `loader_cls` is the class, a Loader, that makes the objects."""
    export_dir = filesystem.path_text(export_dir)
    if tags is not None and not isinstance(tags, set):
        tags = nest.flatten(tags)
    saved_model = read_saved_model(export_dir)
    meta_graph = saved_model.meta_graphs[0]
    if len(saved_model.meta_graphs) != 1 or not meta_graph.HasField("object_graph_def"):
        with init_scope():
            return graph_models.load(export_dir, tags)
    known = meta_graph.meta_info_def.tags
    if tags is not None and set(tags) != set(known):
        raise ValueError(
            f"The SavedModel at {export_dir} has one MetaGraph with tags {known}, but got an incompatible argument "
            f"tags={tags} to tf.saved_model.load. You may omit it, pass 'None', or pass matching tags."
        )
    with init_scope():
        root = (loader_cls or Loader)(meta_graph.object_graph_def, saved_model, export_dir).get(0)
    root.tensorflow_version = meta_graph.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta_graph.meta_info_def.tensorflow_git_version
    return root


def _call_attribute(instance, *args, **kwargs):
    return instance.__call__(*args, **kwargs)


@public("python.saved_model.load.Loader")
class Loader:
    """Makes the objects of a SavedModel.

    Args:
      object_graph_proto: the SavedObjectGraph message.
      saved_model_proto: the SavedModel message that it is in.
      export_dir: the folder.
    """

    def __init__(self, object_graph_proto, saved_model_proto, export_dir):
        meta_graph = saved_model_proto.meta_graphs[0]
        self._proto = object_graph_proto
        self._export_dir = export_dir
        self._asset_file_def = meta_graph.asset_file_def
        self._graph_nodes = {node.name: node for node in meta_graph.graph_def.node}
        self._concrete_functions = load_function_def_library(meta_graph.graph_def.library)
        self._nodes: list = []
        self._load_all()
        for name, proto in sorted(self._proto.concrete_functions.items()):
            self._set_structures(self._concrete_functions[name], proto)
        for name, proto in sorted(self._proto.concrete_functions.items()):
            self._set_captures(self._concrete_functions[name], proto)
        self._restore_checkpoint()
        for value in self._nodes:
            if isinstance(value, CapturableResource):
                add_table_initializer(value._initialize())

    def get(self, node_id):
        """The object of that number."""
        return self._nodes[node_id]

    # ---- Functions ------------------------------------------------------------------------------------------

    def _set_structures(self, concrete, proto):
        coder = StructureCoder()
        concrete.graph.structured_outputs = coder.decode_proto(proto.output_signature)
        concrete.graph.structured_input_signature = coder.decode_proto(proto.canonicalized_input_signature)

    def _set_captures(self, concrete, proto):
        bound = [self._nodes[number] for number in proto.bound_inputs]
        with init_scope():
            captured = [tensor_of(value) for value in bound]
        concrete.set_captured_inputs(captured, [value for value in bound if is_resource_variable(value)])

    # ---- Objects --------------------------------------------------------------------------------------------

    def _load_all(self):
        """Makes all objects, and what they depend on attributes of them."""
        nodes: dict = {}
        setters: dict = {}
        slots = {slot.slot_variable_node_id for proto in self._proto.nodes for slot in proto.slot_variables}
        for number, proto in enumerate(self._proto.nodes):
            if number not in slots:
                nodes[number], setters[number] = self._recreate(proto)
        for number, proto in enumerate(self._proto.nodes):
            for slot in proto.slot_variables:
                variable = nodes[slot.original_variable_node_id]
                made = nodes[number].add_slot(var=variable, slot_name=slot.slot_name)
                nodes[slot.slot_variable_node_id], setters[slot.slot_variable_node_id] = made, setattr
        self._nodes = [nodes[number] for number in range(len(self._proto.nodes))]
        for number, proto in enumerate(self._proto.nodes):
            value = nodes[number]
            for child in proto.children:
                setters[number](value, child.local_name, nodes[child.node_id])
                if child.local_name == "__call__" and not callable(value):
                    type(value).__call__ = _call_attribute

    def _restore_checkpoint(self):
        """Gives the variables their values; in graphs, their initializers do that."""
        path = names.variables_path(self._export_dir)
        saver = ObjectSaver(self.get(0))
        saver.set_restore_prefix(path)
        status = saver.restore(path)
        status.expect_partial()  # what a program's classes made of themselves has no counterpart
        status.assert_existing_objects_matched()
        for value, operations in status.restore_operations():
            if not operations:
                continue
            if not is_resource_variable(value):
                raise NotImplementedError(
                    f"Missing functionality to restore state of object {value!r} from the checkpoint."
                )
            (value._initializer_op,) = operations

    def _recreate(self, proto) -> Any:
        """(the object of a SavedObject message, the function that sets what it depends on)."""
        kind = proto.WhichOneof("kind")
        if kind == "user_object":
            return self._recreate_user_object(proto.user_object)
        if kind == "resource":
            return RestoredResource(proto.resource.device), RestoredResource.add_function
        makers = {
            "asset": self._asset,
            "function": lambda saved: recreate_function(saved, self._concrete_functions),
            "bare_concrete_function": lambda saved: setup_bare_concrete_function(saved, self._concrete_functions),
            "variable": _variable,
            "constant": self._constant,
        }
        if kind not in makers:
            raise ValueError(f"Unknown SavedObject type: {kind!r}")
        return makers[kind](getattr(proto, kind)), setattr

    def _recreate_user_object(self, proto):
        return revived_types.deserialize(proto) or self._recreate_base_user_object(proto)

    def _recreate_base_user_object(self, proto):
        # A class of its own, which may get a __call__.
        return type("_UserObject", (AutoTrackable,), {})(), setattr

    def _asset(self, proto):
        filename = self._asset_file_def[proto.asset_file_def_index].filename
        return TrackableAsset(names.asset_path(self._export_dir, filename))

    def _constant(self, proto):
        return ops.constant(tensor_proto.make_ndarray(self._graph_nodes[proto.operation].attr["value"].tensor))


def _variable(proto):
    with variable_creator_scope(lambda next_creator, **options: uninitialized_variable(**options)):
        return Variable(
            shape=proto.shape, dtype=proto.dtype, name=proto.name or None, trainable=proto.trainable,
            synchronization=VariableSynchronization(proto.synchronization),
            aggregation=VariableAggregation(proto.aggregation),
        )  # fmt: skip


def tensor_of(value):
    """The tensor that functions capture of an object. Raises ValueError if there is none."""
    if is_resource_variable(value):
        return value.handle
    if isinstance(value, TrackableAsset):
        return value.asset_path
    if isinstance(value, Tensor):
        return value
    if isinstance(value, CapturableResource):
        return value.resource_handle
    raise ValueError(f"Can't convert node {type(value)} to tensor")


@by_mode
def add_table_initializer(operation):
    """Makes tf.tables_initializer run what fills a resource."""
    get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, operation)


@eager_version_of(add_table_initializer)
def nothing_to_run_later(operation):
    """The resource has been filled."""
