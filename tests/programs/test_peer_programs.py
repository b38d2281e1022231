"""The programs under a real TensorFlow and here, side by side."""

import importlib

import numpy as np
import pytest
from graph_compare import differences, parse
from real_tensorflow import PEERS, run_tensorflow

import stillflow as tf
from programs import peer, run_program
from programs.test_programs import NAMES, TOLERANCE, compare

pytestmark = pytest.mark.peer


def run_peer(name, *arguments):
    """Runs peer.py under a real TensorFlow. Returns the arrays that it wrote to the last argument."""
    run_tensorflow(name, peer.__file__, *arguments)
    with np.load(arguments[-1]) as arrays:
        return {key: arrays[key] for key in arrays.files}


@pytest.mark.parametrize("name", NAMES)
def test_programs_do_what_they_do_under_tensorflow(name, tmp_path):
    theirs = run_peer("tf1", "build", name, tmp_path / "theirs.npz")
    ours = run_program(tf, importlib.import_module(f"programs.{name}"))
    found = differences(parse(ours["graph"]), parse(theirs["graph"]))
    assert not found, "\n".join(found)
    compare(ours, theirs)


@pytest.mark.parametrize("peer_name", PEERS)
@pytest.mark.parametrize("name", NAMES)
def test_tensorflow_imports_our_graphs_and_runs_them_to_the_same_values(name, peer_name, tmp_path):
    described = {}

    def watch(program, initializer):
        graph = tf.get_default_graph().as_graph_def().SerializeToString()
        described.update(peer.describe(program, initializer, np.frombuffer(graph, np.uint8)))

    ours = run_program(tf, importlib.import_module(f"programs.{name}"), watch=watch)
    np.savez(tmp_path / "run.npz", **described)
    theirs = run_peer(peer_name, "import", tmp_path / "run.npz", tmp_path / "theirs.npz")
    assert theirs
    for key, value in theirs.items():
        np.testing.assert_allclose(ours[key], value, **TOLERANCE, err_msg=key)
