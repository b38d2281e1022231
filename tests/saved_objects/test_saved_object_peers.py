"""SavedModels of objects that go to a real TensorFlow and come from it, and what they compute there and here."""

import json

import pytest
from real_tensorflow import run_tensorflow
from saved_objects import peer_models

import stillflow as tf

# What TensorFlow 1.15.5 computes of a model that it has saved itself.
EXPECTED = {
    "calls": {
        "variables": [3.0, 1.0, [2.0, 3.0], 5],
        "trainable": [True, False],
        "scaled": [6.0],
        "choose": [600.0, -100.0],
        "look_up": [[0, 2, -1, -1], [-1.0, -1.0, 1.0, -1.0]],
        "signatures": ["look_up", "scaled"],
        "signature": [[-1.0, 2.0]],
        "nested": [8.0, 2.0, [4.0, 6.0]],
        "gradients": [6.0, [2.0, 2.0]],
        "vector": [9.0],
        "assigned": [9.0],
        "no match": "Could not find matching function to call loaded from the SavedModel. Got:\n"
        "  Positional arguments (2 total):\n    * 1.0\n    * 9\n  Keyword arguments: {}",
    },
    "session": {"look_up": [1, -1], "scaled": 6.0},
}


def run_here(task, folder):
    return peer_models.main(tf, task, str(folder))


def run_there(task, folder):
    run_tensorflow("tf1", peer_models.__file__, task, folder)
    return json.loads((folder / "results.json").read_text())


def test_what_is_saved_here_is_loaded_here(tmp_path):
    run_here("save", tmp_path)
    assert run_here("load", tmp_path) == EXPECTED


def test_what_was_loaded_is_saved_again(tmp_path):
    for task in ("save", "again", "again"):
        run_here(task, tmp_path)
    assert run_here("load", tmp_path) == EXPECTED


@pytest.mark.peer
@pytest.mark.parametrize("again", [None, run_here, run_there])
def test_what_tensorflow_saved_is_loaded_here(again, tmp_path):
    run_there("save", tmp_path)
    if again:
        again("again", tmp_path)
    assert run_here("load", tmp_path) == EXPECTED


@pytest.mark.peer
@pytest.mark.parametrize("again", [None, run_here, run_there])
def test_tensorflow_loads_what_is_saved_here(again, tmp_path):
    run_here("save", tmp_path)
    if again:
        again("again", tmp_path)
    assert run_there("load", tmp_path) == EXPECTED
