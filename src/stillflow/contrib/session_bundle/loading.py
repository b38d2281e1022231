"""Loads exports into sessions: tf.contrib.session_bundle.session_bundle."""

from __future__ import annotations

from stillflow.contrib.session_bundle import constants
from stillflow.contrib.session_bundle.manifest import message
from stillflow.files import filesystem, gfile
from stillflow.formats import protobuf
from stillflow.graph.contexts import get_collection
from stillflow.graph.default_graph import reset_default_graph
from stillflow.names import public_module
from stillflow.saver.meta_graph_import import import_meta_graph
from stillflow.session.session import Session

public_module("contrib.session_bundle.session_bundle")


def maybe_session_bundle_dir(export_dir):
    """Whether a folder has the MetaGraph that an export has."""
    return gfile.Exists(f"{filesystem.path_text(export_dir)}/{constants.META_GRAPH_DEF_FILENAME}")


def load_session_bundle_from_path(export_dir, target="", config=None, meta_graph_def=None):
    """(a session with an export's graph and variables, its MetaGraphDef). The default graph is made new.

    Args:
      export_dir: the folder.
      target, config: of the session.
      meta_graph_def: the MetaGraphDef, if it is another than the folder's.

    Raises RuntimeError for a folder without a MetaGraph, and for several graphs or initializers in one.
    """
    export_dir = filesystem.path_text(export_dir)
    if not meta_graph_def:
        meta_graph_def = _meta_graph(f"{export_dir}/{constants.META_GRAPH_DEF_FILENAME}")
    collections = meta_graph_def.collection_def
    if constants.GRAPH_KEY in collections:
        graphs = collections[constants.GRAPH_KEY].any_list.value
        if len(graphs) != 1:
            raise RuntimeError(f"Expected exactly one serving GraphDef in : {meta_graph_def}")
        graphs[0].Unpack(meta_graph_def.graph_def)
    reset_default_graph()
    session = Session(target, graph=None, config=config)
    saver = import_meta_graph(meta_graph_def)
    files = _variables(export_dir)
    if files:
        saver.restore(session, f"{export_dir}/{files}")
    if constants.INIT_OP_KEY in collections:
        if len(collections[constants.INIT_OP_KEY].node_list.value) != 1:
            raise RuntimeError(f"Expected exactly one serving init op in : {meta_graph_def}")
        initializer = get_collection(constants.INIT_OP_KEY)[0]
        session.run([initializer], feed_dict=_assets(collections, export_dir))
    return session, meta_graph_def


def _meta_graph(path):
    if not gfile.Exists(path):
        raise RuntimeError(f"Expected meta graph file missing {path}")
    with gfile.GFile(path, "rb") as file:
        return protobuf.message("MetaGraphDef").FromString(file.read())


def _variables(export_dir):
    """The name, or pattern, of the files with the variables, "" if there are none."""
    if gfile.Exists(f"{export_dir}/{constants.VARIABLES_INDEX_FILENAME_V2}"):
        has_data = gfile.Glob(f"{export_dir}/{constants.VARIABLES_FILENAME_PATTERN_V2}")
        return constants.VARIABLES_FILENAME if has_data else ""
    if gfile.Exists(f"{export_dir}/{constants.VARIABLES_FILENAME}"):
        return constants.VARIABLES_FILENAME
    has_slices = gfile.Glob(f"{export_dir}/{constants.VARIABLES_FILENAME_PATTERN}")
    return constants.VARIABLES_FILENAME_PATTERN if has_slices else ""


def _assets(collections, export_dir):
    """{name of a tensor: the path that its file has now}."""
    if constants.ASSETS_KEY not in collections:
        return {}
    found = {}
    for packed in collections[constants.ASSETS_KEY].any_list.value:
        asset = message("AssetFile").FromString(packed.value)
        path = f"{export_dir}/{constants.ASSETS_DIRECTORY}/{asset.filename}"
        found[asset.tensor_binding.tensor_name] = path
    return found
