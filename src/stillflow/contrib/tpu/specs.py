"""tf.contrib.tpu.TPUEstimatorSpec: what the model function of a TPUEstimator returns."""

from __future__ import annotations

import inspect

from stillflow.estimator.spec import EstimatorSpec
from stillflow.estimator.tpu_spec import TPUSpec
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.messages import log


class _HostCallHook(SessionRunHook):
    """Runs with each step what a host call returned."""

    def __init__(self, tensors):
        self._tensors = tensors

    def before_run(self, run_context):
        return SessionRunArgs(self._tensors)


@public("contrib.tpu.TPUEstimatorSpec", "estimator.tpu.TPUEstimatorSpec")
class TPUEstimatorSpec(TPUSpec):
    """What the model function of a TPUEstimator returns.

    Args:
      mode: one of tf.estimator.ModeKeys.
      predictions, loss, train_op, export_outputs: as tf.estimator.EstimatorSpec has them.
      eval_metrics: (a function, its tensors as a list or a dict); the function returns {name: (value, update)}.
      scaffold_fn: a function that returns a Scaffold.
      host_call: (a function, its tensors); what it returns runs with each step.
      training_hooks, evaluation_hooks, prediction_hooks: SessionRunHooks.

    Raises:
      ValueError, TypeError, RuntimeError: for host calls that are none, or whose tensors the function does not take.
    """

    __slots__ = ()

    def __new__(
        cls, mode, predictions=None, loss=None, train_op=None, eval_metrics=None, export_outputs=None,
        scaffold_fn=None, host_call=None, training_hooks=None, evaluation_hooks=None, prediction_hooks=None,
    ):  # fmt: skip
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _check_host_call(name, call)
        return super().__new__(
            cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn, host_call,
            training_hooks, evaluation_hooks, prediction_hooks,
        )  # fmt: skip

    def as_estimator_spec(self):
        """The tf.estimator.EstimatorSpec that this is on the processor."""
        metrics = None if self.eval_metrics is None else _called("eval_metrics", self.eval_metrics)
        hooks = () if self.host_call is None else (_HostCallHook(_called("host_call", self.host_call)),)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _check_host_call(name, call):
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    takes_any = inspect.getfullargspec(function).varargs is not None
    if not isinstance(tensors, dict) and not takes_any and len(tensors) != len(fn_args(function)):
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method args of the "
            f"function, which takes {len(fn_args(function))}."
        )


def _called(name, call):
    function, tensors = call
    if not isinstance(tensors, dict):
        return function(*tensors)
    try:
        return function(**tensors)
    except TypeError as error:
        log().warning(
            "Exception while calling %s: %s. It is likely the tensors (%s[1]) do not match the function's arguments",
            name, error, name,
        )  # fmt: skip
        raise
