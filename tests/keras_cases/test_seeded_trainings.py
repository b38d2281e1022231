"""Losses of nets that drop and add noise, step by step beside TensorFlow 1.15.5's."""

import json
from pathlib import Path

import numpy as np
import pytest
from keras_cases import eager_scenarios, seeded_trainings, training_scenarios

import stillflow as tf
from stillflow.eager.modes import eager_mode

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "keras_seeded_trainings.json").read_text())


@pytest.mark.parametrize("name", seeded_trainings.SCENARIOS)
def test_losses_in_graphs_are_those_of_tensorflow(name):
    found = training_scenarios.outcome(tf, seeded_trainings.SCENARIOS[name])
    np.testing.assert_allclose(found, RECORDED["graph"][name], rtol=2e-5)


@pytest.mark.parametrize("name", seeded_trainings.EAGERLY)
def test_losses_of_eager_execution_are_those_of_tensorflow(name):
    with eager_mode():
        found = eager_scenarios.outcome(tf, seeded_trainings.EAGERLY[name])
    np.testing.assert_allclose(found, RECORDED["eager"][name], rtol=2e-5)
