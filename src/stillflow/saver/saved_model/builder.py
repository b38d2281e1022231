"""tf.saved_model.Builder and simple_save: write SavedModels."""

from __future__ import annotations

import filecmp
import logging
import os
import shutil

from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.saved_model import names
from stillflow.saver.saved_model.signatures import predict_signature_def
from stillflow.saver.saver import Saver, all_saveable_objects
from stillflow.variables.listing import global_variables_initializer, local_variables_initializer

_log = logging.getLogger("tensorflow")
_RESERVED = {names.INIT_OP_SIGNATURE_KEY: "initialization", names.TRAIN_OP_SIGNATURE_KEY: "the train op"}


@public("saved_model.Builder", "saved_model.builder.SavedModelBuilder")
class SavedModelBuilder:
    """Writes a SavedModel: first a graph with its variables, then further graphs over the same, then `save`.

    Each graph has tags, by which `tf.saved_model.load` finds it.
    """

    def __init__(self, export_dir):
        """Makes the folder.

        Raises:
          AssertionError: if it is there and not empty.
          tf.errors.OpError: if it cannot be made.
        """
        self._export_dir = filesystem.path_text(export_dir)
        self._saved_model = protobuf.message("SavedModel")(
            saved_model_schema_version=names.SAVED_MODEL_SCHEMA_VERSION
        )
        self._has_saved_variables = False
        with filesystem.typed_errors(self._export_dir):
            system, path = filesystem.system_of(self._export_dir)
            if not system.exists(path):
                system.make_dirs(path)
            elif system.list(path):
                raise AssertionError(
                    "Export directory already exists, and isn't empty. Please choose a different export directory, "
                    f"or delete all the contents of the specified directory: {self._export_dir}"
                )

    def add_meta_graph_and_variables(
        self, sess, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None, clear_devices=False,
        main_op=None, strip_default_attrs=False, saver=None,
    ):  # fmt: skip
        """Adds the default graph, and the values that its variables have in a session; to be called once, first.

        Args:
          sess: the session.
          tags: the names by which the graph is found.
          signature_def_map: SignatureDef messages by name.
          assets_collection: string constants, the paths of files that belong to the model; they are copied.
          legacy_init_op: an older name of `main_op`.
          clear_devices: whether to leave out the devices of the nodes.
          main_op: an operation to run whenever the graph has been loaded.
          strip_default_attrs: whether to leave out attributes that have their defaults.
          saver: the Saver to use; by default a new one for all variables.

        Raises:
          AssertionError: if it was called before, and for signatures whose tensors lack a name or type.
          KeyError: for a reserved name of a signature.
          TypeError, ValueError: for a `main_op` that is none, or is there already, and for assets that are no paths.
          tf.errors.OpError: if a variable has no value, or a file cannot be written.
        """
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op or legacy_init_op)
        variables_path = names.variables_path(self._export_dir)
        self._make_folder(os.path.dirname(variables_path))
        saver = saver or _new_saver()
        saver.save(sess, variables_path, write_meta_graph=False, write_state=False)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_saved_variables = True

    def add_meta_graph(
        self, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None, clear_devices=False,
        main_op=None, strip_default_attrs=False, saver=None,
    ):  # fmt: skip
        """Adds the default graph, which is to have variables of those names that have been saved.

        Arguments and errors are those of `add_meta_graph_and_variables`, which has to be called first.
        """
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op or legacy_init_op)
        self._add(saver or _new_saver(), tags, signature_def_map, clear_devices, strip_default_attrs)

    def _add_meta_graph_with_ops(self, tags, signatures, saver, init_op=None, train_op=None):
        """Adds the default graph as newer SavedModels have it: with operations in signatures, not in collections.

        The values of its variables are in the folder already.
        """
        _check_signatures(signatures)
        found = dict(signatures)
        for key, op in ((names.INIT_OP_SIGNATURE_KEY, init_op), (names.TRAIN_OP_SIGNATURE_KEY, train_op)):
            if op is not None:
                found[key] = protobuf.message("SignatureDef")()
                found[key].outputs[key].name = op.name
                found[key].outputs[key].tensor_shape.unknown_rank = True
        self._add(saver, tags, found, clear_devices=False, strip_default_attrs=True)
        self._has_saved_variables = True

    def save(self, as_text=False):
        """Writes the file that makes the folder a SavedModel, as text or binary, and returns its path as bytes."""
        self._make_folder(self._export_dir)
        name = names.SAVED_MODEL_FILENAME_PBTXT if as_text else names.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._export_dir, name)
        if as_text:
            from google.protobuf import text_format

            text = text_format.MessageToString(self._saved_model, as_utf8=False, descriptor_pool=protobuf.pool())
            data = text.encode()
        else:
            data = protobuf.to_bytes(self._saved_model)
        with filesystem.typed_errors(path):
            filesystem.write_atomically(path, data)
        _log.info("SavedModel written to: %s", path)
        return os.fsencode(path)

    # ---- The parts ------------------------------------------------------------------------------------------

    def _add(self, saver, tags, signature_def_map, clear_devices, strip_default_attrs):
        found = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        found.meta_info_def.tags.extend(tags)
        for key, signature in (signature_def_map or {}).items():
            found.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.add().CopyFrom(found)

    def _add_collections(self, assets, main_op):
        self._add_assets(assets)
        if main_op is None:
            return
        if not isinstance(main_op, Operation):
            raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
        graph = get_default_graph()
        for key in (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY):
            if graph.get_collection(key):
                raise ValueError(f"Graph already contains one or more main ops under the collection {key}.")
        graph.add_to_collection(names.MAIN_OP_KEY, main_op)

    def _add_train_op(self, train_op):
        """Notes the operation, or tensor, that does a step of training."""
        if train_op is None:
            return
        if not isinstance(train_op, (Tensor, Operation)):
            raise TypeError(f"train_op needs to be a Tensor or Op: {train_op!r}")
        get_default_graph().add_to_collection(names.TRAIN_OP_KEY, train_op)

    def _add_assets(self, assets):
        sources: dict = {}  # name in the SavedModel -> path
        if assets is None:
            _log.info("No assets to save.")
        for tensor in assets or ():
            path = _asset_path(tensor)
            name = _asset_name(path, sources)
            asset = protobuf.message("AssetFileDef")(filename=name)
            asset.tensor_info.name = tensor.name
            get_default_graph().add_to_collection(names.ASSETS_KEY, protobuf.packed(asset))
            sources[name] = path
        if assets is not None:
            _log.info("Assets added to graph.")
        if not sources:
            _log.info("No assets to write.")
            return
        folder = os.path.join(self._export_dir, names.ASSETS_DIRECTORY)
        self._make_folder(folder)
        for name, path in sources.items():
            _copy(path, os.path.join(folder, name))
        _log.info("Assets written to: %s", folder)

    def _make_folder(self, folder):
        with filesystem.typed_errors(folder):
            system, path = filesystem.system_of(folder)
            system.make_dirs(path)


