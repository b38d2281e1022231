"""The head of several classes, of which each example may have any number."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned import class_outputs
from stillflow.canned.graph_heads import metrics as kinds
from stillflow.canned.graph_heads.base import LossSpec, SingleHead, check_reduction
from stillflow.canned.head_checks import (
    OF_GRAPH_HEADS,
    call_loss_fn,
    check_loss_fn,
    checked_class_metrics,
    checked_labels,
    checked_logits,
    checked_range,
    checked_thresholds,
    checked_weights,
)
from stillflow.canned.keys import CLASSIFY_SERVING_KEY, PREDICT_SERVING_KEY, MetricKeys, PredictionKeys
from stillflow.composites.checks import assert_integer, assert_less, assert_non_negative
from stillflow.composites.sparse import sparse_to_indicator
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.losses.classification import sigmoid_cross_entropy
from stillflow.losses.weighted import Reduction, compute_weighted_loss
from stillflow.metrics.curves import auc
from stillflow.metrics.means import mean
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


@public("contrib.estimator.multi_label_head")
def multi_label_head(
    n_classes, weight_column=None, thresholds=None, label_vocabulary=None,
    loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None, classes_for_class_based_metrics=None, name=None,
):  # fmt: skip
    """A head of several classes, of which each example may have any number: each has a sigmoid of its own.

    Args:
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      thresholds: numbers in (0, 1), for which there are metrics.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a tf.losses.Reduction.
      loss_fn: a function of labels and logits, and perhaps features, instead of the mean cross entropy.
      classes_for_class_based_metrics: the numbers or names of the classes that have metrics of their own.
      name: the head's name.

    Raises ValueError for other arguments.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for multi-class classification. Given: {n_classes}")
    thresholds = checked_thresholds(
        thresholds, lambda _, threshold: f"thresholds must be in (0, 1) range. Given: {threshold}"
    )
    class_ids = checked_class_metrics(n_classes, label_vocabulary, classes_for_class_based_metrics)
    if loss_fn:
        check_loss_fn(loss_fn)
    check_reduction(loss_reduction)
    return _MultiLabelHead(
        n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, class_ids, name
    )


class _MultiLabelHead(SingleHead):
    def __init__(
        self, n_classes, weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, class_ids, name
    ):
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = n_classes
        self._thresholds = thresholds
        self._label_vocabulary = label_vocabulary
        self._class_ids = class_ids

    @property
    def logits_dimension(self):
        return self._n_classes

    def _indicators(self, labels):
        """0 or 1 for each class of each example."""
        if labels is None:
            raise ValueError(OF_GRAPH_HEADS.no_labels)
        if not isinstance(labels, SparseTensor):
            message = "labels must be an integer indicator Tensor with values in [0, 1]"
            return checked_range(labels, 2, message=message)
        if labels.dtype == dtypes.string:
            numbers = class_outputs.class_numbers(labels.values, self._label_vocabulary)
            labels = SparseTensor(labels.indices, numbers, labels.dense_shape)
            return ops.to_int64(sparse_to_indicator(labels, self._n_classes))
        message = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
        checks = [
            assert_integer(labels.values, message=message),
            assert_less(labels.values, convert_to_tensor(self._n_classes, labels.dtype), message=message),
            assert_non_negative(labels.values, message=message),
        ]
        with control_dependencies(checks):
            return ops.to_int64(sparse_to_indicator(labels, self._n_classes))

    def create_loss(self, features, mode, logits, labels):
        logits = convert_to_tensor(logits)
        labels = checked_labels(self._indicators(labels), logits, self.logits_dimension)
        if self._loss_fn:
            losses = call_loss_fn(self._loss_fn, labels, logits, features)
        else:
            losses = sigmoid_cross_entropy(labels, logits, reduction=Reduction.NONE)
            losses = ops.reduce_mean(losses, axis=-1, keepdims=True)
        weights = checked_weights(features, self._weight_column, logits)
        loss = compute_weighted_loss(losses, weights=weights, reduction=self._loss_reduction)
        return LossSpec(loss, losses, weights, labels)

    def _predictions(self, logits):
        logits = checked_logits(logits, self.logits_dimension)
        with name_scope(None, "predictions", (logits,)):
            probabilities = ops.sigmoid(logits, name=PredictionKeys.PROBABILITIES)
            return {PredictionKeys.LOGITS: logits, PredictionKeys.PROBABILITIES: probabilities}

    def _export_outputs(self, predictions):
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = class_outputs.classification_output(probabilities, self._n_classes, self._label_vocabulary)
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: classes,
            CLASSIFY_SERVING_KEY: classes,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _metrics(self, predictions, loss, labels, regularization_loss):
        keys, key = MetricKeys, self._key
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        labels, weights = loss.processed_labels, loss.weights
        given = labels, probabilities, weights
        with name_scope(None, "metrics", [*given, loss.unreduced_loss, regularization_loss]):
            found = {
                key(keys.LOSS_MEAN): mean(loss.unreduced_loss, weights=weights, name=keys.LOSS_MEAN),
                key(keys.AUC): auc(*given, name=keys.AUC),
                key(keys.AUC_PR): auc(*given, curve="PR", name=keys.AUC_PR),
                **self._regularization_metric(regularization_loss),
                **kinds.at_thresholds(key, *given, self._thresholds),
            }
            for class_id in self._class_ids:
                found.update(self._metrics_of_class(class_id, *given))
            return found

    def _metrics_of_class(self, class_id, labels, probabilities, weights):
        keys = MetricKeys
        begin, size = class_outputs.of_class(class_id, probabilities)
        probabilities = ops.slice(probabilities, begin=begin, size=size)
        labels = ops.slice(labels, begin=begin, size=size)
        names = keys.PROBABILITY_MEAN_AT_CLASS, keys.AUC_AT_CLASS, keys.AUC_PR_AT_CLASS
        if self._label_vocabulary is not None:
            names = keys.PROBABILITY_MEAN_AT_NAME, keys.AUC_AT_NAME, keys.AUC_PR_AT_NAME
            class_id = self._label_vocabulary[class_id]
        of_mean, of_auc, of_auc_pr = (name % class_id for name in names)
        return {
            self._key(of_mean): kinds.predictions_mean(probabilities, weights, name=of_mean),
            self._key(of_auc): kinds.area(labels, probabilities, weights, name=of_auc),
            self._key(of_auc_pr): kinds.area(labels, probabilities, weights, curve="PR", name=of_auc_pr),
        }
