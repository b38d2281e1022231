"""Estimators of random forests learn, say what trees took, and stop when the loss stays."""

import numpy as np
import pytest
from stillflow.contrib.tensor_forest.client import random_forest
from stillflow.contrib.tensor_forest.python import tensor_forest

import stillflow as tf


@pytest.fixture
def data():
    x = np.random.RandomState(0).rand(120, 4).astype(np.float32)
    return x, (x[:, 0] + x[:, 1] > 1).astype(np.int32)


def _params(**others):
    return tensor_forest.ForestHParams(num_trees=3, max_nodes=100, num_features=4, split_after_samples=20, **others)


def test_classes_are_learned(data, tmp_path):
    x, y = data
    estimator = random_forest.TensorForestEstimator(
        _params(num_classes=2), model_dir=str(tmp_path), report_feature_importances=True
    )
    estimator.fit(x=x, y=y, steps=5)
    results = estimator.evaluate(x=x, y=y, steps=1)
    assert results["accuracy"] > 0.85
    assert results["global_step"] == 5
    first = next(iter(estimator.predict(x=x[:3])))
    assert set(first) >= {"classes", "probabilities", "prediction_variance"}


@pytest.mark.parametrize("is_regression", [False, True])
def test_the_estimator_of_the_core_learns_too(is_regression, data, tmp_path):
    x, y = data
    labels = y[:, None].astype(np.float32) if is_regression else y
    params = _params(num_classes=1 if is_regression else 2, regression=is_regression)
    estimator = random_forest.CoreTensorForestEstimator(params, model_dir=str(tmp_path), keys_column="key")
    features = {"x": x, "key": np.arange(120)}
    train = tf.estimator.inputs.numpy_input_fn(features, labels, batch_size=120, num_epochs=5, shuffle=False)
    estimator.train(train)
    assert estimator.evaluate(train, steps=1)["loss"] < 0.4
    first = next(estimator.predict(tf.estimator.inputs.numpy_input_fn({**features}, shuffle=False)))
    assert first["key"] == 0
    assert "prediction_variance" in first


def test_a_loss_that_stays_ends_training():
    class Run:
        stopped = False

        def request_stop(self):
            self.stopped = True

    hook, run = random_forest.TensorForestLossHook(2, 0.1), Run()
    for step, loss in enumerate([5.0, 4.0, 3.9, 3.9, 3.9]):
        values = tf.train.SessionRunValues({"global_step": step, "current_loss": loss}, None, None)
        assert not run.stopped
        hook.after_run(run, values)
    assert run.stopped
