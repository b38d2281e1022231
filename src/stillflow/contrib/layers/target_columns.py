"""Targets of tf.contrib.layers: what a model is to predict, with the loss and the metrics of it."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.composites.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from stillflow.contrib.losses.functions import hinge_loss
from stillflow.contrib.metrics.switched import (
    streaming_accuracy,
    streaming_auc,
    streaming_mean,
    streaming_precision_at_thresholds,
    streaming_recall_at_thresholds,
)
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public


@public("contrib.layers.python.layers.target_column.ProblemType")
class ProblemType:
    """Kinds of targets."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class _TargetColumn:
    """A target.

    Args:
      loss_fn: a function of logits and labels to the losses of examples.
      num_label_columns: how many logits an example has.
      label_name: the key of the labels where they are a dict, or None.
      weight_column_name: the feature that examples' losses are multiplied by, or None.
      problem_type: a ProblemType.

    Raises:
      ValueError: without a loss, or the number of logits.
    """

    def __init__(self, loss_fn, num_label_columns, label_name, weight_column_name, problem_type):
        if not loss_fn:
            raise ValueError("loss_fn must be provided")
        if num_label_columns is None:
            raise ValueError("num_label_columns must be provided")
        self._loss_fn = loss_fn
        self.num_label_columns = num_label_columns
        self.label_name = label_name
        self.weight_column_name = weight_column_name
        self.problem_type = problem_type

    def logits_to_predictions(self, logits, proba=False):
        """What is predicted; if `proba`, the probabilities of classes."""
        raise NotImplementedError

    def get_weight_tensor(self, features):
        """The weights of examples, or None."""
        if not self.weight_column_name:
            return None
        return ops.reshape(ops.cast(features[self.weight_column_name], dtypes.float32), shape=(-1,))

    def _losses(self, logits, target, features):
        """(the losses of examples, multiplied by their weights; the weights or None)."""
        target = target[self.label_name] if isinstance(target, dict) else target
        losses = self._loss_fn(logits, target)
        weights = self.get_weight_tensor(features)
        if weights is None:
            return losses, None
        losses = ops.reshape(losses, shape=(-1,))
        return ops.mul(losses, ops.reshape(weights, shape=(-1,))), weights

    def training_loss(self, logits, target, features, name="training_loss"):
        """The mean over examples of what to make small."""
        return ops.reduce_mean(self._losses(logits, target, features)[0], name=name)

    def loss(self, logits, target, features):
        """The mean over the weights of examples."""
        losses, weights = self._losses(logits, target, features)
        if weights is None:
            return ops.reduce_mean(losses, name="loss")
        total = ops.reduce_sum(losses)
        return ops.div(total, ops.cast(ops.reduce_sum(weights), dtypes.float32), name="loss")

    def _results(self, predictions, labels, metrics, features):
        """{name: (value, update)} of functions of predictions, labels and perhaps weights."""
        weights = self.get_weight_tensor(features)
        weighted = {} if weights is None else {"weights": weights}
        labels = ops.cast(labels, predictions.dtype)
        return {name: metric(predictions, labels, **weighted) for name, metric in metrics.items()}


# ---- Numbers ------------------------------------------------------------------------------------------------------


class _RegressionTargetColumn(_TargetColumn):
    def logits_to_predictions(self, logits, proba=False):
        return ops.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(self, features, logits, labels, metrics=None):
        """{name: (value, update)} of the loss and of metrics, {name: function of predictions and labels}."""
        found = {"loss": streaming_mean(self.loss(logits, labels, features))}
        if metrics:
            found.update(self._results(self.logits_to_predictions(logits), labels, metrics, features))
        return found


def _as_column(target):
    return ops.expand_dims(target, axis=1) if target.shape.rank == 1 else target


def _squared_losses(logits, target):
    target = _as_column(target)
    logits.shape.assert_is_compatible_with(target.shape)
    return ops.squared_difference(logits, ops.cast(target, dtypes.float32))


@public("contrib.layers.regression_target")
def regression_target(label_name=None, weight_column_name=None, label_dimension=1):
    """A target of numbers, `label_dimension` of each example, whose loss is squared."""
    return _RegressionTargetColumn(
        _squared_losses, label_dimension, label_name, weight_column_name, ProblemType.LINEAR_REGRESSION
    )


# ---- Classes ------------------------------------------------------------------------------------------------------


