"""tf.estimator.BinaryClassHead: two classes, with one logit."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned import class_outputs
from stillflow.canned.head_checks import OF_HEADS, call_loss_fn, checked_range, checked_thresholds, checked_weights
from stillflow.canned.heads.base import SingleHead, check_keys, check_vocabulary, update_with_broadcast_weights
from stillflow.canned.heads.thresholds import threshold_metrics, update_thresholds
from stillflow.canned.keys import (
    CLASSIFY_SERVING_KEY,
    PREDICT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    MetricKeys,
    PredictionKeys,
)
from stillflow.composites.cross_entropy import sigmoid_cross_entropy_with_logits
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph.name_scope import name_scope
from stillflow.keras.losses.reductions import Reduction
from stillflow.keras.metrics.confusion import Precision, Recall
from stillflow.keras.metrics.curves import AUC
from stillflow.keras.metrics.named_means import Accuracy
from stillflow.names import public
from stillflow.saver.saved_model.export_outputs import PredictOutput, RegressionOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_KEYS = [
    PredictionKeys.LOGITS, PredictionKeys.LOGISTIC, PredictionKeys.PROBABILITIES, PredictionKeys.CLASS_IDS,
    PredictionKeys.CLASSES, PredictionKeys.ALL_CLASS_IDS, PredictionKeys.ALL_CLASSES,
]  # fmt: skip


@public("estimator.BinaryClassHead")
class BinaryClassHead(SingleHead):
    """A head of two classes: the sigmoid of one logit is the probability of class 1.

    Args:
      weight_column: a numeric column with the weights of examples, or its key.
      thresholds: numbers in (0, 1), for which there are metrics.
      label_vocabulary: the names of both classes, if labels are strings.
      loss_reduction: a tf.losses.Reduction.
      loss_fn: a function of labels and logits, and perhaps features, instead of the cross entropy.
      name: the head's name.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, weight_column=None, thresholds=None, label_vocabulary=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None, name=None,
    ):  # fmt: skip
        check_vocabulary(label_vocabulary)
        self._thresholds = checked_thresholds(thresholds, lambda given, _: f"thresholds not in (0, 1): {(given,)}.")
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self):
        return 1

    def _processed_labels(self, logits, labels):
        labels = self._checked_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = class_outputs.class_numbers(labels, self._label_vocabulary)
        return checked_range(ops.to_float(labels), n_classes=2, wording=OF_HEADS)

    def _unweighted_loss_and_weights(self, logits, labels, features):
        if self._loss_fn:
            losses = call_loss_fn(self._loss_fn, labels, logits, features)
        else:
            losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return losses, checked_weights(features, self._weight_column, logits)

    def predictions(self, logits, keys=None):
        names = PredictionKeys
        check_keys(keys or (), _KEYS)
        wanted = keys or _KEYS
        logits = self._checked_logits(logits)
        found = {}
        with name_scope("predictions", values=(logits,)):
            if names.LOGITS in wanted:
                found[names.LOGITS] = logits
            if names.LOGISTIC in wanted:
                found[names.LOGISTIC] = ops.sigmoid(logits, name=names.LOGISTIC)
            both = ops.concat((ops.zeros_like(logits), logits), axis=-1, name="two_class_logits")
            if names.PROBABILITIES in wanted:
                found[names.PROBABILITIES] = ops.softmax(both, name=names.PROBABILITIES)
            found.update(class_outputs.chosen_classes(both, wanted, self._label_vocabulary))
            found.update(class_outputs.classes_of_all(logits, 2, wanted, self._label_vocabulary))
            return found

    def _export_outputs(self, predictions):
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = class_outputs.classification_output(probabilities, 2, self._label_vocabulary)
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: classes,
            CLASSIFY_SERVING_KEY: classes,
            REGRESS_SERVING_KEY: RegressionOutput(value=predictions[PredictionKeys.LOGISTIC]),
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def metrics(self, regularization_losses=None):
        keys, key = MetricKeys, self._summary_key
        with name_scope("metrics", values=(regularization_losses,)):
            return {
                **self._mean_metric(keys.LOSS_MEAN),
                key(keys.ACCURACY): Accuracy(name=keys.ACCURACY),
                key(keys.PRECISION): Precision(name=keys.PRECISION),
                key(keys.RECALL): Recall(name=keys.RECALL),
                **self._mean_metric(keys.PREDICTION_MEAN),
                **self._mean_metric(keys.LABEL_MEAN),
                **self._mean_metric(keys.ACCURACY_BASELINE),
                key(keys.AUC): AUC(name=keys.AUC),
                key(keys.AUC_PR): AUC(curve="PR", name=keys.AUC_PR),
                **self._regularization_metric(regularization_losses),
                **threshold_metrics(key, self._thresholds),
            }

    def update_metrics(  # type: ignore[override]  # as in TensorFlow, without the mode
        self, eval_metrics, features, logits, labels, regularization_losses=None
    ):
        keys = MetricKeys
        class_ids = self.predictions(logits)[PredictionKeys.CLASS_IDS]
        logits = self._checked_logits(logits)
        labels = self._processed_labels(logits, labels)
        losses, weights = self._unweighted_loss_and_weights(logits, labels, features)

        def metric(key):
            return eval_metrics[self._summary_key(key)]

        metric(keys.LOSS_MEAN).update_state(values=losses, sample_weight=weights)
        for key in (keys.ACCURACY, keys.PRECISION, keys.RECALL):
            metric(key).update_state(y_true=labels, y_pred=class_ids, sample_weight=weights)
        logistic = self.predictions(logits, [PredictionKeys.LOGISTIC])[PredictionKeys.LOGISTIC]
        update_with_broadcast_weights(metric(keys.PREDICTION_MEAN), logistic, weights)
        update_with_broadcast_weights(metric(keys.LABEL_MEAN), labels, weights)
        _set_baseline(metric(keys.ACCURACY_BASELINE), metric(keys.LABEL_MEAN))
        for key in (keys.AUC, keys.AUC_PR):
            predicted = ops.to_float(logistic)
            spread = broadcast_weights(weights, predicted)
            metric(key).update_state(y_true=labels, y_pred=predicted, sample_weight=spread)
        self._update_regularization(eval_metrics, regularization_losses)
        update_thresholds(eval_metrics, self._summary_key, self._thresholds, labels, logistic, weights)
        return eval_metrics


def _set_baseline(baseline, labels_mean):
    """The accuracy of always saying the more frequent class follows from the mean of labels."""
    baseline._updates = [ops.no_op()]
    baseline.total = ops.maximum(labels_mean.total, labels_mean.count - labels_mean.total)
    baseline.count = labels_mean.count
