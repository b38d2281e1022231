"""Fixtures of all tests."""

import gc
import os
import signal

import numpy as np
import pytest

from stillflow.graph.graph import Graph
from stillflow.variables.defaults import disable_resource_variables

# Plans are verified between passes: see stillflow.plan.verify. Processes that tests start do so, too.
os.environ.setdefault("STILLFLOW_VERIFY_PLANS", "1")

# A shell has what it starts in the background ignore Ctrl-C, and so would the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """What was collected stays to the end: no search for garbage has to pass through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def reference_variables():
    """Changes back what estimators of boosted trees change for the whole process."""
    yield
    disable_resource_variables()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def new_graph():
    """Every test has a default graph of its own."""
    with Graph().as_default() as graph:
        yield graph