class _MultiClassTargetColumn(_TargetColumn):
    def __init__(self, loss_fn, n_classes, label_name, weight_column_name):
        if n_classes < 2:
            raise ValueError("n_classes must be >= 2")
        count = 1 if n_classes == 2 else n_classes
        super().__init__(loss_fn, count, label_name, weight_column_name, ProblemType.CLASSIFICATION)

    def logits_to_predictions(self, logits, proba=False):
        if self.num_label_columns == 1:
            logits = ops.concat([ops.zeros_like(logits), logits], 1)
        return ops.softmax(logits) if proba else ops.argmax(logits, 1)

    def get_eval_ops(self, features, logits, labels, metrics=None):
        """{name: (value, update)} of the loss and of metrics.

        `metrics` is {name: function of predictions and labels}. A name may be a pair with "classes" or
        "probabilities", which says what is predicted. Raises ValueError for other names.
        """
        found = {"loss": streaming_mean(self.loss(logits, labels, features))}
        if metrics is None:
            metrics = {("accuracy", "classes"): streaming_accuracy}
        predictions, floats = ops.sigmoid(logits), ops.cast(labels, dtypes.float32)
        if self.num_label_columns == 1:
            defaults = get_default_binary_metrics_for_eval(thresholds=[0.5])
            found.update((name, metric(predictions, floats)) for name, metric in defaults.items())
        chosen: dict = {"classes": {}, "probabilities": {}}
        for name, metric in metrics.items():
            name, kind = _name_and_kind(name)
            chosen[kind][name] = metric
        for kind, of_kind in chosen.items():
            if of_kind:
                predictions = self.logits_to_predictions(logits, proba=kind == "probabilities")
                found.update(self._results(predictions, labels, of_kind, features))
        return found


def _name_and_kind(name):
    if isinstance(name, str):
        return name, "classes"
    if not isinstance(name, tuple):
        raise ValueError(f"Ignoring metric {name}. Its name is not in the correct form.")
    if len(name) != 2:
        raise ValueError(f"Ignoring metric {name}. It returned a tuple with len {len(name)}, expected 2.")
    if name[1] not in ("classes", "probabilities"):
        raise ValueError(
            f"Ignoring metric {name}. The 2nd element of its name should be either 'classes' or 'probabilities'."
        )
    return name


def _two_class_losses(logits, target):
    return sigmoid_cross_entropy_with_logits(labels=ops.cast(_as_column(target), dtypes.float32), logits=logits)


def _softmax_losses(logits, target):
    if not target.dtype.is_integer:
        raise ValueError(f"Target's dtype should be integer Instead got {target.dtype}.")
    target = ops.squeeze(target, axis=[1]) if target.shape.rank == 2 else target
    return sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


@public("contrib.layers.multi_class_target")
def multi_class_target(n_classes, label_name=None, weight_column_name=None):
    """A target of classes, whose loss is cross entropy. Raises ValueError for less than two."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    losses = _two_class_losses if n_classes == 2 else _softmax_losses
    return _MultiClassTargetColumn(losses, n_classes, label_name, weight_column_name)


class _BinarySvmTargetColumn(_MultiClassTargetColumn):
    def logits_to_predictions(self, logits, proba=False):
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return super().logits_to_predictions(logits)


def _hinge_losses(logits, target):
    message = ["target's shape should be either [batch_size, 1] or [batch_size]"]
    with control_dependencies([assert_that(ops.less_equal(ops.rank(target), 2), message)]):
        target = ops.reshape(target, shape=[ops.shape(target)[0], 1])
    return hinge_loss(logits, target)


@public("contrib.layers.python.layers.target_column.binary_svm_target")
def binary_svm_target(label_name=None, weight_column_name=None):
    """A target of two classes, whose loss is the hinge loss."""
    return _BinarySvmTargetColumn(_hinge_losses, 2, label_name, weight_column_name)


# ---- Metrics of two classes ---------------------------------------------------------------------------------------


def _floats(weights):
    return None if weights is None else ops.cast(weights, dtypes.float32)


def _mean_label(predictions, labels, weights=None):
    return streaming_mean(labels, weights=weights)


def _mean_prediction(predictions, labels, weights=None):
    return streaming_mean(predictions, weights=weights)


def _area(predictions, labels, weights=None):
    return streaming_auc(predictions, labels, weights=_floats(weights))


def _accuracy_at(threshold):
    def accuracy(predictions, labels, weights=None):
        classes = ops.cast(ops.greater_equal(predictions, threshold), dtypes.float32)
        return streaming_accuracy(predictions=classes, labels=labels, weights=weights)

    return accuracy


def _one_of(metric, threshold):
    def at_threshold(predictions, labels, weights=None):
        value, update = metric(predictions, labels=labels, thresholds=[threshold], weights=_floats(weights))
        return ops.squeeze(value), update

    return at_threshold


@public("contrib.layers.python.layers.target_column.get_default_binary_metrics_for_eval")
def get_default_binary_metrics_for_eval(thresholds):
    """{name: function of probabilities, labels and weights to (value, update)}."""
    found = {
        "labels/prediction_mean": _mean_prediction,
        "labels/actual_target_mean": _mean_label,
        "accuracy/baseline_target_mean": _mean_label,
        "auc": _area,
    }
    for threshold in thresholds:
        found[f"accuracy/threshold_{threshold:f}_mean"] = _accuracy_at(threshold)
        precision = _one_of(streaming_precision_at_thresholds, threshold)
        found[f"precision/positive_threshold_{threshold:f}_mean"] = precision
        recall = _one_of(streaming_recall_at_thresholds, threshold)
        found[f"recall/positive_threshold_{threshold:f}_mean"] = recall
    return found
