"""tf.contrib.session_bundle.exporter: writes a model as a MetaGraph with signatures, a checkpoint and files."""

from __future__ import annotations

import re

from stillflow.contrib.session_bundle import constants
from stillflow.contrib.session_bundle.manifest import message
from stillflow.estimator.kept_exports import get_paths, negation
from stillflow.files import gfile
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.contexts import add_to_collection
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public_module
from stillflow.platform.compat import as_text
from stillflow.saver.saver import Saver
from stillflow.training.global_step import global_step as value_of_step
from stillflow.training_loop.messages import log

public_module("contrib.session_bundle.exporter")


def gfile_copy_callback(files_to_copy, export_dir_path):
    """Copies files into a folder.

    Args:
      files_to_copy: {path: name in the folder}.
      export_dir_path: the folder, made if it is not there.
    """
    log().info("Write assets into: %s using gfile_copy.", export_dir_path)
    gfile.MakeDirs(export_dir_path)
    for path, name in files_to_copy.items():
        target = f"{as_text(export_dir_path)}/{as_text(name)}"
        log().info("Copying asset %s to path %s.", path, target)
        gfile.Copy(path, target, overwrite=True)


# ---- Signatures ---------------------------------------------------------------------------------------------


def regression_signature(input_tensor, output_tensor):
    """The Signature of a model that makes a number of an input."""
    signature = message("Signature")()
    signature.regression_signature.input.tensor_name = input_tensor.name
    signature.regression_signature.output.tensor_name = output_tensor.name
    return signature


def classification_signature(input_tensor, classes_tensor=None, scores_tensor=None):
    """The Signature of a model that makes classes, scores or both of an input."""
    signature = message("Signature")()
    found = signature.classification_signature
    found.input.tensor_name = input_tensor.name
    if classes_tensor is not None:
        found.classes.tensor_name = classes_tensor.name
    if scores_tensor is not None:
        found.scores.tensor_name = scores_tensor.name
    return signature


def generic_signature(name_tensor_map):
    """The Signature that gives tensors names: {name: tensor}."""
    signature = message("Signature")()
    for name, tensor in name_tensor_map.items():
        signature.generic_signature.map[name].tensor_name = tensor.name
    return signature


# ---- Exports ------------------------------------------------------------------------------------------------


class Exporter:
    """Writes a model. `init` says what of it, once; `export` writes it, for a step.

    Args:
      saver: the Saver of its variables.
    """

    def __init__(self, saver):
        saver_def = saver.as_saver_def()
        saver_def.ClearField("max_to_keep")
        self._saver = Saver(saver_def=saver_def)
        self._is_ready = False
        self._assets_to_copy = {}
        self._assets_callback = None

    def init(
        self, graph_def=None, init_op=None, clear_devices=False, default_graph_signature=None,
        named_graph_signatures=None, assets_collection=None, assets_callback=gfile_copy_callback,
    ):  # fmt: skip
        """Puts what an export has besides its variables into collections of the default graph.

        Args:
          graph_def: the GraphDef to serve, if it is another than the default graph.
          init_op: the operation to run when it is loaded.
          clear_devices: whether the GraphDef has no devices.
          default_graph_signature: a Signature.
          named_graph_signatures: {name: Signature}.
          assets_collection: string constants, the paths of files that belong to it.
          assets_callback: copies files; see gfile_copy_callback.

        Raises:
          ValueError: for a path of a file that is empty.
          TypeError: for one that is no string constant, and an `init_op` that is no operation.
          RuntimeError: if it is called twice.
        """
        assets = []
        for tensor in assets_collection or ():
            path = _path_of(tensor)
            if not path:
                raise ValueError(f"invalid asset filepath tensor {tensor}")
            name = path.rpartition(b"/")[2]
            assets.append((name, tensor))
            self._assets_to_copy[path] = name
        if self._is_ready:
            raise RuntimeError("init should be called only once")
        self._is_ready = True
        if graph_def or clear_devices:
            served = protobuf.message("GraphDef")()
            served.CopyFrom(graph_def or get_default_graph().as_graph_def())
            if clear_devices:
                for node in served.node:
                    node.device = ""
            add_to_collection(constants.GRAPH_KEY, protobuf.packed(served))
        if init_op:
            if not isinstance(init_op, Operation):
                raise TypeError(f"init_op needs to be an Operation: {init_op}")
            add_to_collection(constants.INIT_OP_KEY, init_op)
        signatures = message("Signatures")()
        if default_graph_signature:
            signatures.default_signature.CopyFrom(default_graph_signature)
        for name, signature in (named_graph_signatures or {}).items():
            signatures.named_signatures[name].CopyFrom(signature)
        add_to_collection(constants.SIGNATURES_KEY, protobuf.packed(signatures))
        for name, tensor in assets:
            asset = message("AssetFile")(filename=name.decode())
            asset.tensor_binding.tensor_name = tensor.name
            add_to_collection(constants.ASSETS_KEY, protobuf.packed(asset))
        self._assets_callback = assets_callback

    def export(self, export_dir_base, global_step_tensor, sess=None, exports_to_keep=None):
        """Writes the model into a new folder that is called after the step. Returns its path, as bytes.

        Args:
          export_dir_base: where to make the folder.
          global_step_tensor: the step, a scalar tensor of ints.
          sess: the session with the variables' values.
          exports_to_keep: a function of the list of exports to those that stay; all by default.

        Raises RuntimeError before `init`, and if the folder is there.
        """
        if not self._is_ready:
            raise RuntimeError("init must be called first")
        base = export_dir_base.removesuffix("/")
        folder = f"{base}/{constants.VERSION_FORMAT_SPECIFIER % value_of_step(sess, global_step_tensor)}"
        if gfile.Exists(folder):
            raise RuntimeError(
                f"Overwriting exports can cause corruption and are not allowed. Duplicate export dir: {folder}"
            )
        temporary = f"{folder}-tmp"
        gfile.MakeDirs(temporary)
        self._saver.save(
            sess, f"{temporary}/{constants.EXPORT_BASE_NAME}", meta_graph_suffix=constants.EXPORT_SUFFIX_NAME
        )
        if self._assets_callback and self._assets_to_copy:
            assets_dir = f"{temporary}/{constants.ASSETS_DIRECTORY}".encode()
            gfile.MakeDirs(assets_dir)
            self._assets_callback(self._assets_to_copy, assets_dir)
        gfile.Rename(temporary, folder)
        if exports_to_keep:
            for path in negation(exports_to_keep)(get_paths(base, parser=_with_step(base))):
                gfile.DeleteRecursively(path.path)
        return folder.encode()


def _with_step(base):
    def parse(path):
        found = re.match(rf"^{re.escape(base)}/(\d{{8}})$", path.path)
        return path._replace(export_version=int(found.group(1))) if found else None

    return parse


def _path_of(tensor):
    """The path that a constant is, bytes. Raises TypeError if it is none."""
    if not isinstance(tensor, Tensor):
        raise TypeError("tensor is not a Tensor")
    if tensor.op.type != "Const":
        raise TypeError("Only constants tensor are supported")
    if tensor.dtype != dtypes.string:
        raise TypeError("File paths should be string")
    values = tensor.op.get_attr("value").string_val
    if len(values) != 1:
        raise TypeError("Only scalar tensors are supported")
    return values[0]
