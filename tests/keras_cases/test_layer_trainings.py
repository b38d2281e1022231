"""Models with convolutions and recurrent layers train as TensorFlow's do."""

import json
from pathlib import Path

import pytest
from keras_cases import layer_trainings
from keras_cases.test_training import assert_agrees
from keras_cases.training_scenarios import outcome

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "keras_layer_trainings.json").read_text())


@pytest.mark.parametrize("scenario", layer_trainings.SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_a_training_does_what_it_does_in_tensorflow(scenario):
    assert_agrees(outcome(tf, scenario), RECORDED[scenario.__name__])
