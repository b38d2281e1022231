"""Boosted trees make TensorFlow's graphs, grow its trees and explain themselves as it does."""

import json
from pathlib import Path

import numpy as np
import pytest
from canned.boosted_trees import tree_scenarios as scenarios
from stillflow.core.kernels.boosted_trees import boosted_trees_pb2

import stillflow as tf

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "boosted_trees.json").read_text())


pytestmark = pytest.mark.usefixtures("reference_variables")


def ensemble_of(text):
    return boosted_trees_pb2.TreeEnsemble.FromString(bytes.fromhex(text))


def numbers_of(message):
    """The numbers of a message, in the order of their fields; None between messages."""
    found = []
    for _, value in message.ListFields():
        values = value if hasattr(value, "__len__") else [value]
        for each in values:
            found += [None, *numbers_of(each)] if hasattr(each, "ListFields") else [each]
    return found


def agrees(found, expected):
    """Whether both are the same, but for the rounding of numbers."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(agrees(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-4, abs=1e-5)
    if isinstance(expected, str) and len(expected) > 200:
        return agrees(numbers_of(ensemble_of(found)), numbers_of(ensemble_of(expected)))
    return found == expected


@pytest.mark.parametrize("name", sorted(scenarios.scenarios()))
def test_trees_grow_as_they_do_in_tensorflow(name):
    found = json.loads(json.dumps(scenarios.outcome(tf, scenarios.scenarios()[name])))
    assert len(found) == len(RECORDED[name])
    for ours, theirs in zip(found, RECORDED[name], strict=True):
        assert agrees(ours, theirs), f"{ours}\n{theirs}"


def columns():
    return [tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [0.5])]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_classes": 3}, "pruning is not supported with multi class"),
        ({"n_classes": 3, "pruning_mode": None}, "only binary classification"),
        ({"pruning_mode": "sometimes"}, "pruning_mode mode must be one of: none, post, pre"),
        ({"pruning_mode": "pre"}, "tree_complexity must be positive"),
        ({"tree_complexity": 1.0}, "no effect unless pruning mode is chosen"),
    ],
)
def test_settings_are_checked(tmp_path, settings, message):
    with pytest.raises(ValueError, match=message):
        tf.estimator.BoostedTreesClassifier(columns(), 1, model_dir=str(tmp_path), **settings).train(
            lambda: ({"x": tf.constant([0.0, 1.0])}, tf.constant([0, 1])), steps=1
        )


def test_columns_that_trees_cannot_ask_are_refused(tmp_path):
    category = tf.feature_column.categorical_column_with_identity("x", 3)
    with pytest.raises(ValueError, match="must be wrapped by IndicatorColumn"):
        tf.estimator.BoostedTreesRegressor([category], 1, model_dir=str(tmp_path))


def test_explanations_need_a_bias(tmp_path):
    estimator = tf.estimator.BoostedTreesRegressor(columns(), 1, model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="center_bias must be enabled"):
        next(estimator.experimental_predict_with_explanations(lambda: {"x": tf.constant([0.0])}))


def test_training_in_memory_is_a_function_of_contrib(tmp_path):
    x = np.linspace(0, 1, 40, dtype=np.float32)

    def input_fn():
        return {"x": tf.constant(x)}, tf.constant((x > 0.5).astype(np.int32))

    estimator = tf.contrib.estimator.boosted_trees_classifier_train_in_memory(
        input_fn, columns(), model_dir=str(tmp_path), n_trees=5, max_depth=1
    )
    assert estimator.evaluate(input_fn, steps=1)["accuracy"] == 1
    number = tf.contrib.estimator.boosted_trees_regressor_train_in_memory(
        input_fn, columns(), model_dir=str(tmp_path / "number"), n_trees=30, max_depth=1, learning_rate=0.5
    )
    assert number.evaluate(input_fn, steps=1)["loss"] < 1e-6
