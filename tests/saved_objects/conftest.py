"""In these tests operations run when they are called."""

import pytest

from stillflow.eager.graph import EagerGraph


@pytest.fixture(autouse=True)
def new_graph():
    with EagerGraph().as_default() as graph:
        yield graph
