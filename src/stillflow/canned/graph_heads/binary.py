"""The head of two classes, with one logit."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned import class_outputs
from stillflow.canned.graph_heads import metrics as kinds
from stillflow.canned.graph_heads.base import LossSpec, SingleHead, check_reduction
from stillflow.canned.head_checks import (
    call_loss_fn,
    check_loss_fn,
    checked_labels,
    checked_logits,
    checked_range,
    checked_thresholds,
    checked_weights,
)
from stillflow.canned.keys import (
    CLASSIFY_SERVING_KEY,
    PREDICT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    MetricKeys,
    PredictionKeys,
)
from stillflow.composites.cross_entropy import sigmoid_cross_entropy_with_logits
from stillflow.graph.name_scope import name_scope
from stillflow.losses.weighted import Reduction, compute_weighted_loss
from stillflow.metrics.counts import precision, recall
from stillflow.metrics.means import accuracy, mean
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver.saved_model.export_outputs import PredictOutput, RegressionOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


@public("python.estimator.canned.head._binary_logistic_head_with_sigmoid_cross_entropy_loss")
def binary_head(
    weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=Reduction.SUM, loss_fn=None, name=None
):
    """A head of two classes: the sigmoid of one logit is the probability of class 1.

    Args:
      weight_column: a numeric column with the weights of examples, or its key.
      thresholds: numbers in (0, 1), for which there are metrics.
      label_vocabulary: the names of both classes, if labels are strings.
      loss_reduction: a tf.losses.Reduction.
      loss_fn: a function of labels and logits, and perhaps features, instead of the cross entropy.
      name: the head's name.

    Raises:
      TypeError: for a vocabulary that is no list.
      ValueError: for other thresholds, reductions and functions.
    """
    thresholds = tuple(thresholds) if thresholds else ()
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise TypeError(f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}")
    checked_thresholds(thresholds, lambda given, _: f"thresholds not in (0, 1): {(given,)}.")
    check_reduction(loss_reduction)
    if loss_fn:
        check_loss_fn(loss_fn)
    return BinaryGraphHead(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


@public("python.estimator.canned.head._BinaryLogisticHeadWithSigmoidCrossEntropyLoss")
class BinaryGraphHead(SingleHead):
    """The head that binary_head makes."""

    def __init__(
        self, weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=Reduction.SUM, loss_fn=None,
        name=None,
    ):  # fmt: skip
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._thresholds = tuple(thresholds) if thresholds else ()
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self):
        return 1

    def create_loss(self, features, mode, logits, labels):
        logits = convert_to_tensor(logits)
        labels = checked_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = class_outputs.class_numbers(labels, self._label_vocabulary)
        labels = checked_range(ops.to_float(labels), n_classes=2)
        if self._loss_fn:
            losses = call_loss_fn(self._loss_fn, labels, logits, features)
        else:
            losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        weights = checked_weights(features, self._weight_column, logits)
        loss = compute_weighted_loss(losses, weights=weights, reduction=self._loss_reduction)
        return LossSpec(loss, losses, weights, labels)

    def _predictions(self, logits):
        keys = PredictionKeys
        with name_scope(None, "predictions", (logits,)):
            logits = checked_logits(logits, self.logits_dimension)
            logistic = ops.sigmoid(logits, name=keys.LOGISTIC)
            both = ops.concat((ops.zeros_like(logits), logits), axis=-1, name="two_class_logits")
            probabilities = ops.softmax(both, name=keys.PROBABILITIES)
            class_ids = ops.expand_dims(ops.argmax(both, axis=-1, name=keys.CLASS_IDS), axis=-1)
            all_ids = class_outputs.all_class_ids(logits, 2)
            all_names = class_outputs.all_classes(logits, 2, self._label_vocabulary)
            return {
                keys.LOGITS: logits,
                keys.LOGISTIC: logistic,
                keys.PROBABILITIES: probabilities,
                keys.CLASS_IDS: class_ids,
                keys.CLASSES: class_outputs.class_names(class_ids, self._label_vocabulary),
                keys.ALL_CLASS_IDS: all_ids,
                keys.ALL_CLASSES: all_names,
            }

    def _export_outputs(self, predictions):
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = class_outputs.classification_output(probabilities, 2, self._label_vocabulary)
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: classes,
            CLASSIFY_SERVING_KEY: classes,
            REGRESS_SERVING_KEY: RegressionOutput(value=predictions[PredictionKeys.LOGISTIC]),
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _metrics(self, predictions, loss, labels, regularization_loss):
        keys, key = MetricKeys, self._key
        logistic = predictions[PredictionKeys.LOGISTIC]
        labels, weights = loss.processed_labels, loss.weights
        of_classes = {
            "labels": labels,
            "predictions": predictions[PredictionKeys.CLASS_IDS],
            "weights": weights,
        }
        of_probabilities = {"labels": labels, "predictions": logistic, "weights": weights}
        with name_scope(None, "metrics", (labels, logistic, weights, loss.unreduced_loss, regularization_loss)):
            mean_of_labels = kinds.labels_mean(labels=labels, weights=weights, name=keys.LABEL_MEAN)
            return {
                key(keys.LOSS_MEAN): mean(loss.unreduced_loss, weights=weights, name=keys.LOSS_MEAN),
                key(keys.ACCURACY): accuracy(**of_classes, name=keys.ACCURACY),
                key(keys.PRECISION): precision(**of_classes, name=keys.PRECISION),
                key(keys.RECALL): recall(**of_classes, name=keys.RECALL),
                key(keys.PREDICTION_MEAN): kinds.predictions_mean(logistic, weights, name=keys.PREDICTION_MEAN),
                key(keys.LABEL_MEAN): mean_of_labels,
                key(keys.ACCURACY_BASELINE): kinds.accuracy_baseline(mean_of_labels),
                key(keys.AUC): kinds.area(**of_probabilities, name=keys.AUC),
                key(keys.AUC_PR): kinds.area(**of_probabilities, curve="PR", name=keys.AUC_PR),
                **self._regularization_metric(regularization_loss),
                **kinds.at_thresholds(key, labels, logistic, weights, self._thresholds),
            }
