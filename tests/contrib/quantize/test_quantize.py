"""Graphs that tf.contrib.quantize rewrites are those of TensorFlow 1.15.5, and train with its losses."""

import json
from pathlib import Path

import numpy as np
import pytest
from contrib.quantize import quantize_scenarios as scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "quantized_graphs.json").read_text())


@pytest.mark.parametrize(("network", "rewriting"), scenarios.CASES)
def test_as_tensorflow_rewrites(network, rewriting):
    found = scenarios.outcome(tf, network, rewriting)
    recorded = RECORDED[f"{network}/{rewriting}"]
    assert found[:2] == recorded[:2]
    assert len(found) == len(recorded)
    if len(found) == 3:
        # TensorFlow's vary by as much: variables are read before or after they are set, and rounding makes it more.
        np.testing.assert_allclose(found[2], recorded[2], rtol=3e-2)


def test_a_graph_of_training_is_refused(new_graph):
    x = tf.Variable([1.0])
    tf.train.GradientDescentOptimizer(0.1).minimize(x)
    with pytest.raises(ValueError, match="Training op found in graph"):
        tf.contrib.quantize.create_training_graph()