def _new_saver():
    return Saver(all_saveable_objects(), sharded=True, allow_empty=True)


def _check_signatures(signatures):
    for signature in signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            _check_tensor_info(info)
    for key, purpose in _RESERVED.items():
        if key in signatures:
            raise KeyError(f'SignatureDef map key "{key}" is reserved for {purpose}. Please use a different key.')


def _check_tensor_info(info):
    encoding = info.WhichOneof("encoding")
    if encoding is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have one of the 'encoding' fields (e.g., name or "
            f"coo_sparse) set: {info}"
        )
    if encoding == "composite_tensor":
        for component in info.composite_tensor.components:
            _check_tensor_info(component)
    elif not info.dtype:
        raise AssertionError(f"All TensorInfo protos used in the SignatureDefs must have the dtype field set: {info}")


# ---- Assets -------------------------------------------------------------------------------------------------------


def _asset_path(tensor):
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError("Asset path tensor must be of type constant.")
    if tensor.dtype != dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    values = tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    if not values[0]:
        raise ValueError(f"Invalid asset filepath tensor {tensor}")
    return os.fsdecode(values[0])


def _asset_name(path, sources):
    """The file's name; with a number if another file of other content has it."""
    name = os.path.basename(path)
    if sources.get(name, path) == path or _is_same_file(path, sources[name]):
        return name
    number, unique = 1, name
    while unique in sources:
        unique = f"{name}_{number}"
        number += 1
    return unique


def _is_same_file(first, second):
    with filesystem.typed_errors(first):
        if filesystem.system_of(first)[0] is filesystem.LOCAL and filesystem.system_of(second)[0] is filesystem.LOCAL:
            return filecmp.cmp(first, second, shallow=False)
        return _content(first) == _content(second)


def _content(path):
    system, own = filesystem.system_of(path)
    with system.open(own, "rb") as file:
        return file.read()


def _copy(source, target):
    with filesystem.typed_errors(source):
        system, path = filesystem.system_of(target)
        if system.exists(path):
            return
        from_system, from_path = filesystem.system_of(source)
        with from_system.open(from_path, "rb") as reader, system.open(path, "wb") as writer:
            shutil.copyfileobj(reader, writer)


# ---- Around the builder -------------------------------------------------------------------------------------------


@public("saved_model.simple_save")
def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """Writes a SavedModel of the default graph for servers, with one signature, "serving_default".

    Args:
      session: the session with the variables.
      export_dir: the folder, which must be empty or not there.
      inputs, outputs: tensors by the names that callers use.
      legacy_init_op: an operation to run whenever the graph has been loaded.

    Errors are those of tf.saved_model.Builder.
    """
    signature = predict_signature_def(inputs, outputs)
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        tags=[names.SERVING],
        signature_def_map={names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature},
        assets_collection=get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()


@public("saved_model.main_op.main_op")
def main_op():
    """An operation that initializes all variables, local variables and tables; a `main_op` for a builder."""
    init = global_variables_initializer()
    init_local = local_variables_initializer()
    tables = get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(init, init_local, group(*tables, name="init_all_tables"))


@public("saved_model.main_op_with_restore", "saved_model.main_op.main_op_with_restore")
def main_op_with_restore(restore_op_name):
    """`main_op`, and then the operation that restores."""
    with get_default_graph().control_dependencies([main_op()]):
        return group(restore_op_name)
