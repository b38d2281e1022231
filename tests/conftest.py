"""Fixtures of all tests."""

import numpy as np
import pytest

from stillflow.graph.graph import Graph


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def new_graph():
    """Every test has a default graph of its own."""
    with Graph().as_default() as graph:
        yield graph
