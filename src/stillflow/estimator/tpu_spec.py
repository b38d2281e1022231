"""What heads return that also know TPUEstimator: the spec that contrib.tpu.TPUEstimatorSpec is made of."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow.estimator.spec import EstimatorSpec, checked_hooks
from stillflow.names import public


class _Fields(NamedTuple):
    mode: Any
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: Any
    evaluation_hooks: Any
    prediction_hooks: Any


@public("python.estimator.model_fn._TPUEstimatorSpec")
class TPUSpec(_Fields):
    """The operations and tensors of a model.

    Args:
      mode: one of tf.estimator.ModeKeys.
      predictions, loss, train_op, export_outputs: as tf.estimator.EstimatorSpec has them.
      eval_metrics: (a function, {argument: tensor}); the function returns {name: (value, update)}.
      scaffold_fn: a function that returns a Scaffold.
      host_call: (a function, its tensors).
      training_hooks, evaluation_hooks, prediction_hooks: SessionRunHooks.

    Raises TypeError for hooks that are none.
    """

    __slots__ = ()

    def __new__(
        cls, mode, predictions=None, loss=None, train_op=None, eval_metrics=None, export_outputs=None,
        scaffold_fn=None, host_call=None, training_hooks=None, evaluation_hooks=None, prediction_hooks=None,
    ):  # fmt: skip
        hooks = [checked_hooks(given) for given in (training_hooks, evaluation_hooks, prediction_hooks)]
        return super().__new__(
            cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn, host_call, *hooks
        )

    def as_estimator_spec(self):
        """The tf.estimator.EstimatorSpec that this is on the processor."""
        metrics = None
        if self.eval_metrics:
            function, tensors = self.eval_metrics
            metrics = function(**tensors)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            training_hooks=self.training_hooks,
            evaluation_hooks=self.evaluation_hooks,
            prediction_hooks=self.prediction_hooks,
        )
