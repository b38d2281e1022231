"""Losses and metrics of the heads of tf.contrib.learn's models."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.losses.classification import hinge_loss
from stillflow.losses.weighted import Reduction
from stillflow.metrics.curves import auc
from stillflow.metrics.means import accuracy, mean
from stillflow.metrics.thresholds import precision_at_thresholds, recall_at_thresholds
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.learn.MetricKey", "contrib.learn.head.mkey")
class MetricKey:
    """The names of metrics."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


def summary_key(head_name, key):
    """The name of a metric or summary of a head."""
    return f"{key}/{head_name}" if head_name else key


# ---- Losses: of labels, logits and weights, (the mean, the mean over the weights) ---------------------------------


def weighted_loss(values, weight):
    """(the mean of losses times their weights, the mean over the weights)."""
    with name_scope("loss", values=(values, weight)) as scope:
        if weight is None:
            loss = ops.reduce_mean(values, name=scope)
            return loss, loss
        weight = broadcast_weights(weight, values)
        with name_scope(None, "weighted_loss", (values, weight)) as name:
            weighted = ops.mul(values, weight, name=name)
        average = ops.reduce_mean(weighted, name=scope)
        total = ops.cast(ops.reduce_sum(weight), dtypes.float32)
        return average, ops.div(ops.reduce_sum(weighted), total, name="weighted_average_loss")


def _as_columns(labels, logits):
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    if labels.shape.ndims == 1:
        labels = ops.expand_dims(labels, axis=1)
    if logits.shape.ndims == 1:
        logits = ops.expand_dims(logits, axis=1)
    logits.shape.assert_is_compatible_with(labels.shape)
    return labels, logits


def squared_loss(labels, logits, weights=None):
    """Squared differences."""
    with name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        labels, logits = _as_columns(labels, logits)
        return weighted_loss(ops.squared_difference(logits, ops.cast(labels, dtypes.float32), name=name), weights)


def poisson_loss(labels, logits, weights=None):
    """What labels of Poisson's distribution with mean exp(logits) take to encode."""
    with name_scope(None, "_poisson_loss", (logits, labels)) as name:
        labels, logits = _as_columns(labels, logits)
        return weighted_loss(log_poisson_loss(labels, logits, compute_full_loss=True, name=name), weights)


def logistic_loss(labels, logits, weights=None):
    """Cross entropy of two classes."""
    with name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        logits = convert_to_tensor(logits)
        labels = ops.cast(labels, dtypes.float32)
        if labels.shape.ndims == 1:
            labels = ops.expand_dims(labels, axis=1)
        return weighted_loss(sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name), weights)


def softmax_loss(labels, logits, weights=None):
    """Cross entropy of many classes. Raises ValueError for labels that are no integers."""
    with name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        is_column = labels.shape.ndims == 2
        if is_column:
            labels = ops.squeeze(labels, axis=(1,))
        loss = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return weighted_loss(ops.expand_dims(loss, axis=(1,)) if is_column else loss, weights)


def svm_loss(labels, logits, weights=None):
    """The hinge loss of two classes."""
    with name_scope(None, "hinge_loss", (logits, labels)) as name:
        labels = ops.reshape(labels, shape=(-1, 1))
        loss = hinge_loss(labels=labels, logits=logits, scope=name, reduction=Reduction.NONE)
        return weighted_loss(loss, weights)


def sigmoid_loss(labels, logits, weights=None):
    """Cross entropy of classes of which each is there or not."""
    with name_scope(None, "sigmoid_cross_entropy_loss", (logits, labels)) as name:
        labels = ops.cast(labels, dtypes.float32)
        return weighted_loss(sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name), weights)


def wrapped_loss(function):
    """A user's function of labels, logits and perhaps weights, as the losses above are."""

    def loss(labels, logits, weights=None):
        value = function(labels, logits) if weights is None else function(labels, logits, weights)
        return value, value

    return loss


# ---- Metrics ------------------------------------------------------------------------------------------------------


