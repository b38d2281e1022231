"""tf.estimator.RegressionHead and those of counts and of shares."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.head_checks import OF_HEADS, call_loss_fn, checked_range, checked_weights
from stillflow.canned.heads.base import SingleHead, update_with_broadcast_weights
from stillflow.canned.keys import PREDICT_SERVING_KEY, REGRESS_SERVING_KEY, MetricKeys, PredictionKeys
from stillflow.composites.cross_entropy import log_poisson_loss, sigmoid_cross_entropy_with_logits
from stillflow.graph.name_scope import name_scope
from stillflow.keras.losses.reductions import Reduction
from stillflow.losses.regression import mean_squared_error
from stillflow.losses.weighted import Reduction as OldReduction
from stillflow.names import public
from stillflow.saver.saved_model.export_outputs import PredictOutput, RegressionOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


@public("estimator.RegressionHead")
class RegressionHead(SingleHead):
    """A head of numbers: the loss is the squared error.

    Args:
      label_dimension: how many numbers each example has.
      weight_column: a numeric column with the weights of examples, or of each number, or its key.
      loss_reduction: a tf.losses.Reduction.
      loss_fn: a function of labels and logits, and perhaps features, instead of the squared error.
      inverse_link_fn: a function that makes predictions of logits.
      name: the head's name.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, label_dimension=1, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None,
        inverse_link_fn=None, name=None,
    ):  # fmt: skip
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._logits_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self):
        return self._logits_dimension

    def _processed_labels(self, logits, labels):
        return ops.to_float(self._checked_labels(labels, logits, self._logits_dimension))

    def _unweighted_loss_and_weights(self, logits, labels, features):
        if self._loss_fn:
            losses = call_loss_fn(self._loss_fn, labels, logits, features, self._logits_dimension)
        else:
            losses = mean_squared_error(labels=labels, predictions=logits, reduction=OldReduction.NONE)
        return losses, checked_weights(features, self._weight_column, logits, per_logit=True)

    def predictions(self, logits):  # type: ignore[override]
        logits = self._checked_logits(logits)
        with name_scope("predictions", values=(logits,)):
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

    def metrics(self, regularization_losses=None):
        with name_scope("metrics", values=(regularization_losses,)):
            return {
                **self._mean_metric(MetricKeys.LOSS_MEAN),
                **self._mean_metric(MetricKeys.PREDICTION_MEAN),
                **self._mean_metric(MetricKeys.LABEL_MEAN),
                **self._regularization_metric(regularization_losses),
            }

    def update_metrics(  # type: ignore[override]  # as in TensorFlow, without the mode
        self, eval_metrics, features, logits, labels, regularization_losses=None
    ):
        predicted = self.predictions(logits)[PredictionKeys.PREDICTIONS]
        logits = self._checked_logits(logits)
        processed = self._processed_labels(logits, labels)
        losses, weights = self._unweighted_loss_and_weights(logits, processed, features)
        eval_metrics[self._summary_key(MetricKeys.LOSS_MEAN)].update_state(values=losses, sample_weight=weights)
        eval_metrics[self._summary_key(MetricKeys.LABEL_MEAN)].update_state(values=labels, sample_weight=weights)
        update_with_broadcast_weights(eval_metrics[self._summary_key(MetricKeys.PREDICTION_MEAN)], predicted, weights)
        self._update_regularization(eval_metrics, regularization_losses)
        return eval_metrics


@public("estimator.PoissonRegressionHead")
class PoissonRegressionHead(RegressionHead):
    """A head of counts, of which logits are the logarithms of the means; see tf.nn.log_poisson_loss.

    Args:
      compute_full_loss: whether the loss has the term that only depends on labels.
      label_dimension, weight_column, loss_reduction, name: as for RegressionHead.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, label_dimension=1, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
        compute_full_loss=True, name=None,
    ):  # fmt: skip
        self._compute_full_loss = compute_full_loss
        super().__init__(label_dimension, weight_column, loss_reduction, self._poisson_loss, ops.exp, name)

    def _poisson_loss(self, labels, logits):
        return log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=self._compute_full_loss)


@public("estimator.LogisticRegressionHead")
class LogisticRegressionHead(RegressionHead):
    """A head of shares in [0, 1], which are the sigmoid of logits; the loss is the cross entropy.

    Args:
      weight_column, loss_reduction, name: as for RegressionHead.

    Raises ValueError for other arguments.
    """

    def __init__(self, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None):
        super().__init__(1, weight_column, loss_reduction, self._logistic_loss, ops.sigmoid, name)

    def _logistic_loss(self, labels, logits):
        message = "Labels must be in range [0, 1]"
        labels = checked_range(labels, n_classes=2, message=message, wording=OF_HEADS)
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
