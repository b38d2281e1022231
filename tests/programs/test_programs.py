"""Every program's graph equals TensorFlow 1.15.5's node by node, its initial values bit for bit, and its training
agrees."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from graph_compare import differences, parse

import stillflow as tf
from programs import run_program

GOLDEN = Path(__file__).parent.parent / "golden" / "programs"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.npz"))


# TensorFlow rounds differently on every machine, and Adam, which divides a gradient by its size, makes of a gradient
# near zero a step as long as any other: some weights of char_rnn come out 4e-5 apart.
TOLERANCE = {"rtol": 2e-4, "atol": 1e-4}


def compare(ours, theirs):
    """Holds what our run of a program gave to TensorFlow's."""
    assert set(ours) == set(theirs)
    for name, value in theirs.items():
        if name.startswith("initial."):
            np.testing.assert_array_equal(ours[name], value, err_msg=name)
        elif name != "graph":
            np.testing.assert_allclose(ours[name], value, **TOLERANCE, err_msg=name)


def test_the_programs_are_recorded():
    deep = {"char_rnn", "convnet", "gan", "vgg16"}
    assert {*NAMES} == {"linear_regression", "logistic_regression", "lstm", "perceptron", "word2vec", *deep}


@pytest.mark.parametrize("name", NAMES)
def test_graph_and_training_are_those_of_tensorflow(name):
    ours = run_program(tf, importlib.import_module(f"programs.{name}"))
    with np.load(GOLDEN / f"{name}.npz") as golden:
        found = differences(parse(ours["graph"]), parse(golden["graph"]))
        assert not found, "\n".join(found)
        compare(ours, golden)


@pytest.mark.parametrize("name", NAMES)
def test_training_has_the_same_bits_for_every_number_of_threads(name):
    module = importlib.import_module(f"programs.{name}")
    expected = run_program(tf, module, threads=1)
    for threads in (2, 3):
        for key, value in run_program(tf, module, threads=threads).items():
            assert value.tobytes() == expected[key].tobytes(), f"{key} with {threads} threads"
