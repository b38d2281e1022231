"""Metrics of tf.metrics under the names that they had before, with predictions before labels."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.metrics import class_means, counts, curves, means, rankings
from stillflow.metrics import thresholds as thresholds_metrics
from stillflow.metrics.top_k_counts import at_k_name
from stillflow.names import public


def _switched(metric):
    """The metric with predictions first."""

    @functools.wraps(metric, assigned=("__doc__",), updated=())
    def streaming(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return metric(labels, predictions, weights, metrics_collections, updates_collections, name)

    del streaming.__wrapped__  # whose signature is another one
    return streaming


streaming_true_positives = public("contrib.metrics.streaming_true_positives")(_switched(counts.true_positives))
streaming_true_negatives = public("contrib.metrics.streaming_true_negatives")(_switched(counts.true_negatives))
streaming_false_positives = public("contrib.metrics.streaming_false_positives")(_switched(counts.false_positives))
streaming_false_negatives = public("contrib.metrics.streaming_false_negatives")(_switched(counts.false_negatives))
streaming_accuracy = public("contrib.metrics.streaming_accuracy")(_switched(means.accuracy))
streaming_precision = public("contrib.metrics.streaming_precision")(_switched(counts.precision))
streaming_recall = public("contrib.metrics.streaming_recall")(_switched(counts.recall))
streaming_mean_absolute_error = public("contrib.metrics.streaming_mean_absolute_error")(
    _switched(means.mean_absolute_error)
)
streaming_mean_squared_error = public("contrib.metrics.streaming_mean_squared_error")(
    _switched(means.mean_squared_error)
)
streaming_root_mean_squared_error = public("contrib.metrics.streaming_root_mean_squared_error")(
    _switched(means.root_mean_squared_error)
)


@public("contrib.metrics.streaming_mean")
def streaming_mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The old name of tf.metrics.mean."""
    return means.mean(values, weights, metrics_collections, updates_collections, name)


@public("contrib.metrics.streaming_mean_tensor")
def streaming_mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The old name of tf.metrics.mean_tensor."""
    return means.mean_tensor(values, weights, metrics_collections, updates_collections, name)


@public("contrib.metrics.streaming_percentage_less")
def streaming_percentage_less(
    values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of tf.metrics.percentage_below."""
    return means.percentage_below(values, threshold, weights, metrics_collections, updates_collections, name)


@public("contrib.metrics.streaming_mean_relative_error")
def streaming_mean_relative_error(
    predictions, labels, normalizer, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of tf.metrics.mean_relative_error, with predictions first."""
    return means.mean_relative_error(
        labels, predictions, normalizer, weights, metrics_collections, updates_collections, name
    )


@public("contrib.metrics.streaming_mean_iou")
def streaming_mean_iou(
    predictions, labels, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of tf.metrics.mean_iou, with predictions first."""
    return class_means.mean_iou(
        labels, predictions, num_classes, weights, metrics_collections, updates_collections, name
    )


@public("contrib.metrics.streaming_auc")
def streaming_auc(
    predictions, labels, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
    curve="ROC", name=None,
):  # fmt: skip
    """The old name of tf.metrics.auc, with predictions first."""
    return curves.auc(
        labels, predictions, weights, num_thresholds, metrics_collections, updates_collections, curve, name
    )


@public("contrib.metrics.streaming_specificity_at_sensitivity")
def streaming_specificity_at_sensitivity(
    predictions, labels, sensitivity, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The old name of tf.metrics.specificity_at_sensitivity, with predictions first."""
    return curves.specificity_at_sensitivity(
        labels, predictions, sensitivity, weights, num_thresholds, metrics_collections, updates_collections, name
    )


@public("contrib.metrics.streaming_sensitivity_at_specificity")
def streaming_sensitivity_at_specificity(
    predictions, labels, specificity, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The old name of tf.metrics.sensitivity_at_specificity, with predictions first."""
    return curves.sensitivity_at_specificity(
        labels, predictions, specificity, weights, num_thresholds, metrics_collections, updates_collections, name
    )


@public("contrib.metrics.streaming_precision_at_thresholds")
def streaming_precision_at_thresholds(
    predictions, labels, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of tf.metrics.precision_at_thresholds, with predictions first."""
    return thresholds_metrics.precision_at_thresholds(
        labels, predictions, thresholds, weights, metrics_collections, updates_collections, name
    )


@public("contrib.metrics.streaming_recall_at_thresholds")
def streaming_recall_at_thresholds(
    predictions, labels, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of tf.metrics.recall_at_thresholds, with predictions first."""
    return thresholds_metrics.recall_at_thresholds(
        labels, predictions, thresholds, weights, metrics_collections, updates_collections, name
    )


# ---- The best k ---------------------------------------------------------------------------------------------


@public("contrib.metrics.streaming_recall_at_k")
def streaming_recall_at_k(
    predictions, labels, k, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """How often the label is among the k best predictions: their mean so far, and an operation that adds to it.

    Args:
      predictions: floats, [batch, classes].
      labels: numbers of classes, [batch].
      k: how many.
      weights, metrics_collections, updates_collections, name: as tf.metrics.mean has them.
    """
    hits = ops.cast(ops.in_top_k(predictions, labels, k), dtypes.float32)
    return means.mean(hits, weights, metrics_collections, updates_collections, name or at_k_name("recall", k))


@public("contrib.metrics.streaming_sparse_recall_at_k")
def streaming_sparse_recall_at_k(
    predictions, labels, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of tf.metrics.recall_at_k, with predictions first."""
    return rankings.recall_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


@public("contrib.metrics.streaming_sparse_precision_at_k")
def streaming_sparse_precision_at_k(
    predictions, labels, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of tf.metrics.precision_at_k, with predictions first."""
    return rankings.precision_at_k(
        labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name
    )


@public("contrib.metrics.streaming_sparse_precision_at_top_k")
def streaming_sparse_precision_at_top_k(
    top_k_predictions, labels, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The old name of tf.metrics.precision_at_top_k, with predictions first."""
    default = at_k_name("precision", class_id=class_id)
    with name_scope(name, default, (top_k_predictions, labels, weights)) as scope:
        return rankings.precision_at_top_k(
            labels, top_k_predictions, None, class_id, weights, metrics_collections, updates_collections, scope
        )


@public("contrib.metrics.sparse_recall_at_top_k")
def sparse_recall_at_top_k(
    labels, top_k_predictions, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The old name of tf.metrics.recall_at_top_k."""
    default = at_k_name("recall", class_id=class_id)
    with name_scope(name, default, (top_k_predictions, labels, weights)) as scope:
        return rankings.recall_at_top_k(
            labels, top_k_predictions, None, class_id, weights, metrics_collections, updates_collections, scope
        )


@public("contrib.metrics.streaming_sparse_average_precision_at_k")
def streaming_sparse_average_precision_at_k(
    predictions, labels, k, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of tf.metrics.average_precision_at_k, with predictions first."""
    return rankings.average_precision_at_k(
        labels, predictions, k, weights, metrics_collections, updates_collections, name
    )


@public("contrib.metrics.streaming_sparse_average_precision_at_top_k")
def streaming_sparse_average_precision_at_top_k(
    top_k_predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean of average precisions, as tf.metrics.average_precision_at_k has it, of ranked classes.

    Args:
      top_k_predictions: numbers of classes, the best first, [..., k].
      labels: int64 numbers of classes, dense or sparse, [..., labels].
      weights, metrics_collections, updates_collections, name: as there.
    """
    return rankings.streaming_average_precision(
        labels, top_k_predictions, weights, metrics_collections, updates_collections, name
    )
