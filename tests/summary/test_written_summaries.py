"""Nodes write the summaries that TensorFlow's write: the same events, in graphs and eagerly."""

import json
from pathlib import Path

import pytest
from summary import writing_scenarios

import stillflow as tf
from stillflow.eager.graph import EagerGraph

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "written_summaries.json").read_text())


def eagerly():
    return EagerGraph().as_default()


@pytest.mark.parametrize("name", writing_scenarios.SCENARIOS)
def test_a_program_writes_what_it_writes_in_tensorflow(name):
    found = writing_scenarios.outcome(tf, name, eagerly)
    assert found["returned"] == RECORDED[name]["returned"]
    assert found["events"] == RECORDED[name]["events"]


def test_all_programs_are_recorded():
    assert set(RECORDED) == set(writing_scenarios.SCENARIOS)
