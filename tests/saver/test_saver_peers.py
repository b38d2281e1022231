"""Checkpoints and MetaGraphs that go to a real TensorFlow and come from it, and training that goes on in both."""

import json
from pathlib import Path

import numpy as np
import pytest
from real_tensorflow import PEERS, run_tensorflow
from saver import peer_train

import stillflow as tf

KINDS = ["reference", "resource", "partitioned", "sharded", "v1"]


def run_peer(name, *arguments):
    run_tensorflow(name, peer_train.__file__, *arguments)
    return json.loads((Path(arguments[1]) / "losses.json").read_text())


@pytest.mark.peer
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("kind", KINDS)
def test_tensorflow_goes_on_with_what_was_saved_here(kind, peer, tmp_path):
    expected = peer_train.main(tf, "start", str(tmp_path), kind)
    assert np.isfinite(expected).all() and expected[0] != expected[1]
    np.testing.assert_allclose(run_peer(peer, "go_on", tmp_path, kind), expected, rtol=1e-5)


@pytest.mark.peer
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_tensorflow_saved_goes_on_here(kind, peer, tmp_path):
    expected = run_peer(peer, "start", tmp_path, kind)
    # Graphs of TensorFlow 2 have attributes that TensorFlow 1.15 does not know, either.
    for task in ["go_on", "restore"] if peer == "tf1" else ["restore"]:
        np.testing.assert_allclose(peer_train.main(tf, task, str(tmp_path), kind), expected, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_here(kind, tmp_path):
    expected = peer_train.main(tf, "start", str(tmp_path), kind)
    assert peer_train.main(tf, "go_on", str(tmp_path), kind) == expected
    assert peer_train.main(tf, "restore", str(tmp_path), kind) == expected
