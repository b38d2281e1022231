"""tf.train.warm_start adds TensorFlow's nodes, gives its values, and fails as it does."""

import json
from pathlib import Path

import pytest
from saver import warm_start_cases

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "warm_starts.json").read_text())

# What TensorFlow says otherwise, or in another order.
OTHER_WORDS = {
    "a_variable_that_the_checkpoint_lacks": "ValueError: Tensor missing is not found in named checkpoint {",
    "an_empty_vocabulary": "OutOfRangeError: There is nothing to read in empty",
}


@pytest.fixture(scope="module")
def outcomes():
    return warm_start_cases.outcomes(tf)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_model_is_warm_started_as_in_tensorflow(name, outcomes):
    found, recorded = outcomes[name], RECORDED[name]
    if name in OTHER_WORDS:
        assert found["error"].startswith(OTHER_WORDS[name])
        assert "error" in recorded
    else:
        assert found == recorded


def test_all_cases_are_recorded():
    assert set(warm_start_cases.cases()) == set(RECORDED)
