"""Random forests make TensorFlow's graphs, grow its trees and write its checkpoints."""

import json
from pathlib import Path

import numpy as np
import pytest
from contrib.tensor_forest import forest_scenarios as scenarios
from stillflow.contrib.tensor_forest.python import tensor_forest
from stillflow.python.ops import resources

import stillflow as tf
from stillflow import ops

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "tensor_forest.json").read_text())


def agrees(found, expected):
    """Whether both are the same, but for the rounding of numbers."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-5, abs=1e-6)
    return found == expected


@pytest.mark.parametrize("name", sorted(scenarios.scenarios()))
def test_a_forest_grows_as_it_does_in_tensorflow(name):
    found = json.loads(json.dumps(scenarios.outcome(tf, scenarios.scenarios()[name])))
    assert len(found) == len(RECORDED[name])
    for ours, theirs in zip(found, RECORDED[name], strict=True):
        assert agrees(ours, theirs), f"{ours}\n{theirs}"


def graphs(**settings):
    settings = {"num_classes": 3, "num_features": 2, "num_trees": 2, "split_after_samples": 4, **settings}
    return tensor_forest.RandomForestGraphs(tensor_forest.ForestHParams(**settings).fill())


def initialize(session):
    session.run(tf.global_variables_initializer())
    session.run(resources.initialize_resources(resources.shared_resources()))


def test_settings_are_checked():
    with pytest.raises(AttributeError, match="num_features"):
        tensor_forest.ForestHParams(num_classes=2).fill()
    with pytest.raises(tf.errors.InvalidArgumentError, match="min_split_samples required"), tf.Session() as session:
        graphs(split_finish_name="hoeffding")
        initialize(session)


@pytest.mark.parametrize(
    ("examples", "labels", "message"),
    [
        (np.ones((3, 2)), [0, 1, 3], "greater than indicated number of classes"),
        (np.ones((3, 2)), [0, -1, 2], "greater than indicated number of classes"),
        (np.ones((3, 2)), [0, 1], "Labels of shape .2. are not 1 outputs for 3 examples"),
    ],
)
def test_bad_labels_are_refused(examples, labels, message):
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
    train = graphs().training_graph(x, y)
    with tf.Session() as session:
        initialize(session)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(train, {x: examples, y: labels})


def test_a_forest_must_be_initialized():
    forest = graphs()
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match="DecisionTreeResource"):
        session.run(forest.average_size())


def test_trees_that_are_damaged_are_refused(rng):
    x, y = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [None])
    forest = graphs(base_random_seed=3)
    train = forest.training_graph(x, y)
    handle = forest.variables[0].tree
    text, params = tf.placeholder(tf.string, []), forest.params.serialized_params_proto
    load = ops.tree_deserialize(handle, text, params=params)
    predictions = forest.trees[0].inference_graph(x, forest_spec(x))[0]
    examples = rng.uniform(size=(40, 2))
    with tf.Session() as session:
        initialize(session)
        for _ in range(4):
            session.run(train, {x: examples, y: rng.integers(3, size=40)})
        whole = session.run(ops.tree_serialize(handle))
        for _ in range(300):
            broken = bytearray(whole)
            for place in rng.integers(len(broken), size=rng.integers(1, 4)):
                broken[place] = rng.integers(256)
            try:
                session.run(load, {text: bytes(broken[: rng.integers(1, len(broken) + 1)])})
                session.run(predictions, {x: examples})
            except tf.errors.InvalidArgumentError as error:
                assert "Unable to parse tree  config." in str(error)


def forest_spec(x):
    from stillflow.contrib.tensor_forest.python.ops import data_ops

    return data_ops.ParseDataTensorOrDict(x)[2]
