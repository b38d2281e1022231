"""tf.estimator.EstimatorSpec: what a model function returns, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Operation, Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.saver.saved_model.exporting import get_export_outputs
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training_loop.hooks.hook import SessionRunHook
from stillflow.training_loop.scaffold import Scaffold
from stillflow.variables.variable import Variable


class _EstimatorSpec(NamedTuple):
    mode: Any
    predictions: Any
    loss: Any
    train_op: Any
    eval_metric_ops: Any
    export_outputs: Any
    training_chief_hooks: Any
    training_hooks: Any
    scaffold: Any
    evaluation_hooks: Any
    prediction_hooks: Any


@public("estimator.EstimatorSpec")
class EstimatorSpec(_EstimatorSpec):
    """The operations and tensors of a model, in the default graph.

    Args:
      mode: one of tf.estimator.ModeKeys.
      predictions: a tensor or {name: tensor}; needed to predict.
      loss: a scalar, or a tensor with one element; needed to train and to evaluate.
      train_op: does a step; needed to train.
      eval_metric_ops: {name: (value, operation that updates it), or a metric of tf.keras}.
      export_outputs: {name of a signature: tf.estimator.export.ExportOutput}.
      training_chief_hooks, training_hooks: SessionRunHooks for training, of the chief and of all.
      scaffold: a tf.train.Scaffold.
      evaluation_hooks, prediction_hooks: SessionRunHooks for the other modes.

    Raises:
      ValueError: if something is missing or of another graph.
      TypeError: if something is of another type.
    """

    def __new__(
        cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, export_outputs=None,
        training_chief_hooks=None, training_hooks=None, scaffold=None, evaluation_hooks=None, prediction_hooks=None,
    ):  # fmt: skip
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = get_export_outputs(export_outputs, predictions)
        training_hooks = checked_hooks(training_hooks)
        evaluation_hooks = checked_hooks(evaluation_hooks)
        prediction_hooks = checked_hooks(prediction_hooks)
        training_chief_hooks = checked_hooks(training_chief_hooks)
        eval_metric_ops = _checked_metrics(eval_metric_ops)
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        return super().__new__(
            cls, mode, predictions, loss, train_op, eval_metric_ops, export_outputs, training_chief_hooks,
            training_hooks, scaffold, evaluation_hooks, prediction_hooks,
        )  # fmt: skip

    def _replace(self, **kwds):
        """A copy with other fields, checked like a new one. Raises ValueError for another mode."""
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(*(kwds.pop(name, value) for name, value in zip(self._fields, self, strict=True)))


def _check_graph(what, name, item):
    if getattr(item, "graph", None) in (None, get_default_graph()):  # values of eager execution have none
        return
    raise ValueError(
        f'{what} with "{name}" must be from the default graph. Possible causes of this error include: \n\n'
        f"1) {what} was created outside the context of the default graph.\n\n"
        '2) The object passed through to EstimatorSpec was not created in the most recent call to "model_fn".'
    )


def _check_tensor(item, name):
    if not isinstance(item, (Tensor, Variable)):
        raise TypeError(f"{name} must be Tensor, given: {item}")


def _checked_train_op(train_op, mode):
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not isinstance(train_op, (Operation, Tensor, Variable)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, Variable):
        train_op = train_op.op
    _check_graph("train_op", train_op.name, train_op)
    return train_op


def _checked_loss(loss, mode):
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    _check_tensor(loss, "loss")
    if loss.get_shape().num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not loss.get_shape().is_compatible_with(TensorShape([])):
        loss = ops.reshape(loss, [])
    _check_graph("loss", loss.name, loss)
    return loss


def _checked_predictions(predictions, mode):
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        _check_tensor(predictions, "predictions")
        _check_graph("prediction values", predictions.name, predictions)
        return predictions
    for key, value in predictions.items():
        _check_tensor(value, f"predictions[{key}]")
    for key, value in predictions.items():
        _check_graph("prediction values", f"{key}: {value.name}", value)
    return dict(predictions)


def checked_hooks(hooks):
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks


# ---- Metrics ------------------------------------------------------------------------------------------------------


def _is_object(metric):
    """Whether it is a metric of tf.keras, an object with a state of its own."""
    return hasattr(metric, "update_state") and hasattr(metric, "result")


def _checked_metrics(metrics):
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, metric in metrics.items():
        if _is_object(metric):
            if not metric.updates:
                raise ValueError(f'Please call update_state(...) on the "{metric.name}" metric')
        elif not isinstance(metric, tuple) or len(metric) != 2:
            raise TypeError(
                f"Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {metric} for key: {key}"
            )
    for key, metric in metrics.items():
        for item in [*metric.updates, metric.result()] if _is_object(metric) else nest.flatten(metric):
            _check_graph("eval_metric_ops", f"{key}: {item.name}", item)
    graph = get_default_graph()
    for key, metric in metrics.items():
        if _is_object(metric):
            for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
                known = graph.get_collection(collection)
                for variable in metric.variables:
                    if not any(variable is other for other in known):
                        graph.add_to_collection(collection, variable)
            metrics[key] = (metric.result(), metric.updates[0])
    return metrics
