"""Estimators that begin here go on in a real TensorFlow 1, and the other way round; and so do their SavedModels."""

import json

import numpy as np
import pytest
from estimator import peer_estimator
from real_tensorflow import run_tensorflow

import stillflow as tf


def run_peer(*arguments):
    return json.loads(run_tensorflow("tf1", peer_estimator.__file__, *arguments).splitlines()[-1])


def run_here(*arguments):
    with tf.Graph().as_default():
        return peer_estimator.main(tf, *map(str, arguments))


@pytest.mark.peer
def test_a_training_goes_to_and_fro(tmp_path):
    expected = run_here("train", tmp_path / "straight", 20)
    peer = run_peer("train", tmp_path / "peer", 20)
    assert peer["variables"] == expected["variables"]
    np.testing.assert_allclose(peer["answers"], expected["answers"], rtol=1e-5)
    begins = [
        run("train", tmp_path / "shared", step)["begin"]
        for run, step in ((run_here, 6), (run_peer, 12), (run_here, 18), (run_peer, 24))
    ]
    assert begins == [0, 6, 12, 18]


@pytest.mark.peer
def test_saved_models_go_both_ways(tmp_path):
    run_here("train", tmp_path / "model", 10)
    for write, read in ((run_here, run_peer), (run_peer, run_here)):
        written = write("export", tmp_path / "model", tmp_path / write.__name__)
        found = read("load", written["path"])
        assert found["method"] == "tensorflow/serving/regress"
        np.testing.assert_allclose(found["answers"], written["answers"], rtol=1e-5)
        np.testing.assert_allclose(run_here("load", written["path"])["answers"], found["answers"], rtol=1e-5)


def test_the_same_here(tmp_path):
    expected = run_here("train", tmp_path / "straight", 12)
    assert run_here("train", tmp_path / "parts", 12) == expected
    written = run_here("export", tmp_path / "parts", tmp_path / "exports")
    assert run_here("load", written["path"])["answers"] == written["answers"]
    np.testing.assert_allclose(written["answers"], expected["answers"], rtol=1e-6)
