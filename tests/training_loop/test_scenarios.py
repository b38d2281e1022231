"""Monitored sessions and supervisors log, write, return and add to the graph what TensorFlow's do."""

import json
from pathlib import Path

import pytest
from training_loop import scenarios, supervisor_scenarios

import stillflow as tf

GOLDEN = Path(__file__).parent.parent / "golden"
RECORDED = {
    name: (module, outcome)
    for file, module in (("monitored_sessions", scenarios), ("supervisors", supervisor_scenarios))
    for name, outcome in json.loads((GOLDEN / f"{file}.json").read_text()).items()
}

# What TensorFlow says at greater length.
SHORTER = (
    "WARNING: An OutOfRangeError or StopIteration exception is raised",
    "INFO: An error was raised",
    "WARNING: An error occurred when attempting to close the session",
)


def messages(lines):
    """Log lines, without the rest of the long ones, and without those that TensorFlow says five times only."""
    settled = [next((start for start in SHORTER if line.startswith(start)), line) for line in lines]
    settled = [line.replace("tensorflow.python.framework.errors_impl", "stillflow.errors") for line in settled]
    return [line for line in settled if not line.startswith("WARNING: It seems that global step")]


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_program_does_what_it_does_in_tensorflow(name):
    module, recorded = RECORDED[name]
    found = module.outcome(tf, module.scenarios()[name])
    assert found["returned"] == recorded["returned"]
    assert messages(found["log"]) == messages(recorded["log"])
    assert found["events"] == recorded["events"]
    assert found["files"] == recorded["files"]
    assert found["nodes"] == recorded["nodes"]


def test_all_programs_are_recorded():
    assert {*scenarios.scenarios(), *supervisor_scenarios.scenarios()} == set(RECORDED)
