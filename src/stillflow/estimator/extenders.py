"""tf.estimator.add_metrics: an Estimator like another one, with more metrics."""

from __future__ import annotations

from stillflow.estimator.estimator import Estimator
from stillflow.estimator.model_function import wanted
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys

_ARGUMENTS = {"features", "labels", "predictions", "config"}


@public("estimator.add_metrics", "contrib.estimator.add_metrics")
def add_metrics(estimator, metric_fn):
    """An Estimator like another one, that also evaluates what a function returns.

    Args:
      estimator: the Estimator.
      metric_fn: a function of those that it takes of `features`, `labels`, `predictions` and `config`. It returns
        {name: (value, operation that updates it), or a metric of tf.keras}.

    Raises ValueError if it takes something else.
    """
    others = list(set(fn_args(metric_fn)) - _ARGUMENTS)
    if others:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {others}")

    def new_model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        offered = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **metric_fn(**wanted(metric_fn, **offered))})

    return Estimator(
        model_fn=new_model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )
