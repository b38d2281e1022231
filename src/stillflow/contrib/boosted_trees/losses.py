"""Losses of single examples that have second derivatives."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import sigmoid_cross_entropy_with_logits
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.losses.classification import hinge_loss
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _weighted(loss, weights):
    """(loss times weights, an operation that does nothing)."""
    return (loss if weights is None else ops.mul(loss, weights)), ops.no_op()


@public("contrib.boosted_trees.python.utils.losses.per_example_squared_hinge_loss")
def per_example_squared_hinge_loss(labels, weights, predictions):
    """(the square of the mean hinge loss, an operation that does nothing) of labels 0 and 1."""
    loss = hinge_loss(labels=labels, logits=predictions, weights=weights)
    return ops.square(loss), ops.no_op()


@public("contrib.boosted_trees.python.utils.losses.per_example_logistic_loss")
def per_example_logistic_loss(labels, weights, predictions):
    """Logistic loss.

    Args:
      labels, weights, predictions: [n, 1].

    Returns:
      (float32 [n, 1], an operation that does nothing).
    """
    labels = ops.cast(labels, dtypes.float32)
    return _weighted(sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions), weights)


@public("contrib.boosted_trees.python.utils.losses.per_example_quantile_regression_loss")
def per_example_quantile_regression_loss(labels, weights, predictions, quantile):
    """The loss that a quantile of the labels minimizes, squared where it is below 1.

    Its second derivative is 0 elsewhere, so that leaves need an l2 regularization or a least weight.

    Args:
      labels, predictions: [n, d].
      weights: [n, 1], or None.
      quantile: in (0, 1).

    Returns:
      (float32 [n, d], an operation that does nothing).
    """
    labels = ops.cast(labels, dtypes.float32)
    error = labels - predictions
    right = ops.where(ops.less(error * quantile, 1.0), ops.square(ops.mul(quantile, error)), ops.mul(quantile, error))
    left = ops.where(
        ops.less(error * (quantile - 1), 1.0),
        ops.square(ops.mul(quantile - 1, error)),
        ops.mul(quantile - 1, error),
    )
    return _weighted(ops.where(ops.greater(error, 0.0), right, left), weights)


@public("contrib.boosted_trees.python.utils.losses.per_example_maxent_loss")
def per_example_maxent_loss(labels, weights, logits, num_classes, eps=1e-15):
    """Cross entropy of many classes.

    Args:
      labels: [n] or [n, 1], the classes.
      weights: [n, 1], or None.
      logits: [n, num_classes].
      num_classes: how many classes there are.
      eps: probabilities are taken to lie in [eps, 1 - eps].

    Returns:
      (float32 [n, 1], an operation that does nothing).
    """
    labels = ops.cast(labels, dtypes.int64)
    if len(labels.get_shape()) != 2:
        labels = ops.expand_dims(labels, 1)
    one_hot = ops.one_hot(indices=labels, depth=num_classes)
    labels = ops.cast(ops.reduce_sum(one_hot, axis=[1]), dtypes.float32)
    powers = ops.exp(logits)
    total = ops.reduce_sum(powers, 1, keepdims=True)
    probabilities = ops.divide(powers, ops.add(total, eps))
    chosen = ops.reduce_sum(labels * probabilities, 1)
    least = ops.zeros_like(chosen, dtype=logits.dtype) + eps
    greatest = ops.ones_like(chosen, dtype=logits.dtype) - eps
    chosen = ops.where(ops.greater_equal(chosen, eps), chosen, least)
    chosen = ops.where(ops.less_equal(chosen, 1 - eps), chosen, greatest)
    return _weighted(ops.expand_dims(-ops.log(chosen), 1), weights)


@public("contrib.boosted_trees.python.utils.losses.per_example_squared_loss")
def per_example_squared_loss(labels, weights, predictions):
    """Squared differences.

    Args:
      labels, predictions: [n, d].
      weights: [n, 1].

    Returns:
      (float32 [n, 1], an operation that does nothing).
    """
    loss = ops.reduce_sum(ops.squared_difference(predictions, labels), 1, keepdims=True)
    return _weighted(loss, weights)


def _signs(labels, logits, name):
    """1 for labels above 0, -1 for others. Raises ValueError for logits of another shape."""
    with name_scope(name, "exp_loss", [logits, labels]):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        try:
            labels.get_shape().merge_with(logits.get_shape())
        except ValueError:
            raise ValueError(
                f"logits and labels must have the same shape ({logits.get_shape()} vs {labels.get_shape()})"
            ) from None
    ones = ops.ones_like(logits, dtype=logits.dtype)
    return ops.where(ops.greater(labels, ops.zeros_like(logits, dtype=logits.dtype)), ones, ops.negative(ones)), ones


@public("contrib.boosted_trees.python.utils.losses.per_example_exp_loss")
def per_example_exp_loss(labels, weights, predictions, name=None, eps=0.1):
    """exp(-label * answer) of labels -1 and 1: whether an answer is right counts, not by how much.

    The answer is sigmoid(prediction) / eps - 1 / (2 eps), cut at -1 and 1.

    Args:
      labels, predictions: [n, d], labels above 0 are of the second class.
      weights: [n, 1].
      name: of the scope.
      eps: half of the range of probabilities within which answers are not cut.

    Returns:
      (float32 [n, d], an operation that does nothing).

    Raises ValueError for labels and predictions of different shapes.
    """
    labels = ops.cast(labels, dtypes.float32)
    predictions = convert_to_tensor(predictions)
    signs, ones = _signs(labels, predictions, name)
    answers = ops.mul(1.0 / eps, ops.sigmoid(predictions)) + (-1.0 / 2 / eps)
    answers = ops.where(ops.less(answers, -1.0), ops.negative(ones), answers)
    answers = ops.where(ops.greater(answers, 1.0), ones, answers)
    return _weighted(ops.exp(ops.negative(answers) * signs), weights)


@public("contrib.boosted_trees.python.utils.losses.per_example_full_exp_loss")
def per_example_full_exp_loss(labels, weights, predictions, name=None):
    """exp(-label * prediction) of labels -1 and 1. Args and what it returns: see per_example_exp_loss."""
    labels = ops.cast(labels, dtypes.float32)
    predictions = convert_to_tensor(predictions)
    signs, _ = _signs(labels, predictions, name)
    return _weighted(ops.exp(ops.mul(-1.0, predictions) * signs), weights)
