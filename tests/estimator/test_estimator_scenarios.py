"""Estimators log, write, return and export what TensorFlow's do."""

import json
from pathlib import Path

import pytest
from estimator import estimator_scenarios as scenarios
from training_loop.test_scenarios import messages

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "estimators.json").read_text())


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_program_does_what_it_does_in_tensorflow(name):
    recorded = RECORDED[name]
    found = scenarios.outcome(tf, scenarios.scenarios()[name])
    assert found["returned"] == recorded["returned"]
    assert messages(found["log"]) == messages(recorded["log"])
    assert found["events"] == recorded["events"]
    assert found["files"] == recorded["files"]


def test_all_programs_are_recorded():
    assert set(scenarios.scenarios()) == set(RECORDED)
