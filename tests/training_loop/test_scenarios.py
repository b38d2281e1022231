"""Monitored sessions log, write, return and add to the graph what TensorFlow's do."""

import json
from pathlib import Path

import pytest
from training_loop import scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "monitored_sessions.json").read_text())

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
    found, recorded = scenarios.outcome(tf, scenarios.scenarios()[name]), RECORDED[name]
    assert found["returned"] == recorded["returned"]
    assert messages(found["log"]) == messages(recorded["log"])
    assert found["events"] == recorded["events"]
    assert found["files"] == recorded["files"]
    assert found["nodes"] == recorded["nodes"]


def test_all_programs_are_recorded():
    assert set(scenarios.scenarios()) == set(RECORDED)
