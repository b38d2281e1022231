"""Models of Keras train as TensorFlow's do: same initial weights, same losses, same names."""

import json
from pathlib import Path

import numpy as np
import pytest
from keras_cases import training_scenarios as scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "keras_trainings.json").read_text())


def assert_agrees(found, recorded):
    assert type(found) is type(recorded), (found, recorded)
    if isinstance(found, dict):
        assert sorted(found) == sorted(recorded)
        for key in found:
            assert_agrees(found[key], recorded[key])
    elif isinstance(found, list):
        assert len(found) == len(recorded)
        for each, other in zip(found, recorded, strict=True):
            assert_agrees(each, other)
    elif isinstance(found, float):
        np.testing.assert_allclose(found, recorded, rtol=2e-5, atol=3e-6)
    else:
        assert found == recorded


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_training_does_what_it_does_in_tensorflow(name):
    assert_agrees(scenarios.outcome(tf, scenarios.SCENARIOS[name]), RECORDED[name])


def test_all_trainings_are_recorded():
    assert set(scenarios.SCENARIOS) == set(RECORDED)
