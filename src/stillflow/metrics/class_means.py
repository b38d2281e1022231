"""Metrics averaged over classes: mean_per_class_accuracy, mean_iou."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.confusion_matrix import confusion_matrix
from stillflow.graph import dtypes
from stillflow.metrics.state import collect, metric_variable, only_in_graphs
from stillflow.names import public
from stillflow.variables.assignments import assign_add, scatter_add
from stillflow.variables.scope import variable_scope


def _flat(tensor):
    return ops.reshape(tensor, [-1]) if tensor.shape.rank > 1 else tensor


@public("metrics.mean_per_class_accuracy")
def mean_per_class_accuracy(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over the classes of the share of elements of a class that are predicted to be of it.

    Args:
      labels, predictions: tensors of classes, of one shape.
      num_classes: how many there are.
      weights: a tensor of the labels' shape, or None.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope, "mean_accuracy" by default.

    Returns:
      The mean so far; the operation that adds to it, which gives the accuracy of each class.

    Raises:
      ValueError: for shapes that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("mean_per_class_accuracy")
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(ops.cast(labels, dtypes.int64))
        predictions = _flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = ops.ones([ops.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = ops.cast(predictions, labels.dtype)
        is_correct = ops.cast(ops.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = ops.cast(_flat(weights), dtypes.float32)
            is_correct *= weights
            ones *= weights
        new_total = scatter_add(total, labels, ones)
        new_count = scatter_add(count, labels, is_correct)
        accuracies = ops.div_no_nan(count, ops.maximum(total, 0), name=None)
        value = collect(ops.reduce_mean(accuracies, name="mean_accuracy"), metrics_collections)
        update = ops.div_no_nan(new_count, ops.maximum(new_total, 0), name="update_op")
        return value, collect(update, updates_collections)


@public("metrics.mean_iou")
def mean_iou(
    labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over the classes of intersection over union: of elements that are of a class, and are predicted to be.

    Classes that do not occur do not count.

    Args:
      labels, predictions: tensors of classes, of one shape.
      num_classes: how many there are.
      weights: a tensor of the labels' shape, or None.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope, "mean_iou" by default.

    Returns:
      The mean so far; the operation that adds to the confusion matrix, which it gives.

    Raises:
      ValueError: for shapes that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("mean_iou")
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix, update = _streaming_confusion_matrix(labels, predictions, num_classes, weights)
        rows = ops.cast(ops.reduce_sum(matrix, 0), dtypes.float32)
        columns = ops.cast(ops.reduce_sum(matrix, 1), dtypes.float32)
        intersections = ops.cast(ops.diag_part(matrix), dtypes.float32)
        unions = rows + columns - intersections
        count = ops.reduce_sum(ops.cast(ops.not_equal(unions, 0), dtypes.float32))
        unions = ops.where(ops.greater(unions, 0), unions, ops.ones_like(unions))
        ratios = ops.div(intersections, unions)
        value = ops.where(ops.greater(count, 0), ops.reduce_sum(ratios, name="mean_iou") / count, 0)
        return collect(value, metrics_collections), collect(update, updates_collections)


def _streaming_confusion_matrix(labels, predictions, num_classes, weights):
    """The confusion matrix of all batches, a variable, and the operation that adds to it."""
    total = metric_variable([num_classes, num_classes], dtypes.float64, name="total_confusion_matrix")
    predictions = ops.cast(predictions, dtypes.int64)
    labels = ops.cast(labels, dtypes.int64)
    num_classes = ops.cast(num_classes, dtypes.int64)
    predictions, labels = _flat(predictions), _flat(labels)
    if weights is not None:
        weights = _flat(weights)
    current = confusion_matrix(labels, predictions, num_classes, weights=weights, dtype=dtypes.float64)
    return total, assign_add(total, current)
