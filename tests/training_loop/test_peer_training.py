"""Trainings that begin here go on in a real TensorFlow, and the other way round."""

import json

import numpy as np
import pytest
from real_tensorflow import PEERS, run_tensorflow
from training_loop import peer_training

import stillflow as tf


def run_peer(name, kind, folder, last_step):
    return json.loads(run_tensorflow(name, peer_training.__file__, kind, folder, last_step).splitlines()[-1])


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
