"""LogisticRegressor: an Estimator with the metrics of two classes for a model function that gives probabilities."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.modes import ModeKeys, ModelFnOps, ProblemType
from stillflow.graph import dtypes
from stillflow.metrics.counts import precision, recall
from stillflow.metrics.curves import auc
from stillflow.metrics.means import accuracy, mean
from stillflow.names import public


@public("contrib.learn.LogisticRegressor")
def LogisticRegressor(  # noqa: N802
    model_fn, thresholds=None, model_dir=None, config=None, feature_engineering_fn=None
):
    """An Estimator of two classes whose evaluation tells AUC, and accuracy, precision and recall at thresholds.

    Args:
      model_fn: a function of (features, labels, mode) that returns (probabilities, loss, train_op).
      thresholds: a list of probabilities from which on an example counts as positive; [0.5] by default.
      model_dir, config, feature_engineering_fn: see Estimator.
    """

    def with_metrics(features, labels, mode, params):
        predictions, loss, train_op = model_fn(features, labels, mode)
        metrics = None
        if mode == ModeKeys.EVAL:
            metrics = _metrics(labels, predictions, params.get("thresholds") or [0.5])
        alternatives = {"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})}
        return ModelFnOps(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            output_alternatives=alternatives,
        )

    params = {"thresholds": thresholds}
    return Estimator(with_metrics, model_dir, config, params, feature_engineering_fn)


def _metrics(labels, predictions, thresholds):
    """{key: (value, update)} of probabilities and labels, a tensor or a dict of one."""
    if isinstance(labels, dict) and len(labels) == 1:
        (labels,) = labels.values()
    found = {
        "labels/prediction_mean": mean(predictions),
        "labels/actual_label_mean": mean(labels),
        "accuracy/baseline_label_mean": mean(labels),
        "auc": auc(labels, predictions),
    }
    for threshold in thresholds:
        is_positive = ops.greater_equal(predictions, threshold)
        at = ops.cast(is_positive, dtypes.float32, name=f"predictions_at_threshold_{threshold:f}")
        found[f"accuracy/threshold_{threshold:f}_mean"] = accuracy(labels, at)
        found[f"precision/positive_threshold_{threshold:f}_mean"] = precision(labels, at)
        found[f"recall/positive_threshold_{threshold:f}_mean"] = recall(labels, at)
    return found
