"""Covariance, correlation, cosine distance and counts over the batches of an evaluation."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.metrics.means import mean
from stillflow.metrics.state import collect, metric_variable, only_in_graphs, squeezed
from stillflow.names import public
from stillflow.variables.assignments import assign_add
from stillflow.variables.scope import variable_scope


def _streamed_mean(weighted, variable, batch_count, count):
    """(the batch's mean, the mean before it) of values whose mean so far is updated."""
    batch_mean = ops.div_no_nan(ops.reduce_sum(weighted), batch_count)
    delta = ops.div_no_nan((batch_mean - variable) * batch_count, count)
    return batch_mean, assign_add(variable, delta) - delta


@public("contrib.metrics.streaming_covariance")
def streaming_covariance(
    predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The unbiased covariance of predictions and labels so far, and an operation that adds to it.

    It is NaN until there are two. "Updating formulae and a pairwise algorithm for computing sample variances",
    Chan et al. 1979.

    Args:
      predictions, labels: float tensors of one shape.
      weights: a scalar, or of the labels' rank, with sizes that are theirs or 1; 1 by default.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope.

    Raises:
      ValueError: for shapes that do not fit.
    """
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        names = ("count", "mean_prediction", "mean_label", "comoment")
        count, mean_prediction, mean_label, comoment = (
            metric_variable([], dtypes.float32, name=each) for each in names
        )
        weighted = predictions, labels
        if weights is None:
            batch_count = ops.cast(ops.size(labels), dtypes.float32)
        else:
            weights = broadcast_weights(weights, labels)
            batch_count = ops.reduce_sum(weights)
            weighted = ops.mul(predictions, weights), ops.mul(labels, weights)
        new_count = assign_add(count, batch_count)
        previous_count = new_count - batch_count
        batch_prediction, previous_prediction = _streamed_mean(weighted[0], mean_prediction, batch_count, new_count)
        batch_label, previous_label = _streamed_mean(weighted[1], mean_label, batch_count, new_count)
        residuals = (predictions - batch_prediction) * (labels - batch_label)
        batch_comoment = ops.reduce_sum(residuals if weights is None else residuals * weights)
        delta = batch_comoment + (previous_prediction - batch_prediction) * (previous_label - batch_label) * (
            previous_count * batch_count / new_count
        )
        update_comoment = assign_add(comoment, delta)

        def covariance(suffix):
            is_too_few = ops.less_equal(count, 1.0)
            return ops.where(is_too_few, float("nan"), ops.truediv(comoment, count - 1), name=suffix)

        value = covariance("covariance")
        with control_dependencies([update_comoment]):
            update = covariance("update_op")
    return collect(value, metrics_collections), collect(update, updates_collections)


@public("contrib.metrics.streaming_pearson_correlation")
def streaming_pearson_correlation(
    predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """Pearson's correlation of predictions and labels so far, and an update; see streaming_covariance."""
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        pairs = (predictions, labels), (predictions, predictions), (labels, labels)
        names = ("covariance", "variance_predictions", "variance_labels")
        found = [streaming_covariance(*pair, weights, name=each) for pair, each in zip(pairs, names, strict=True)]

        def correlation(which, suffix):
            both, first, second = (pair[which] for pair in found)
            return ops.truediv(both, ops.mul(ops.sqrt(first), ops.sqrt(second)), name=suffix)

        value, update = correlation(0, "pearson_r"), correlation(1, "update_op")
    return collect(value, metrics_collections), collect(update, updates_collections)


@public("contrib.metrics.streaming_mean_cosine_distance")
def streaming_mean_cosine_distance(
    predictions, labels, dim, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of 1 - the products of unit vectors along dimension `dim`, and an update; see tf.metrics.mean."""
    predictions, labels, weights = squeezed(predictions, labels, weights)
    predictions.shape.assert_is_compatible_with(labels.shape)
    products = ops.reduce_sum(ops.mul(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    value, update = ops.sub(1.0, value), ops.sub(1.0, update)
    return collect(value, metrics_collections), collect(update, updates_collections)


@public("contrib.metrics.count")
def count(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """How many values there were so far, or their weights' sum; and an operation that adds to it.

    Args:
      values: a tensor.
      weights: a scalar, or of the values' rank, with sizes that are theirs or 1; 1 by default.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope.

    Raises:
      ValueError: for shapes that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("count")
    with variable_scope(name, "count", (values, weights)):
        total = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = ops.cast(ops.size(values), dtypes.float32)
        else:
            values, _, weights = squeezed(ops.cast(values, dtypes.float32), None, weights)
            weights = broadcast_weights(ops.cast(weights, dtypes.float32), values)
            number = ops.reduce_sum(weights)
        with control_dependencies([values]):
            update = assign_add(total, number)
        return collect(ops.identity(total), metrics_collections), collect(update, updates_collections)
