"""Regression losses: absolute, squared, Huber, log and pairwise losses, cosine distance."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.weights_broadcast import assert_broadcastable
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.losses.collected import add_loss
from stillflow.losses.weighted import Reduction, compute_weighted_loss, num_present
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor


def require(**given):
    """Raises ValueError for an argument that is None."""
    for name, value in given.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def as_floats(predictions, labels):
    """Both as float32. Raises ValueError for shapes that differ."""
    predictions, labels = ops.cast(predictions, dtypes.float32), ops.cast(labels, dtypes.float32)
    predictions.shape.assert_is_compatible_with(labels.shape)
    return predictions, labels


@public("losses.absolute_difference")
def absolute_difference(
    labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """abs(predictions - labels), weighted and reduced as by `compute_weighted_loss`.

    Args:
      labels, predictions: of one shape.
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", (predictions, labels, weights)) as scope:
        predictions, labels = as_floats(predictions, labels)
        losses = ops.abs(ops.sub(predictions, labels))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.cosine_distance")
def cosine_distance(
    labels, predictions, axis=None, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS, dim=None,
):  # fmt: skip
    """1 minus the scalar product along `axis`, of vectors that have length 1, weighted and reduced.

    Args:
      labels, predictions: of one shape.
      axis: the axis of the vectors; `dim` is its old name.
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`. The losses have size 1 along `axis`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    require(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", (predictions, labels, weights)) as scope:
        predictions, labels = as_floats(predictions, labels)
        losses = 1 - ops.reduce_sum(ops.mul(predictions, labels), axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.huber_loss")
def huber_loss(
    labels, predictions, weights=1.0, delta=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """Of an error e: e^2 / 2 up to `delta`, beyond it delta * (abs(e) - delta / 2); weighted and reduced.

    Huber, "Robust Estimation of a Location Parameter", 1964.

    Args:
      labels, predictions: of one shape.
      delta: where the square ends.
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", (predictions, labels, weights)) as scope:
        predictions, labels = as_floats(predictions, labels)
        error = ops.abs(ops.sub(predictions, labels))
        quadratic = ops.minimum(error, delta)
        # The maximum of error - delta and 0 would have a derivative of 1 at delta, where the square has one already.
        linear = ops.sub(error, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        losses = ops.add(ops.mul(half, ops.mul(quadratic, quadratic)), ops.mul(delta, linear))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.log_loss")
def log_loss(
    labels, predictions, weights=1.0, epsilon=1e-07, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """-labels * log(predictions) - (1 - labels) * log(1 - predictions), weighted and reduced.

    Args:
      labels, predictions: probabilities, of one shape.
      epsilon: what is added to probabilities so that they have logarithms.
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", (predictions, labels, weights)) as scope:
        predictions, labels = as_floats(predictions, labels)
        of_ones = -ops.mul(labels, ops.log(predictions + epsilon))
        losses = of_ones - ops.mul((1 - labels), ops.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.mean_squared_error")
def mean_squared_error(
    labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """(predictions - labels)^2, weighted and reduced as by `compute_weighted_loss`.

    Args:
      labels, predictions: of one shape.
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", (predictions, labels, weights)) as scope:
        predictions, labels = as_floats(predictions, labels)
        losses = ops.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES):
    """The mean of squared differences between the errors of two elements, over all pairs in an element of the batch.

    With errors e of n elements it is 2 sum(e^2) / (n - 1) - 2 sum(e)^2 / (n (n - 1)), summed over the batch.

    Args:
      labels, predictions: [batch, ...], of one shape.
      weights: a scalar, or of the labels' rank, with sizes that are theirs or 1.
      scope: the name scope.
      loss_collection: the collection to add the result to, or None.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", (predictions, labels, weights)) as scope:
        weights = ops.cast(weights, dtypes.float32)
        labels = ops.cast(labels, dtypes.float32)
        with control_dependencies((assert_broadcastable(weights, labels),)):
            predictions = ops.cast(predictions, dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            errors = ops.sub(predictions, labels)
            axes = ops.range(1, ops.rank(errors))
            squares = ops.reduce_sum(ops.square(errors), axis=axes, keepdims=True)
            count = num_present(errors, weights, per_batch=True)
            first = 2.0 * ops.div_no_nan(squares, ops.maximum(count - 1, 0), name="value")
            total = ops.reduce_sum(errors, axis=axes, keepdims=True)
            second = 2.0 * ops.div_no_nan(ops.square(total), ops.maximum(ops.mul(count, count - 1), 0), name="value")
            loss = ops.reduce_sum(ops.mul(first - second, weights))
            mean = ops.where(ops.reduce_sum(count) > 0, loss, ops.zeros_like(loss), name="value")
            add_loss(mean, loss_collection)
            return mean
