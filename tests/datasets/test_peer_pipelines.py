"""Random pipelines under TensorFlow 1.15.5 and here: the same graphs, functions included, and the same elements."""

import numpy as np
import pytest
from datasets import peer_pipelines
from graph_compare import differences, parse
from real_tensorflow import run_tensorflow

import stillflow as tf

pytestmark = pytest.mark.peer

COUNT = 60


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    path = tmp_path_factory.mktemp("pipelines") / "theirs.npz"
    run_tensorflow("tf1", peer_pipelines.__file__, 0, COUNT, path)
    with np.load(path) as found:
        return dict(found)


@pytest.mark.parametrize("number", range(COUNT))
def test_graph_and_elements_are_those_of_tensorflow(number, theirs):
    graph, elements = peer_pipelines.run(tf, number)
    found = differences(parse(graph), parse(theirs[f"graph{number}"]))
    assert not found, "\n".join(found)
    assert elements.tolist() == theirs[f"elements{number}"].tolist()
