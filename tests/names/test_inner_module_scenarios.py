"""TensorFlow's inner modules do for programs what they do in TensorFlow 1.15.5."""

import json
from pathlib import Path

import pytest
from names import inner_module_scenarios

import stillflow as tf

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "inner_modules.json").read_text())


@pytest.mark.parametrize("scenario", inner_module_scenarios.SCENARIOS, ids=lambda scenario: scenario.__name__)
@pytest.mark.filterwarnings("ignore:Unknown")
def test_as_in_tensorflow(scenario):
    with tf.Graph().as_default():
        assert json.loads(json.dumps(scenario(tf))) == GOLDEN[scenario.__name__]
