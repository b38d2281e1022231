"""Boosted trees of tf.contrib grow as TensorFlow's do, and their estimators say the same."""

import json
from pathlib import Path

import numpy as np
import pytest
from contrib.boosted_trees import tree_scenarios as scenarios
from stillflow.contrib.boosted_trees.estimator_batch import estimator, model
from stillflow.contrib.boosted_trees.proto import learner_pb2
from stillflow.contrib.boosted_trees.python.training.functions import gbdt_batch

import stillflow as tf

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "contrib_boosted_trees.json").read_text())


def agrees(found, expected):
    """Whether both are the same, but for the rounding of numbers."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(agrees(found[key], expected[key]) for key in expected)
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-4, abs=1e-6)
    return found == expected


@pytest.mark.parametrize("name", sorted(scenarios.scenarios()))
def test_trees_grow_as_they_do_in_tensorflow(name):
    found = json.loads(json.dumps(scenarios.outcome(tf, scenarios.scenarios()[name])))
    assert len(found) == len(RECORDED[name])
    for ours, theirs in zip(found, RECORDED[name], strict=True):
        assert agrees(ours, theirs), f"{ours}\n{theirs}"


def build(handle="new", **settings):
    """A model of one feature."""
    arguments = {
        "is_chief": True,
        "num_ps_replicas": 0,
        "center_bias": False,
        "examples_per_layer": 1,
        "learner_config": learner_pb2.LearnerConfig(num_classes=2),
        "features": {"x": tf.ones([4, 1])},
        "logits_dimension": 1,
        **settings,
    }
    if handle == "new":
        handle = tf.constant(0)
    return gbdt_batch.GradientBoostedDecisionTreeModel(ensemble_handle=handle, **arguments)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"handle": None}, "ensemble_handle must be specified"),
        ({"learner_config": None}, "learner_config must be specified"),
        ({"learner_config": learner_pb2.LearnerConfig(num_classes=1)}, "Number of classes must be >=2"),
        ({"loss_reduction": "none"}, "Invalid loss reduction"),
        ({"features": {}}, "Features dictionary must be specified"),
        ({"features": {"x": tf.compat.v1.placeholder}}, None),
        ({"output_leaf_index_modes": ["other"]}, "should only contain ModeKeys"),
    ],
)
def test_settings_of_a_model_are_checked(settings, message):
    if message is None:
        settings = {"features": {"x": tf.ones([4, 1], tf.int32)}}
        message = "Unsupported dense feature"
    with pytest.raises(ValueError, match=message):
        build(**settings)


def test_several_logits_have_no_bias_to_center():
    config = learner_pb2.LearnerConfig(num_classes=3)
    with pytest.raises(ValueError, match="Center bias should be False for multiclass"):
        build(learner_config=config, logits_dimension=3, center_bias=True)


def test_oblivious_trees_are_not_pruned_after_and_ask_no_sparse_numbers():
    config = learner_pb2.LearnerConfig(num_classes=2, weak_learner_type=1)
    sparse = tf.SparseTensor([[0, 0]], [1.0], [4, 1])
    with pytest.raises(ValueError, match="sparse float features"):
        build(learner_config=config, features={"x": sparse})
    config.pruning_mode = config.POST_PRUNE
    with pytest.raises(ValueError, match="Post pruning"):
        build(learner_config=config)


def test_a_learning_rate_cannot_be_searched(tmp_path):
    config = learner_pb2.LearnerConfig()
    config.learning_rate_tuner.line_search.num_steps = 3
    trees = estimator.GradientBoostedDecisionTreeRegressor(config, examples_per_layer=4, model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="Line search learning rate is not yet supported"):
        trees.fit(input_fn=lambda: ({"x": tf.ones([4, 1])}, tf.ones([4, 1])), steps=1)


def test_a_classifier_checks_its_number_of_classes():
    config = learner_pb2.LearnerConfig(num_classes=4)
    with pytest.raises(ValueError, match=r"n_classes \(3\) doesn't match learner_config \(4\)"):
        estimator.GradientBoostedDecisionTreeClassifier(config, examples_per_layer=4, n_classes=3)


def test_a_model_function_checks_what_it_is_given():
    with pytest.raises(ValueError, match="At least one feature"):
        model.model_builder(None, None, "train", {}, None)
    with pytest.raises(ValueError, match="Missing estimator RunConfig"):
        model.model_builder({"x": tf.ones([4, 1])}, None, "train", {}, None)


def test_each_tree_starts_with_the_splits_that_are_given(tmp_path):
    config = learner_pb2.LearnerConfig(each_tree_start_num_layers=1)
    config.constraints.max_tree_depth = 2
    nodes = config.each_tree_start.nodes
    split = nodes.add().dense_float_binary_split
    split.threshold, split.left_id, split.right_id = 0.4, 1, 2
    for _ in range(2):
        nodes.add().leaf.vector.value.append(0.0)
    trees = estimator.GradientBoostedDecisionTreeRegressor(
        config, examples_per_layer=8, num_trees=2, center_bias=False, model_dir=str(tmp_path)
    )
    x = np.linspace(0, 1, 8, dtype=np.float32)[:, None]
    trees.fit(input_fn=lambda: ({"x": tf.constant(x)}, tf.constant(x**2)), steps=12)
    grown, *_ = scenarios._trees(tf, str(tmp_path))
    assert len(grown) > 1
    assert all(tree[0][0] == "dense_float_binary_split" for tree in grown)
    assert all(tree[0][1]["threshold"] == pytest.approx(0.4) for tree in grown)


def test_training_stops_after_the_trees_and_sets_the_global_step(tmp_path):
    config = learner_pb2.LearnerConfig()
    config.constraints.max_tree_depth = 1
    trees = estimator.GradientBoostedDecisionTreeRegressor(
        config, examples_per_layer=8, num_trees=2, center_bias=False, model_dir=str(tmp_path),
        override_global_step_value=1000,
    )  # fmt: skip
    x = np.linspace(0, 1, 8, dtype=np.float32)[:, None]
    trees.fit(input_fn=lambda: ({"x": tf.constant(x)}, tf.constant(x**2)), steps=50)
    assert trees.get_variable_value("finalized_trees") == 2
    assert trees.get_variable_value("global_step") == 1000
