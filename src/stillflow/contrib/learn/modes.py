"""tf.contrib.learn.ModeKeys and ModelFnOps: what a model function is for, and what it returns."""

from __future__ import annotations

from typing import NamedTuple

from stillflow import ops
from stillflow.estimator.spec import EstimatorSpec
from stillflow.graph.name_scope import graph_of_inputs
from stillflow.graph.operation import Operation
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import as_sparse_tensor, is_sparse
from stillflow.saver.saved_model.modes import EstimatorModeKeys
from stillflow.training_loop.hooks.hook import SessionRunHook


@public("contrib.learn.ModeKeys")
class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key):
        """Raises ValueError for what is none of them."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


@public("contrib.learn.PredictionKey")
class PredictionKey:
    """The names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"
    TOP_K = "top_k"
    GENERIC = "output"


@public("contrib.learn.ProblemType")
class ProblemType:
    """The kinds of problems that models are for."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class _ModelFnOps(NamedTuple):
    predictions: object
    loss: object
    train_op: object
    eval_metric_ops: dict
    output_alternatives: dict | None
    training_chief_hooks: list
    training_hooks: list
    scaffold: object
    mode: str


@public("contrib.learn.ModelFnOps")
class ModelFnOps(_ModelFnOps):
    """What a model function returns.

    Args:
      mode: one of ModeKeys.
      predictions: a tensor, or {name: tensor}.
      loss: a scalar.
      train_op: the operation of a step.
      eval_metric_ops: {name: (value, update)}.
      output_alternatives: {name: (one of ProblemType, {name: tensor})}, of what is exported.
      training_chief_hooks, training_hooks: SessionRunHooks.
      scaffold: a Scaffold.

    Raises:
      ValueError: for what the mode needs, and is not there; and another mode.
      TypeError: for hooks that are none.
    """

    __slots__ = ()

    def __new__(
        cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, output_alternatives=None,
        training_chief_hooks=None, training_hooks=None, scaffold=None,
    ):  # fmt: skip
        ModeKeys.validate(mode)
        graph_of_inputs((predictions, loss, train_op))
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if train_op is not None and not isinstance(train_op, Operation):
            train_op = convert_to_tensor(train_op).op
        if loss is None and mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        if predictions is None and mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        chief_hooks, hooks = training_chief_hooks or [], training_hooks or []
        for hook in [*hooks, *chief_hooks]:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(
                    "All hooks returned from model_fn must be SessionRunHook instances, got instance of "
                    f"{type(hook)}: {hook}"
                )
        return super().__new__(
            cls, _converted(predictions), _scalar(loss), train_op, eval_metric_ops or {}, output_alternatives,
            chief_hooks, hooks, scaffold, mode,
        )  # fmt: skip

    def estimator_spec(self, default_serving_output_alternative_key=None):
        """The tf.estimator.EstimatorSpec that says the same, without what is exported."""
        modes = {
            ModeKeys.TRAIN: EstimatorModeKeys.TRAIN,
            ModeKeys.EVAL: EstimatorModeKeys.EVAL,
            ModeKeys.INFER: EstimatorModeKeys.PREDICT,
        }
        return EstimatorSpec(
            mode=modes[self.mode],
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=dict(self.eval_metric_ops),
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _converted(predictions):
    def convert(value):
        return as_sparse_tensor(value) if is_sparse(value) else convert_to_tensor(value)

    if predictions is None:
        return None
    if isinstance(predictions, dict):
        return {key: convert(value) for key, value in predictions.items()}
    return convert(predictions)


def _scalar(loss):
    if loss is None:
        return None
    loss = convert_to_tensor(loss)
    if loss.shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    return loss if loss.shape.is_compatible_with([]) else ops.reshape(loss, [])
