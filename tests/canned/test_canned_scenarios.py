"""Ready-made Estimators learn, evaluate, predict and export what TensorFlow's do."""

import json
from pathlib import Path

import pytest
from canned import canned_scenarios as scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "canned_models.json").read_text())


def agrees(found, expected):
    """Whether both are the same, but for the rounding of numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(agrees(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=2e-5, abs=1e-6)
    return found == expected


@pytest.mark.parametrize("name", sorted(scenarios.scenarios()))
def test_a_model_does_what_it_does_in_tensorflow(name):
    found = scenarios.outcome(tf, scenarios.scenarios()[name])
    assert len(found) == len(RECORDED[name])
    for ours, theirs in zip(found, RECORDED[name], strict=True):
        assert agrees(ours, theirs), f"{ours}\n{theirs}"
