"""Recurrent nets that TensorFlow has saved with their loops as functions go on learning here."""

import json

import pytest
from real_tensorflow import run_tensorflow
from saved_objects import peer_recurrent_models

import stillflow as tf


@pytest.mark.peer
def test_a_loaded_net_learns_as_the_saved_one_did(tmp_path):
    run_tensorflow("tf1", peer_recurrent_models.__file__, "save", tmp_path)
    expected = json.loads((tmp_path / "results.json").read_text())
    with tf.Graph().as_default():
        model = tf.keras.models.load_model(str(tmp_path / "model"))
        model.compile(tf.keras.optimizers.SGD(0.5), "mse")
        assert peer_recurrent_models.losses(model) == pytest.approx(expected, rel=1e-5)
