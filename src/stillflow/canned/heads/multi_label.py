"""tf.estimator.MultiLabelHead: several classes, of which each example may have any number."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned import class_outputs
from stillflow.canned.head_checks import (
    OF_HEADS,
    call_loss_fn,
    checked_class_metrics,
    checked_range,
    checked_thresholds,
    checked_weights,
)
from stillflow.canned.heads.base import SingleHead, check_keys, update_with_broadcast_weights
from stillflow.canned.heads.thresholds import threshold_metrics, update_thresholds
from stillflow.canned.keys import CLASSIFY_SERVING_KEY, PREDICT_SERVING_KEY, MetricKeys, PredictionKeys
from stillflow.composites.sparse import sparse_to_indicator
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.keras.losses.reductions import Reduction
from stillflow.keras.metrics.curves import AUC
from stillflow.keras.metrics.means import Mean
from stillflow.losses.classification import sigmoid_cross_entropy
from stillflow.losses.weighted import Reduction as OldReduction
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_KEYS = [PredictionKeys.LOGITS, PredictionKeys.PROBABILITIES]


@public("estimator.MultiLabelHead")
class MultiLabelHead(SingleHead):
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

    def __init__(
        self, n_classes, weight_column=None, thresholds=None, label_vocabulary=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None, classes_for_class_based_metrics=None, name=None,
    ):  # fmt: skip
        if n_classes is None or n_classes < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {n_classes}")
        self._thresholds = checked_thresholds(
            thresholds, lambda _, threshold: f"thresholds must be in (0, 1) range. Given: {threshold}"
        )
        self._class_ids = checked_class_metrics(n_classes, label_vocabulary, classes_for_class_based_metrics)
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = n_classes
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self):
        return self._n_classes

    def _processed_labels(self, logits, labels):
        if labels is None:
            raise ValueError(OF_HEADS.no_labels)
        if isinstance(labels, SparseTensor):
            labels = ops.to_int64(self._indicators(labels))
        else:
            message = "labels must be an integer indicator Tensor with values in [0, 1]"
            labels = checked_range(labels, 2, message=message, wording=OF_HEADS)
        return self._checked_labels(labels, logits, self.logits_dimension)

    def _indicators(self, labels):
        """Whether each example has each class, of a SparseTensor of classes."""
        if labels.dtype == dtypes.string:
            numbers = class_outputs.class_numbers(labels.values, self._label_vocabulary)
            labels = SparseTensor(labels.indices, numbers, labels.dense_shape)
            return sparse_to_indicator(labels, self._n_classes)
        if not labels.values.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.values.dtype}.")
        message = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
        checked = checked_range(labels.values, self._n_classes, message=message, wording=OF_HEADS)
        with control_dependencies([checked]):
            return sparse_to_indicator(labels, self._n_classes)

    def _unweighted_loss_and_weights(self, logits, labels, features):
        if self._loss_fn:
            losses = call_loss_fn(self._loss_fn, labels, logits, features)
        else:
            losses = sigmoid_cross_entropy(labels, logits, reduction=OldReduction.NONE)
            losses = ops.reduce_mean(losses, axis=-1, keepdims=True)
        return losses, checked_weights(features, self._weight_column, logits)

    def predictions(self, logits, keys=None):
        check_keys(keys or (), _KEYS)
        wanted = keys or _KEYS
        logits = self._checked_logits(logits)
        found = {}
        with name_scope("predictions", values=(logits,)):
            if PredictionKeys.LOGITS in wanted:
                found[PredictionKeys.LOGITS] = logits
            if PredictionKeys.PROBABILITIES in wanted:
                found[PredictionKeys.PROBABILITIES] = ops.sigmoid(logits, name=PredictionKeys.PROBABILITIES)
            return found

    def _export_outputs(self, predictions):
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = class_outputs.classification_output(probabilities, self._n_classes, self._label_vocabulary)
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: classes,
            CLASSIFY_SERVING_KEY: classes,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _keys_of_class(self, class_id):
        """The keys of a class's mean probability and of its areas."""
        keys = MetricKeys
        names = keys.PROBABILITY_MEAN_AT_CLASS, keys.AUC_AT_CLASS, keys.AUC_PR_AT_CLASS
        if self._label_vocabulary is not None:
            names = keys.PROBABILITY_MEAN_AT_NAME, keys.AUC_AT_NAME, keys.AUC_PR_AT_NAME
            class_id = self._label_vocabulary[class_id]
        return [self._summary_key(name % class_id) for name in names]

    def metrics(self, regularization_losses=None):
        keys, key = MetricKeys, self._summary_key
        with name_scope(None, "metrics", (regularization_losses,)):
            found = {
                **self._mean_metric(keys.LOSS_MEAN),
                key(keys.AUC): AUC(name=keys.AUC),
                key(keys.AUC_PR): AUC(curve="PR", name=keys.AUC_PR),
                **self._regularization_metric(regularization_losses),
                **threshold_metrics(key, self._thresholds),
            }
            for class_id in self._class_ids:
                mean, area, area_pr = self._keys_of_class(class_id)
                found[mean] = Mean(name=mean)
                found[area] = AUC(name=area)
                found[area_pr] = AUC(curve="PR", name=area_pr)
            return found

    def update_metrics(  # type: ignore[override]  # as in TensorFlow, without the mode
        self, eval_metrics, features, logits, labels, regularization_losses=None
    ):
        logits = self._checked_logits(logits)
        labels = self._processed_labels(logits, labels)
        losses, weights = self._unweighted_loss_and_weights(logits, labels, features)
        key = PredictionKeys.PROBABILITIES
        probabilities = self.predictions(logits, [key])[key]
        eval_metrics[self._summary_key(MetricKeys.LOSS_MEAN)].update_state(values=losses, sample_weight=weights)
        for name in (MetricKeys.AUC, MetricKeys.AUC_PR):
            metric = eval_metrics[self._summary_key(name)]
            metric.update_state(y_true=labels, y_pred=probabilities, sample_weight=weights)
        self._update_regularization(eval_metrics, regularization_losses)
        update_thresholds(eval_metrics, self._summary_key, self._thresholds, labels, probabilities, weights)
        for class_id in self._class_ids:
            mean, *areas = (eval_metrics[name] for name in self._keys_of_class(class_id))
            begin, size = class_outputs.of_class(class_id, probabilities)
            own_probabilities = ops.slice(probabilities, begin=begin, size=size)
            own_labels = ops.slice(labels, begin=begin, size=size)
            update_with_broadcast_weights(mean, own_probabilities, weights)
            for area in areas:
                area.update_state(y_true=own_labels, y_pred=own_probabilities, sample_weight=weights)
        return eval_metrics
