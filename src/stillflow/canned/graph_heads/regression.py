"""The head of numbers."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.graph_heads import metrics as kinds
from stillflow.canned.graph_heads.base import LossSpec, SingleHead, check_reduction
from stillflow.canned.head_checks import (
    call_loss_fn,
    check_loss_fn,
    checked_labels,
    checked_logits,
    checked_weights,
)
from stillflow.canned.keys import PREDICT_SERVING_KEY, REGRESS_SERVING_KEY, MetricKeys, PredictionKeys
from stillflow.losses.regression import mean_squared_error
from stillflow.losses.weighted import Reduction, compute_weighted_loss
from stillflow.metrics.means import mean
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver.saved_model.export_outputs import PredictOutput, RegressionOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


@public("python.estimator.canned.head._regression_head")
def regression_head(
    weight_column=None, label_dimension=1, loss_reduction=Reduction.SUM, loss_fn=None, inverse_link_fn=None, name=None
):
    """A head of numbers: the loss is the squared error.

    Args:
      weight_column: a numeric column with the weights of examples, or of each number, or its key.
      label_dimension: how many numbers each example has.
      loss_reduction: a tf.losses.Reduction.
      loss_fn: a function of labels and logits, and perhaps features, instead of the squared error.
      inverse_link_fn: a function that makes predictions of logits.
      name: the head's name.

    Raises ValueError for other arguments.
    """
    check_reduction(loss_reduction)
    if loss_fn:
        check_loss_fn(loss_fn)
    return RegressionGraphHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


@public("python.estimator.canned.head._RegressionHeadWithMeanSquaredErrorLoss")
class RegressionGraphHead(SingleHead):
    """The head that regression_head makes."""

    def __init__(
        self, label_dimension, weight_column=None, loss_reduction=Reduction.SUM, loss_fn=None, inverse_link_fn=None,
        name=None,
    ):  # fmt: skip
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._logits_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self):
        return self._logits_dimension

    def create_loss(self, features, mode, logits, labels):
        logits = convert_to_tensor(logits)
        labels = ops.to_float(checked_labels(labels, logits, self._logits_dimension))
        if self._loss_fn:
            losses = call_loss_fn(self._loss_fn, labels, logits, features, self._logits_dimension)
        else:
            losses = mean_squared_error(labels=labels, predictions=logits, reduction=Reduction.NONE)
        weights = checked_weights(features, self._weight_column, logits, per_logit=True)
        loss = compute_weighted_loss(losses, weights=weights, reduction=self._loss_reduction)
        return LossSpec(loss, losses, weights, labels)

    def _predictions(self, logits):
        logits = checked_logits(logits, self._logits_dimension)
        if self._inverse_link_fn is None:
            return {PredictionKeys.PREDICTIONS: logits}
        return {PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits), PredictionKeys.LOGITS: logits}

    def _export_outputs(self, predictions):
        numbers = RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: numbers,
            REGRESS_SERVING_KEY: numbers,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _metrics(self, predictions, loss, labels, regularization_loss):
        predicted = predictions[PredictionKeys.PREDICTIONS]
        keys, weights = MetricKeys, loss.weights
        return {
            self._key(keys.LOSS_MEAN): mean(loss.unreduced_loss, weights=weights),
            self._key(keys.PREDICTION_MEAN): kinds.predictions_mean(predicted, weights, name=keys.PREDICTION_MEAN),
            self._key(keys.LABEL_MEAN): mean(labels, weights=weights),
            **self._regularization_metric(regularization_loss),
        }