def _float(weights):
    if weights is None:
        return None
    with name_scope(None, "float_weights", (weights,)) as name:
        return ops.cast(weights, dtypes.float32, name=name)


def _mean(values, weights):
    values, weights = ops.cast(values, dtypes.float32), _float(weights)
    return mean(values, None if weights is None else broadcast_weights(weights, values))


def _area(predictions, labels, weights, curve, class_id=None):
    predictions = ops.cast(predictions, dtypes.float32)
    if labels.dtype.base_dtype != dtypes.bool_:
        labels = ops.cast(labels, dtypes.bool_)
    weights = _float(weights)
    weights = None if weights is None else broadcast_weights(weights, predictions)
    if class_id is not None:
        weights = None if weights is None else weights[:, class_id]
        predictions, labels = predictions[:, class_id], labels[:, class_id]
    return auc(labels, predictions, weights, curve=curve)


def _at_threshold(function, predictions, labels, weights, threshold):
    value, update = function(labels, predictions, (threshold,), _float(weights))
    return ops.squeeze(value), ops.squeeze(update)


def mean_loss(loss):
    """The mean of the batches' losses."""
    return mean(loss)


def two_class_metrics(logistic, classes, labels, weights, thresholds):
    """{key: (value, update)} of the probabilities of the second class."""
    found = {
        "accuracy": accuracy(labels, classes, weights),
        "labels/prediction_mean": _mean(logistic, weights),
        "labels/actual_label_mean": _mean(labels, weights),
        "accuracy/baseline_label_mean": _mean(labels, weights),
        "auc": _area(logistic, labels, weights, "ROC"),
        "auc_precision_recall": _area(logistic, labels, weights, "PR"),
    }
    for threshold in thresholds:
        at = ops.cast(ops.greater_equal(logistic, threshold), dtypes.float32)
        found[f"accuracy/threshold_{threshold:f}_mean"] = accuracy(labels, at, weights)
        for name, function in (("precision", precision_at_thresholds), ("recall", recall_at_thresholds)):
            key = f"{name}/positive_threshold_{threshold:f}_mean"
            found[key] = _at_threshold(function, logistic, labels, weights, threshold)
    return found


def class_metrics(predictions, labels, weights, class_id):
    """{key: (value, update)} of one class of many."""

    def share(values):
        is_class = ops.equal(ops.cast(class_id, dtypes.int32), ops.cast(values, dtypes.int32))
        return mean(ops.where(is_class, ops.ones_like(values), ops.zeros_like(values)), weights=weights)

    return {
        f"labels/prediction_mean/class{class_id}": share(predictions["classes"]),
        f"labels/actual_label_mean/class{class_id}": share(labels),
        f"labels/probability_mean/class{class_id}": _of_class(predictions["probabilities"], weights, class_id),
        f"labels/logits_mean/class{class_id}": _of_class(predictions["logits"], weights, class_id),
    }


def _of_class(values, weights, class_id):
    values, weights = ops.cast(values, dtypes.float32), _float(weights)
    if weights is not None:
        weights = broadcast_weights(weights, values)[:, class_id]
    return mean(values[:, class_id], weights)


def label_metrics(predictions, labels, weights, class_ids):
    """{key: (value, update)} of classes of which each is there or not, together and of some by themselves."""
    probabilities = predictions["probabilities"]
    found = {"accuracy": accuracy(labels, predictions["classes"], weights)}
    for key, curve in (("auc", "ROC"), ("auc_precision_recall", "PR")):
        found[key] = _area(probabilities, labels, weights, curve)
        for class_id in class_ids:
            found[f"{key}/class{class_id}"] = _area(probabilities, labels, weights, curve, class_id)
    for class_id in class_ids:
        for key, values in (
            ("prediction_mean", predictions["classes"]),
            ("actual_label_mean", labels),
            ("probability_mean", probabilities),
            ("logits_mean", predictions["logits"]),
        ):
            found[f"labels/{key}/class{class_id}"] = _of_class(values, weights, class_id)
    return found
