"""tf.saved_model.Builder and simple_save: write SavedModels."""

from __future__ import annotations

import logging
import os

from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.saved_model import assets, names
from stillflow.saver.saved_model.signatures import op_signature_def, predict_signature_def
from stillflow.saver.saver import Saver, all_saveable_objects
from stillflow.variables.listing import global_variables_initializer, local_variables_initializer

_log = logging.getLogger("tensorflow")
_RESERVED = {names.INIT_OP_SIGNATURE_KEY: "initialization", names.TRAIN_OP_SIGNATURE_KEY: "the train op"}


@public("python.saved_model.builder._SavedModelBuilder", "python.saved_model.builder_impl._SavedModelBuilder")
class _SavedModelBuilder:
    """A builder whose graphs keep the operations to run, and the assets, in fields of their own.

    The public builder keeps them in collections, as older SavedModels do.
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
        self, sess, tags, signature_def_map=None, assets_list=None, clear_devices=False, init_op=None, train_op=None,
        strip_default_attrs=False, saver=None,
    ):  # fmt: skip
        """Adds the default graph, and the values that its variables have in a session; to be called once, first.

        Args:
          init_op: an operation to run whenever the graph has been loaded.
          train_op: the operation, or tensor, that does a step of training.
          assets_list, and the others: as `tf.saved_model.Builder.add_meta_graph_and_variables` has them.
        """
        self._check_is_first()
        signatures = _with_operations(signature_def_map, init_op, train_op)
        saver = self._save_variables(sess, saver)
        self._add(saver, tags, signatures, clear_devices, strip_default_attrs, assets_list)
        self._has_saved_variables = True

    def add_meta_graph(
        self, tags, signature_def_map=None, assets_list=None, clear_devices=False, init_op=None, train_op=None,
        saver=None,
    ):  # fmt: skip
        """Adds the default graph, which is to have variables of those names that have been saved.

        Arguments are those of `add_meta_graph_and_variables`, which has to be called first.
        """
        self._check_is_not_first()
        signatures = _with_operations(signature_def_map, init_op, train_op)
        self._add(saver or _new_saver(), tags, signatures, clear_devices, True, assets_list)

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

    def _add_meta_graph_with_ops(self, tags, signatures, saver, init_op=None, train_op=None):
        """Adds the default graph when the values of its variables are in the folder already."""
        self._add(saver, tags, _with_operations(dict(signatures), init_op, train_op), False, True)
        self._has_saved_variables = True

    def _check_is_first(self):
        if self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )

    def _check_is_not_first(self):
        if not self._has_saved_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )

    def _save_variables(self, sess, saver):
        variables_path = names.variables_path(self._export_dir)
        self._make_folder(os.path.dirname(variables_path))
        saver = saver or _new_saver()
        saver.save(sess, variables_path, write_meta_graph=False, write_state=False)
        return saver

    def _add(self, saver, tags, signature_def_map, clear_devices, strip_default_attrs, assets_list=None):
        found = saver.export_meta_graph(clear_devices=clear_devices, strip_default_attrs=strip_default_attrs)
        found.meta_info_def.tags.extend(tags)
        if assets_list is not None:
            self._copy_assets(assets_list, found.asset_file_def.append)
        for key, signature in (signature_def_map or {}).items():
            found.signature_def[key].CopyFrom(signature)
        self._saved_model.meta_graphs.add().CopyFrom(found)

    def _copy_assets(self, tensors, add):
        """Copies the files that the tensors name, and tells `add` of each."""
        sources: dict = {}  # name in the SavedModel -> path
        if tensors is None:
            _log.info("No assets to save.")
        for tensor in tensors or ():
            path = assets.path_of(tensor)
            name = assets.name_of(path, sources)
            asset = protobuf.message("AssetFileDef")(filename=name)
            asset.tensor_info.name = tensor.name
            add(asset)
            sources[name] = path
        if tensors is not None:
            _log.info("Assets added to graph.")
        if sources:
            assets.copy_all(sources, self._export_dir)
        else:
            _log.info("No assets to write.")

    def _make_folder(self, folder):
        with filesystem.typed_errors(folder):
            system, path = filesystem.system_of(folder)
            system.make_dirs(path)


@public("saved_model.Builder", "saved_model.builder.SavedModelBuilder")
class SavedModelBuilder(_SavedModelBuilder):
    """Writes a SavedModel: first a graph with its variables, then further graphs over the same, then `save`.

    Each graph has tags, by which `tf.saved_model.load` finds it.
    """

    def add_meta_graph_and_variables(  # type: ignore[override]
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
        self._check_is_first()
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op or legacy_init_op)
        saver = self._save_variables(sess, saver)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_saved_variables = True

    def add_meta_graph(  # type: ignore[override]
        self, tags, signature_def_map=None, assets_collection=None, legacy_init_op=None, clear_devices=False,
        main_op=None, strip_default_attrs=False, saver=None,
    ):  # fmt: skip
        """Adds the default graph, which is to have variables of those names that have been saved.

        Arguments and errors are those of `add_meta_graph_and_variables`, which has to be called first.
        """
        self._check_is_not_first()
        _check_signatures(signature_def_map or {})
        self._add_collections(assets_collection, main_op or legacy_init_op)
        self._add(saver or _new_saver(), tags, signature_def_map, clear_devices, strip_default_attrs)

    def _add_collections(self, assets_collection, main_op):
        self._copy_assets(
            assets_collection,
            lambda asset: get_default_graph().add_to_collection(names.ASSETS_KEY, protobuf.packed(asset)),
        )
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


def _new_saver():
    return Saver(all_saveable_objects(), sharded=True, allow_empty=True)


def _with_operations(signatures, init_op, train_op):
    """The signatures, and those that name the operations to run."""
    _check_signatures(signatures or {})
    operations = {names.INIT_OP_SIGNATURE_KEY: init_op, names.TRAIN_OP_SIGNATURE_KEY: train_op}
    signatures = {} if signatures is None else signatures
    signatures.update({key: op_signature_def(op, key) for key, op in operations.items() if op is not None})
    return signatures


def _check_signatures(signatures):
    for signature in signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            _check_tensor_info(info)
    for key, purpose in _RESERVED.items():
        if key in signatures:
            raise KeyError(f'SignatureDef map key "{key}" is reserved for {purpose}. Please use a different key.')


def _check_tensor_info(info):
    if info is None:
        raise AssertionError(
            "All TensorInfo protos used in the SignatureDefs must have the name and dtype fields set."
        )
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
