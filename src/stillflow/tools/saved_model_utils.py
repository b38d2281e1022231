"""tensorflow.python.tools.saved_model_utils: the messages of a SavedModel."""

from __future__ import annotations

from stillflow.names import public_module
from stillflow.saver.saved_model.loader import read_saved_model

public_module("python.tools.saved_model_utils")

__all__ = ["get_meta_graph_def", "get_saved_model_tag_sets", "read_saved_model"]


def get_saved_model_tag_sets(saved_model_dir):
    """The tags of each MetaGraph of a SavedModel, as lists of strings."""
    return [list(meta_graph.meta_info_def.tags) for meta_graph in read_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir, tag_set):
    """The MetaGraphDef whose tags are exactly those of `tag_set`, separated by commas. Raises RuntimeError."""
    wanted = set(tag_set.split(","))
    for meta_graph in read_saved_model(saved_model_dir).meta_graphs:
        if set(meta_graph.meta_info_def.tags) == wanted:
            return meta_graph
    raise RuntimeError(f"MetaGraphDef associated with tag-set {tag_set} could not be found in SavedModel")
