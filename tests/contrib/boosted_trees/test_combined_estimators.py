"""Trees improve the logits of a network that is trained before them."""

import numpy as np
import pytest
from stillflow.contrib.boosted_trees.estimator_batch import distillation_loss
from stillflow.contrib.boosted_trees.estimator_batch import dnn_tree_combined_estimator as combined
from stillflow.contrib.boosted_trees.proto import learner_pb2

import stillflow as tf

X = np.linspace(-1, 1, 24, dtype=np.float32)[:, None]
Y = (np.abs(X) > 0.5).astype(np.int32)


def input_fn():
    return {"x": tf.constant(X)}, tf.constant(Y)


def predict_input_fn():
    """The examples once."""
    dataset = tf.data.Dataset.from_tensors({"x": X})
    return tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()


def learner():
    """What trees learn by."""
    config = learner_pb2.LearnerConfig(num_classes=2)
    config.constraints.max_tree_depth = 3
    config.learning_rate_tuner.fixed.learning_rate = 1.0
    config.regularization.l2 = 0.01
    return config


def core_estimator(folder, **settings):
    columns = [tf.feature_column.numeric_column("x")]
    arguments = {
        "dnn_hidden_units": [2],
        "dnn_feature_columns": columns,
        "tree_learner_config": learner(),
        "num_trees": 3,
        "tree_examples_per_layer": len(X),
        "head": tf.contrib.estimator.binary_classification_head(),
        "dnn_steps_to_train": 5,
        "tree_feature_columns": columns,
        "dnn_input_layer_to_tree": False,
        "model_dir": str(folder),
        "config": tf.estimator.RunConfig(tf_random_seed=1),
        **settings,
    }
    return combined.CoreDNNBoostedTreeCombinedEstimator(**arguments)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"dnn_input_layer_to_tree": True, "tree_feature_columns": None},
        {"predict_with_tree_only": True},
        {"dnn_dropout": 0.5, "dnn_optimizer": lambda: tf.compat.v1.train.GradientDescentOptimizer(0.1)},
        {"dnn_to_tree_distillation_param": (0.1, None)},
    ],
)
def test_trees_learn_what_a_network_cannot(tmp_path, settings):
    estimator = core_estimator(tmp_path, **settings)
    estimator.train(input_fn, steps=100)
    assert estimator.get_variable_value("global_step") < 40
    metrics = estimator.evaluate(input_fn, steps=1)
    assert metrics["accuracy"] == 1
    logits = [each["logits"][0] for each in estimator.predict(predict_input_fn)]
    np.testing.assert_array_equal(np.array(logits) > 0, Y[:, 0] > 0)


def test_a_network_is_evaluated_before_its_trees(tmp_path):
    estimator = core_estimator(tmp_path, predict_with_tree_only=True, dnn_steps_to_train=50)
    estimator.train(input_fn, steps=10)
    assert estimator.evaluate(input_fn, steps=1)["loss"] > 0
    assert {each["logits"][0] for each in estimator.predict(predict_input_fn)} == {0.0}


def test_a_classifier_is_made_of_columns_of_contrib(tmp_path):
    column = tf.contrib.layers.real_valued_column("x")
    estimator = combined.DNNBoostedTreeCombinedClassifier(
        [2], [column], learner(), 3, len(X), dnn_steps_to_train=5, model_dir=str(tmp_path),
        config=tf.contrib.learn.RunConfig(tf_random_seed=1), override_global_step_value=99,
    )  # fmt: skip
    estimator.fit(input_fn=input_fn, steps=100)
    assert estimator.get_variable_value("global_step") == 99
    assert estimator.evaluate(input_fn=input_fn, steps=1)["accuracy"] == 1


def test_settings_are_checked(tmp_path):
    with pytest.raises(ValueError, match="dnn_feature_columns must be specified"):
        core_estimator(tmp_path, dnn_feature_columns=[]).train(input_fn, steps=1)
    with pytest.raises(ValueError, match="features should be a dictionary"):
        core_estimator(tmp_path).train(lambda: (tf.constant(X), tf.constant(Y)), steps=1)


def test_distillation_compares_probabilities():
    network, trees = np.float32([[0.3], [-2]]), np.float32([[1], [0.5]])
    wanted, said = (1 / (1 + np.exp(-each)) for each in (network, trees))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tensors = tf.constant(network), tf.constant(trees)
        squared = session.run(distillation_loss.create_dnn_to_tree_squared_loss_fn(2)(*tensors, None))
        entropy = session.run(distillation_loss.create_dnn_to_tree_cross_entropy_loss_fn(2)(*tensors, None))
    assert squared == pytest.approx(np.mean((wanted - said) ** 2), rel=1e-5)
    assert entropy == pytest.approx(np.mean(-wanted * np.log(said) - (1 - wanted) * np.log(1 - said)), rel=1e-5)
