"""Metrics of classifiers with probabilities, of tf.metrics."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.keys import MetricKeys
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph.name_scope import name_scope
from stillflow.metrics.curves import auc
from stillflow.metrics.means import accuracy, mean
from stillflow.metrics.thresholds import precision_at_thresholds, recall_at_thresholds


def _broadcast(weights, values):
    return weights if weights is None else broadcast_weights(weights, values)


def labels_mean(labels, weights=None, name=None):
    """The mean of labels that are 0 or 1."""
    with name_scope(name, "labels_mean", (labels, weights)) as scope:
        labels = ops.to_float(labels, name="labels")
        return mean(labels, weights=_broadcast(weights, labels), name=scope)


def predictions_mean(predictions, weights=None, name=None):
    """The mean of predictions."""
    with name_scope(name, "predictions_mean", (predictions, weights)) as scope:
        predictions = ops.to_float(predictions, name="predictions")
        return mean(predictions, weights=_broadcast(weights, predictions), name=scope)


def accuracy_baseline(mean_of_labels):
    """The accuracy of always saying the more frequent of two classes."""
    with name_scope(None, "accuracy_baseline", mean_of_labels):
        value, update = mean_of_labels
        return ops.maximum(value, 1.0 - value, name="value"), ops.maximum(update, 1 - update, name="update_op")


def area(labels, predictions, weights=None, curve="ROC", name=None):
    """The area under a curve."""
    with name_scope(name, "auc", (predictions, labels, weights)) as scope:
        predictions = ops.to_float(predictions, name="predictions")
        weights = _broadcast(weights, predictions)
        return auc(labels=labels, predictions=predictions, weights=weights, curve=curve, name=scope)


def _accuracy_at(labels, predictions, weights, threshold, name):
    with name_scope(name, f"accuracy_at_{threshold}", (predictions, labels, weights, threshold)) as scope:
        above = ops.to_float(ops.greater_equal(predictions, threshold))
        return accuracy(labels=labels, predictions=above, weights=weights, name=scope)


def _share_at(metric, what, labels, predictions, weights, threshold, name):
    with name_scope(name, f"{what}_at_{threshold}", (predictions, labels, weights, threshold)) as scope:
        value, update = metric(
            labels=labels, predictions=predictions, thresholds=(threshold,), weights=weights, name=scope
        )
        return ops.squeeze(value), ops.squeeze(update)


def at_thresholds(key, labels, predictions, weights, thresholds):
    """Accuracy, precision and recall at each threshold: {key(name of the metric): (value, update)}."""
    found = {}
    given = labels, predictions, weights
    for threshold in thresholds:
        name = MetricKeys.ACCURACY_AT_THRESHOLD % threshold
        found[key(name)] = _accuracy_at(*given, threshold, name)
        name = MetricKeys.PRECISION_AT_THRESHOLD % threshold
        found[key(name)] = _share_at(precision_at_thresholds, "precision", *given, threshold, name)
        name = MetricKeys.RECALL_AT_THRESHOLD % threshold
        found[key(name)] = _share_at(recall_at_thresholds, "recall", *given, threshold, name)
    return found
