"""The programs under a real TensorFlow and here, side by side: `make test-peer`.

TensorFlow lies in the directory that STILLFLOW_PEER_TF1 (1.15.5) or STILLFLOW_PEER_TF2 (2) names, or where
tools/make_peers.py puts it. Without it the tests are skipped.
"""

import importlib
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from graph_compare import differences, parse

import stillflow as tf
from programs import peer, run_program
from programs.test_programs import NAMES, compare

ROOT = Path(__file__).parent.parent.parent
PEERS = {"tf1": "TensorFlow 1.15.5", "tf2": "TensorFlow 2"}

pytestmark = pytest.mark.peer


def peer_python(name):
    """The interpreter of a peer; skips the test where there is none."""
    directory = Path(os.environ.get(f"STILLFLOW_PEER_{name.upper()}", ROOT / f".venv-{name}"))
    python = directory / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{PEERS[name]} is not installed in {directory}: tools/make_peers.py could not, or did not run")
    return python


def run_peer(name, *arguments):
    """Runs peer.py under a real TensorFlow. Returns the arrays that it wrote to the last argument."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [str(peer_python(name)), str(Path(peer.__file__)), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
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
        np.testing.assert_allclose(ours[key], value, rtol=2e-4, atol=2e-5, err_msg=key)
