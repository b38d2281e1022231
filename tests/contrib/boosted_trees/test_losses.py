"""Losses of boosted trees are what their formulas say, for every example by itself."""

import numpy as np
import pytest
from stillflow.contrib.boosted_trees.python.utils import losses

import stillflow as tf

LABELS = np.float32([[1], [0], [1], [0]])
PREDICTIONS = np.float32([[2.0], [-0.5], [-1.0], [0.25]])
WEIGHTS = np.float32([[1], [2], [0.5], [1]])
SIGNS = 2 * LABELS - 1


def values_of(loss, *args, **kwargs):
    """What a loss is with weights, after a look at it without."""
    labels, predictions, *rest = args
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        plain, update = loss(tf.constant(labels), None, tf.constant(predictions), *rest, **kwargs)
        weighted, _ = loss(tf.constant(labels), tf.constant(WEIGHTS), tf.constant(predictions), *rest, **kwargs)
        plain, weighted, nothing = session.run([plain, weighted, update])
    assert nothing is None
    np.testing.assert_allclose(weighted, plain * WEIGHTS, rtol=1e-6)
    return plain


def test_logistic_loss():
    found = values_of(losses.per_example_logistic_loss, LABELS, PREDICTIONS)
    np.testing.assert_allclose(found, np.log1p(np.exp(-SIGNS * PREDICTIONS)), rtol=1e-5)


def test_squared_loss():
    found = values_of(losses.per_example_squared_loss, LABELS, PREDICTIONS)
    np.testing.assert_allclose(found, (PREDICTIONS - LABELS) ** 2, rtol=1e-6)


def test_squared_loss_adds_up_what_an_example_predicts():
    labels, predictions = np.float32([[1, 2], [0, 0], [1, 1], [2, 2]]), np.float32([[0, 0], [3, 4], [1, 1], [2, 1]])
    found = values_of(losses.per_example_squared_loss, labels, predictions)
    np.testing.assert_allclose(found, [[5], [25], [0], [1]])


def test_quantile_loss_is_squared_where_it_is_below_one():
    labels = np.float32([[1], [4], [1], [9]])
    predictions = np.float32([[0], [0], [4], [10]])
    found = values_of(losses.per_example_quantile_regression_loss, labels, predictions, 0.5)
    np.testing.assert_allclose(found, [[0.25], [2], [1.5], [0.25]])


def test_maxent_loss():
    labels = np.int32([2, 0, 1, 1])
    logits = np.float32([[0, 1, 2], [0, 0, 0], [1, 3, 1], [200, 0, 0]]) / np.float32([[1], [1], [1], [4]])
    found = values_of(losses.per_example_maxent_loss, labels, logits, num_classes=3)
    shares = np.exp(logits.astype(np.float64))
    shares /= shares.sum(1, keepdims=True)
    least = np.maximum(shares[np.arange(4), labels], 1e-15)
    np.testing.assert_allclose(found, -np.log(least)[:, None], rtol=1e-5)


def test_exp_loss_cuts_answers_off():
    found = values_of(losses.per_example_exp_loss, LABELS, PREDICTIONS, eps=0.3)
    answers = np.clip((1 / (1 + np.exp(-PREDICTIONS)) - 0.5) / 0.3, -1, 1)
    np.testing.assert_allclose(found, np.exp(-answers * SIGNS), rtol=1e-5)


def test_full_exp_loss():
    found = values_of(losses.per_example_full_exp_loss, LABELS, PREDICTIONS)
    np.testing.assert_allclose(found, np.exp(-PREDICTIONS * SIGNS), rtol=1e-6)


@pytest.mark.parametrize("loss", [losses.per_example_exp_loss, losses.per_example_full_exp_loss])
def test_labels_have_the_shape_of_predictions(loss):
    with pytest.raises(ValueError, match="must have the same shape"):
        loss(tf.zeros([4, 2]), None, tf.zeros([4, 1]))


def test_squared_hinge_loss_is_the_square_of_a_mean():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        loss, _ = losses.per_example_squared_hinge_loss(LABELS, WEIGHTS, tf.constant(PREDICTIONS))
        found = session.run(loss)
    hinge = WEIGHTS * np.maximum(0, 1 - SIGNS * PREDICTIONS)
    assert found == pytest.approx((hinge.sum() / 4) ** 2)
