"""Metrics of tf.keras at thresholds of probabilities."""

from __future__ import annotations

from stillflow.canned.keys import MetricKeys
from stillflow.keras.metrics.confusion import Precision, Recall
from stillflow.keras.metrics.named_means import BinaryAccuracy

_AT = MetricKeys.ACCURACY_AT_THRESHOLD, MetricKeys.PRECISION_AT_THRESHOLD, MetricKeys.RECALL_AT_THRESHOLD


def threshold_metrics(key, thresholds):
    """{key(name): metric} of accuracy, precision and recall at each threshold."""
    found: dict = {}
    for threshold in thresholds:
        accuracy, precision, recall = (key(name % threshold) for name in _AT)
        found[accuracy] = BinaryAccuracy(name=accuracy, threshold=threshold)
        found[precision] = Precision(name=precision, thresholds=threshold)
        found[recall] = Recall(name=recall, thresholds=threshold)
    return found


def update_thresholds(eval_metrics, key, thresholds, labels, probabilities, weights):
    """Takes one more batch into them."""
    for threshold in thresholds:
        for name in _AT:
            metric = eval_metrics[key(name % threshold)]
            metric.update_state(y_true=labels, y_pred=probabilities, sample_weight=weights)
