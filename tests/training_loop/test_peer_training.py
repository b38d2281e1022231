"""Trainings that begin here go on in a real TensorFlow, and the other way round."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from programs.test_peer_programs import PEERS, peer_python
from training_loop import peer_training

import stillflow as tf


def run_peer(name, kind, folder, last_step):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [str(peer_python(name)), str(Path(peer_training.__file__)), kind, str(folder), str(last_step)]
    result = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.peer
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("kind", ["monitored", "supervisor"])
def test_a_training_goes_to_and_fro(kind, peer, tmp_path):
    _, expected = peer_training.main(tf, kind, str(tmp_path / "straight"), 30)
    folder = str(tmp_path / "shared")
    assert peer_training.main(tf, kind, folder, 7)[0] == 0
    assert run_peer(peer, kind, folder, 13)[0] == 7
    assert peer_training.main(tf, kind, folder, 20)[0] == 13
    begin, weights = run_peer(peer, kind, folder, 30)
    assert begin == 20
    np.testing.assert_allclose(weights, expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["monitored", "supervisor"])
def test_the_same_here(kind, tmp_path):
    _, expected = peer_training.main(tf, kind, str(tmp_path / "straight"), 30)
    for last_step in (7, 13, 20):
        peer_training.main(tf, kind, str(tmp_path / "parts"), last_step)
    assert peer_training.main(tf, kind, str(tmp_path / "parts"), 30) == (20, expected)
