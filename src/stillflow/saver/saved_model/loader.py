"""tf.saved_model.load: a graph of a SavedModel, with its variables, into a session."""

from __future__ import annotations

import logging
import os

from stillflow.files import filesystem
from stillflow.formats import protobuf
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.inner_functions import prepend_name_scope
from stillflow.names import public
from stillflow.saver.meta_graph_import import import_with_elements
from stillflow.saver.saved_model import names
from stillflow.saver.saved_model.signatures import load_op_from_signature_def
from stillflow.saver.saver import Saver, all_saveable_objects

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


@public(
    "python.saved_model.loader_impl.parse_saved_model",
    "contrib.saved_model.python.saved_model.reader.read_saved_model",
)
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


@public("contrib.saved_model.python.saved_model.reader.get_saved_model_tag_sets")
def tag_sets(saved_model_dir):
    """A list of the lists of tags of a folder's graphs. Raises OSError as `read_saved_model` does."""
    return [list(graph.meta_info_def.tags) for graph in read_saved_model(saved_model_dir).meta_graphs]


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
    return SavedModelLoader(export_dir).load(sess, tags, import_scope, **saver_kwargs)


@public("python.saved_model.loader_impl.SavedModelLoader")
class SavedModelLoader:
    """Loads graphs of one SavedModel, in steps: the graph, its variables, what is to run then."""

    def __init__(self, export_dir):
        """Reads the file. Raises OSError if there is none, or it is damaged."""
        self._export_dir = filesystem.path_text(export_dir)
        self._variables_path = names.variables_path(self._export_dir)
        self._saved_model = read_saved_model(self._export_dir)

    @property
    def export_dir(self):
        return self._export_dir

    @property
    def variables_path(self):
        return self._variables_path

    @property
    def saved_model(self):
        """The SavedModel message."""
        return self._saved_model

    def get_meta_graph_def_from_tags(self, tags):
        """The graph with just these tags, a MetaGraphDef message. Raises RuntimeError if there is none."""
        available = []
        for meta_graph in self._saved_model.meta_graphs:
            available.append(set(meta_graph.meta_info_def.tags))
            if available[-1] == set(tags):
                return meta_graph
        raise RuntimeError(
            f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in SavedModel. To inspect "
            f"available tag-sets in the SavedModel, please use the SavedModel CLI: `saved_model_cli`\n"
            f"available_tags: {available}"
        )

    def load_graph(self, graph, tags, import_scope=None, **saver_kwargs):
        """Adds the nodes and collections to a graph: (a Saver or None, the elements that `return_elements` names)."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with graph.as_default():
            return import_with_elements(meta_graph, import_scope=import_scope, **saver_kwargs)

    def restore_variables(self, sess, saver, import_scope=None):
        """Restores the variables of a graph that has been loaded, by the Saver that came with it.

        Raises:
          ValueError: if the graph has variables, but there is no Saver.
        """
        with sess.graph.as_default():
            if isinstance(saver, Saver):
                saver.restore(sess, self._variables_path)
            elif saver is not None or all_saveable_objects(scope=import_scope):
                raise ValueError(
                    "No tf.train.Saver object was passed to the function SavedModelLoader.restore_variables. Since "
                    "there are variables in the graph, a saver is required."
                )
            else:
                _log.info("The specified SavedModel has no variables; no checkpoints were restored.")

    def run_init_ops(self, sess, tags, import_scope=None):
        """Runs what the graph with these tags is to run after loading."""
        meta_graph = self.get_meta_graph_def_from_tags(tags)
        with sess.graph.as_default():
            init_op = get_init_op(meta_graph, import_scope)
            if init_op is not None:
                sess.run(init_op, asset_paths(meta_graph, self._export_dir, import_scope))

    def load(self, sess, tags, import_scope=None, **saver_kwargs):
        """All steps; arguments, result and errors are those of tf.saved_model.load."""
        with sess.graph.as_default():
            saver, _ = self.load_graph(sess.graph, tags, import_scope, **saver_kwargs)
            self.restore_variables(sess, saver, import_scope)
            self.run_init_ops(sess, tags, import_scope)
        return self.get_meta_graph_def_from_tags(tags)


@public("python.saved_model.loader_impl.get_init_op")
def get_init_op(meta_graph_def, import_scope=None):
    """The operation to run after loading, which newer SavedModels have in a signature and older ones in a collection.

    Raises RuntimeError if a collection has several.
    """
    found = _from_signature(meta_graph_def, names.INIT_OP_SIGNATURE_KEY, import_scope)
    for key in (names.MAIN_OP_KEY, names.LEGACY_INIT_OP_KEY):
        found = _from_collection(meta_graph_def, key) if found is None else found
    return found


@public("python.saved_model.loader_impl.get_train_op")
def get_train_op(meta_graph_def, import_scope=None):
    """The operation, or tensor, that does a step of training in a graph that has been loaded, or None."""
    found = _from_signature(meta_graph_def, names.TRAIN_OP_SIGNATURE_KEY, import_scope)
    return _from_collection(meta_graph_def, names.TRAIN_OP_KEY) if found is None else found


def _from_signature(meta_graph, key, import_scope):
    if key not in meta_graph.signature_def:
        return None
    return load_op_from_signature_def(meta_graph.signature_def[key], key, import_scope)


def _from_collection(meta_graph, key):
    if key not in meta_graph.collection_def:
        return None
    found = meta_graph.collection_def[key].node_list.value
    if len(found) != 1:
        raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {list(found)}")
    return get_default_graph().get_collection(key)[-1]


def asset_paths(meta_graph, export_dir, import_scope=None):
    """{name of a tensor: the path that its file has now}."""
    assets = list(meta_graph.asset_file_def)
    if not assets and names.ASSETS_KEY in meta_graph.collection_def:
        values = meta_graph.collection_def[names.ASSETS_KEY].any_list.value
        assets = [protobuf.message("AssetFileDef").FromString(value.value) for value in values]
    return {
        prepend_name_scope(asset.tensor_info.name, import_scope): os.fsencode(
            names.asset_path(export_dir, asset.filename)
        )
        for asset in assets
    }
