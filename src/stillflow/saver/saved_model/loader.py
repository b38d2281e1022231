"""tf.saved_model.load: a graph of a SavedModel, with its variables, into a session."""

from __future__ import annotations

import logging
import os

from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.saver.meta_graph import prefixed
from stillflow.saver.meta_graph_import import import_with_elements
from stillflow.saver.saved_model import names
from stillflow.saver.saver import all_saveable_objects

_log = logging.getLogger("tensorflow")


@public(
    "saved_model.contains_saved_model",
    "saved_model.maybe_saved_model_directory",
    "saved_model.loader.maybe_saved_model_directory",
)
def maybe_saved_model_directory(export_dir):
    """Whether a folder has the file that a SavedModel has, binary or text."""
    export_dir = filesystem.path_text(export_dir)
    with filesystem.typed_errors(export_dir):
        return any(_exists(path) for path in _paths(export_dir))


def _paths(export_dir):
    return [
        os.path.join(export_dir, name) for name in (names.SAVED_MODEL_FILENAME_PB, names.SAVED_MODEL_FILENAME_PBTXT)
    ]


def _exists(path):
    system, own = filesystem.system_of(path)
    return system.exists(own)


def read_saved_model(export_dir):
    """The SavedModel message of a folder. Raises OSError if there is none, or it cannot be read."""
    from google.protobuf import message, text_format

    export_dir = filesystem.path_text(export_dir)
    binary, text = _paths(export_dir)
    with filesystem.typed_errors(export_dir):
        path = next(filter(_exists, (binary, text)), None)
    if path is None:
        raise OSError(
            f"SavedModel file does not exist at: {export_dir}/"
            f"{{{names.SAVED_MODEL_FILENAME_PBTXT}|{names.SAVED_MODEL_FILENAME_PB}}}"
        )
    with filesystem.typed_errors(path):
        system, own = filesystem.system_of(path)
        with system.open(own, "rb") as file:
            data = file.read()
    kind = protobuf.message("SavedModel")
    try:
        if path == binary:
            return kind.FromString(data)
        return text_format.Merge(data.decode(), kind(), descriptor_pool=protobuf.pool())
    except (message.DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None


@public("saved_model.load", "saved_model.loader.load")
def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Adds a graph of a SavedModel to the session's graph, restores its variables, and runs its main op.

    Args:
      sess: the session.
      tags: the tags of the graph: all of them and no others.
      export_dir: the folder.
      import_scope: a name scope to put everything in.
      **saver_kwargs: for tf.train.import_meta_graph.

    Returns:
      The MetaGraphDef message as it is in the SavedModel; its signatures name the tensors without `import_scope`.

    Raises:
      OSError: if there is no SavedModel, or its file is damaged.
      RuntimeError: if it has no graph with these tags.
      ValueError, tf.errors.OpError: as tf.train.import_meta_graph and tf.train.Saver.restore.
    """
    export_dir = filesystem.path_text(export_dir)
    meta_graph = _with_tags(read_saved_model(export_dir), tags)
    with sess.graph.as_default():
        saver, _ = import_with_elements(meta_graph, import_scope=import_scope, **saver_kwargs)
        _restore(sess, saver, export_dir, import_scope)
        init_op = _init_op(meta_graph, import_scope)
        if init_op is not None:
            sess.run(init_op, _assets(meta_graph, export_dir, import_scope))
    return meta_graph


def _with_tags(saved_model, tags):
    for meta_graph in saved_model.meta_graphs:
        if set(meta_graph.meta_info_def.tags) == set(tags):
            return meta_graph
    available = [set(meta_graph.meta_info_def.tags) for meta_graph in saved_model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in SavedModel. To inspect "
        f"available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`\n"
        f"available_tags: {available}"
    )


def _restore(sess, saver, export_dir, import_scope):
    if saver is not None:
        saver.restore(sess, names.variables_path(export_dir))
    elif all_saveable_objects(scope=import_scope):
        raise ValueError(
            "The graph has variables, but the SavedModel has no Saver that restores them: its file is damaged."
        )
    else:
        _log.info("The specified SavedModel has no variables; no checkpoints were restored.")


def _init_op(meta_graph, import_scope):
    """The operation to run after loading, which newer SavedModels have in a signature and older ones in a collection.

    Raises RuntimeError if a collection has several.
    """
    signature = meta_graph.signature_def.get(names.INIT_OP_SIGNATURE_KEY)
    if signature is not None:
        name = signature.outputs[names.INIT_OP_SIGNATURE_KEY].name
        return get_default_graph().as_graph_element(prefixed(name, import_scope))
    for key in (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY):
        if key in meta_graph.collection_def:
            found = meta_graph.collection_def[key].node_list.value
            if len(found) != 1:
                raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {list(found)}")
            return get_default_graph().get_collection(key)[-1]
    return None


def _assets(meta_graph, export_dir, import_scope):
    """{name of a tensor: the path that its file has now}."""
    assets = list(meta_graph.asset_file_def)
    if not assets and names.ASSETS_KEY in meta_graph.collection_def:
        values = meta_graph.collection_def[names.ASSETS_KEY].any_list.value
        assets = [protobuf.message("AssetFileDef").FromString(value.value) for value in values]
    folder = os.path.join(export_dir, names.ASSETS_DIRECTORY)
    return {
        prefixed(asset.tensor_info.name, import_scope): os.fsencode(os.path.join(folder, asset.filename))
        for asset in assets
    }
