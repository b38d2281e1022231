"""SavedModels of Keras that go to a real TensorFlow and come from it, and what their models compute there, here."""

import json
from pathlib import Path

import pytest
from real_tensorflow import run_tensorflow
from saved_objects import peer_keras_models

import stillflow as tf

# What TensorFlow 1.15.5 computes of models that it has saved itself.
EXPECTED = json.loads((Path(__file__).parent.parent / "golden" / "keras_saved_models.json").read_text())


def run_here(task, folder):
    return peer_keras_models.main(tf, task, str(folder))


def run_there(task, folder):
    run_tensorflow("tf1", peer_keras_models.__file__, task, folder)
    return json.loads((folder / "results.json").read_text())


def assert_equal(found, expected):
    """Compares plain values; numbers may differ by rounding."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if isinstance(value, dict):
            assert_equal(found[key], value)
        else:
            flat, known = tf.nest.flatten(found[key]), tf.nest.flatten(value)
            assert flat == (known if all(isinstance(each, str) for each in known) else pytest.approx(known, abs=1e-4))


@pytest.mark.parametrize("writer", [run_here, pytest.param(run_there, marks=pytest.mark.peer)])
def test_models_are_loaded_here(writer, tmp_path):
    writer("save", tmp_path)
    assert_equal(run_here("load", tmp_path), EXPECTED)


@pytest.mark.peer
def test_tensorflow_loads_models_that_are_saved_here(tmp_path):
    run_here("save", tmp_path)
    assert_equal(run_there("load", tmp_path), EXPECTED)
