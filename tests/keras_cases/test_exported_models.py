"""Keras models as SavedModels of graphs, written here and read by TensorFlow 1.15.5, and the other way round."""

import json
from pathlib import Path

import numpy as np
import pytest
from keras_cases import peer_exported_models
from real_tensorflow import run_tensorflow

import stillflow as tf
from stillflow.saver.saved_model.loader import read_saved_model

GOLDEN = Path(__file__).parent.parent / "data" / "formats" / "keras" / "exported"
KINDS = ["chain", "network", "plain"]


def check(results, expected):
    for found in (results["predictions"], results["served"]):
        for one, other in zip(found, expected["predictions"], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_loaded(kind, tmp_path):
    written = peer_exported_models.main(tf, "write", str(tmp_path), kind)
    check(peer_exported_models.main(tf, "read", str(tmp_path), kind), written)


def test_what_tensorflow_has_recorded_is_loaded(tmp_path):
    (tmp_path / "model").symlink_to(GOLDEN / "model")
    expected = json.loads((GOLDEN / "written.json").read_text())
    check(peer_exported_models.main(tf, "read", str(tmp_path), "chain"), expected)


def test_the_graphs_are_those_that_tensorflow_has_recorded(tmp_path):
    peer_exported_models.main(tf, "write", str(tmp_path), "chain")
    assert_same_messages(tmp_path / "model", GOLDEN / "model")


@pytest.mark.peer
@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_loads_what_is_written_here(kind, tmp_path):
    written = peer_exported_models.main(tf, "write", str(tmp_path), kind)
    run_tensorflow("tf1", peer_exported_models.__file__, "read", tmp_path, kind)
    check(json.loads((tmp_path / "read.json").read_text()), written)


@pytest.mark.peer
@pytest.mark.parametrize("kind", KINDS)
def test_what_tensorflow_writes_is_loaded_and_the_same(kind, tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    run_tensorflow("tf1", peer_exported_models.__file__, "write", theirs, kind)
    expected = json.loads((theirs / "written.json").read_text())
    check(peer_exported_models.main(tf, "read", str(theirs), kind), expected)
    written = peer_exported_models.main(tf, "write", str(ours), kind)
    for one, other in zip(written["predictions"], expected["predictions"], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert_same_messages(ours / "model", theirs / "model")


def assert_same_messages(ours, theirs):
    found, expected = read_saved_model(ours), read_saved_model(theirs)
    assert len(found.meta_graphs) == len(expected.meta_graphs)
    for mine, other in zip(found.meta_graphs, expected.meta_graphs, strict=True):
        assert mine.meta_info_def.tags == other.meta_info_def.tags
        assert mine.signature_def == other.signature_def
        assert mine.saver_def == other.saver_def
        assert nodes_of(mine) == nodes_of(other)
        assert sorted(mine.collection_def) == sorted(other.collection_def)
    json_of = [json.loads((folder / "assets" / "saved_model.json").read_text()) for folder in (ours, theirs)]
    assert json_of[0] == json_of[1]


def nodes_of(meta_graph):
    """Name, op and inputs of nodes; TensorFlow asks in no certain order whether variables have values."""
    nodes = meta_graph.graph_def.node
    return sorted((node.name, node.op, *(() if node.op == "VarIsInitializedOp" else node.input)) for node in nodes)


def test_refusals(tmp_path):
    class Subclassed(tf.keras.Model):
        def call(self, inputs):
            return inputs

    export = tf.keras.experimental.export_saved_model
    with pytest.raises(NotImplementedError, match="Subclassed models can only be exported for serving"):
        export(Subclassed(), str(tmp_path / "a"))
    with pytest.raises(ValueError, match="Weights for sequential model have not yet been created"):
        export(tf.keras.Sequential([tf.keras.layers.Dense(2)]), str(tmp_path / "b"))
