"""Metrics that are means of something over all batches."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.confusion_matrix import remove_squeezable_dimensions
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.metrics.state import collect, metric_variable, only_in_graphs, squeezed
from stillflow.names import public
from stillflow.variables.assignments import assign_add
from stillflow.variables.scope import variable_scope


def _mean_of_sums(total, count, name):
    return ops.div_no_nan(total, ops.maximum(count, 0), name=name)


def _streamed(values, added, total, count, metrics_collections, updates_collections):
    """(the mean so far, the mean after adding the sums `added` of values and of their weights)."""
    new_total = assign_add(total, added[0])
    with control_dependencies([values]):
        new_count = assign_add(count, added[1])
    mean_so_far = collect(_mean_of_sums(total, count, "value"), metrics_collections)
    return mean_so_far, collect(_mean_of_sums(new_total, new_count, "update_op"), updates_collections)


@public("metrics.mean")
def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted mean of values over all batches, in float32.

    Args:
      values: a tensor.
      weights: a scalar, or of the values' rank, with sizes that are theirs or 1; 1 by default.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope, "mean" by default.

    Returns:
      A tensor: the mean so far, 0 before there is one. An operation that adds the values to it, and gives the mean
      after that.

    Raises:
      ValueError: for weights that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("mean")
    with variable_scope(name, "mean", (values, weights)):
        values = ops.cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = ops.cast(ops.size(values), dtypes.float32)
        else:
            values, _, weights = squeezed(values, None, weights)
            weights = broadcast_weights(ops.cast(weights, dtypes.float32), values)
            values = ops.mul(values, weights)
            number = ops.reduce_sum(weights)
        added = ops.reduce_sum(values), number
        return _streamed(values, added, total, count, metrics_collections, updates_collections)


@public("metrics.mean_tensor")
def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted mean of each element over all batches, which are of one shape.

    Arguments, results and errors are those of `mean`.
    """
    only_in_graphs("mean_tensor")
    with variable_scope(name, "mean", (values, weights)):
        values = ops.cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        number = ops.ones_like(values)
        if weights is not None:
            values, _, weights = squeezed(values, None, weights)
            weights = broadcast_weights(ops.cast(weights, dtypes.float32), values)
            values = ops.mul(values, weights)
            number = ops.mul(number, weights)
        return _streamed(values, (values, number), total, count, metrics_collections, updates_collections)


@public("metrics.accuracy")
def accuracy(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The share of predictions that are the labels.

    Args:
      labels, predictions: of one shape; one may have a last dimension of size 1 more.
      weights, metrics_collections, updates_collections, name: see `mean`.

    Returns:
      The share so far, and the operation that adds to it; see `mean`.

    Raises:
      ValueError: for shapes that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("accuracy")
    predictions, labels, weights = squeezed(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = ops.cast(predictions, labels.dtype)
    is_correct = ops.cast(ops.equal(predictions, labels), dtypes.float32)
    return mean(is_correct, weights, metrics_collections, updates_collections, name or "accuracy")


@public("metrics.percentage_below")
def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The share of values that are less than a threshold; see `mean`."""
    only_in_graphs("percentage_below")
    is_below = ops.cast(ops.less(values, threshold), dtypes.float32)
    return mean(is_below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")


# ---- Errors of numbers --------------------------------------------------------------------------------------


@public("metrics.mean_absolute_error")
def mean_absolute_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of abs(predictions - labels); see `accuracy`."""
    only_in_graphs("mean_absolute_error")
    predictions, labels, weights = squeezed(predictions, labels, weights)
    errors = ops.abs(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


@public("metrics.mean_squared_error")
def mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of (labels - predictions)^2; see `accuracy`."""
    only_in_graphs("mean_squared_error")
    predictions, labels, weights = squeezed(predictions, labels, weights)
    errors = ops.squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


@public("metrics.root_mean_squared_error")
def root_mean_squared_error(
    labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The square root of `mean_squared_error`."""
    only_in_graphs("root_mean_squared_error")
    predictions, labels, weights = squeezed(predictions, labels, weights)
    name = name or "root_mean_squared_error"
    squares, update = mean_squared_error(labels, predictions, weights, None, None, name)
    value = collect(ops.sqrt(squares), metrics_collections)
    return value, collect(ops.sqrt(update), updates_collections)


@public("metrics.mean_relative_error")
def mean_relative_error(
    labels, predictions, normalizer, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of abs(labels - predictions) / normalizer, which counts as 0 where the normalizer is 0.

    `normalizer` has the shape of the predictions; see `accuracy` for all else.
    """
    only_in_graphs("mean_relative_error")
    predictions, labels, weights = squeezed(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = ops.where(
        ops.equal(normalizer, 0.0), ops.zeros_like(labels), ops.div(ops.abs(labels - predictions), normalizer)
    )
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


@public("metrics.mean_cosine_distance")
def mean_cosine_distance(
    labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """1 minus the mean of the scalar products along the axis `dim`, of vectors of length 1; see `accuracy`."""
    only_in_graphs("mean_cosine_distance")
    predictions, labels, weights = squeezed(predictions, labels, weights)
    products = ops.reduce_sum(ops.mul(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    value = ops.sub(1.0, value)
    update = ops.sub(1.0, update)
    return collect(value, metrics_collections), collect(update, updates_collections)
