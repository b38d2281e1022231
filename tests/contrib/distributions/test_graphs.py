"""The graphs of distributions and bijectors are TensorFlow's, node by node, and so are the seeds of samples."""

import json
from pathlib import Path

import pytest
from contrib.distributions import graph_scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "distribution_graphs.json").read_text())
CASES = graph_scenarios.cases(tf)


def test_all_cases_are_recorded():
    assert set(RECORDED) == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_the_nodes_are_those_of_tensorflow(name):
    assert graph_scenarios.digests(CASES[name]) == RECORDED[name]
