"""What heads with tf.metrics have in common: losses, summaries and the EstimatorSpec."""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from stillflow import ops
from stillflow.canned.keys import MetricKeys, summary_key
from stillflow.composites import summaries
from stillflow.estimator.spec import EstimatorSpec
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.losses.weighted import Reduction
from stillflow.metrics.means import mean
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_global_step


@public("python.estimator.canned.head.LossSpec")
class LossSpec(NamedTuple):
    """A scalar loss, the losses that it was made of, their weights, and the labels as the head sees them."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


@public("python.estimator.canned.head._Head")
class GraphHead(abc.ABC):
    """Makes predictions, a loss, metrics and a training step of logits and labels."""

    @property
    @abc.abstractmethod
    def name(self):
        """The head's name, or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """How many logits it takes for each example."""

    @abc.abstractmethod
    def create_loss(self, features, mode, logits, labels):
        """The LossSpec of logits [..., logits_dimension] and labels."""

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):
        """The tf.estimator.EstimatorSpec of logits.

        Args:
          features: {name: tensor}.
          mode: one of tf.estimator.ModeKeys.
          logits: a tensor [..., logits_dimension].
          labels: what create_loss takes; may be None for predictions.
          optimizer: a tf.train.Optimizer for the training step.
          train_op_fn: instead of an optimizer, a function of the loss that returns the training step.
          regularization_losses: scalars to add to the loss.

        Raises ValueError for both or none of an optimizer and a function, where a model trains.
        """
        try:
            spec = self._create_tpu_estimator_spec(
                features,
                mode,
                logits,
                labels=labels,
                optimizer=optimizer,
                train_op_fn=train_op_fn,
                regularization_losses=regularization_losses,
            )
        except NotImplementedError as error:
            raise NotImplementedError(
                "Subclasses of _Head must implement `create_estimator_spec()` or _create_tpu_estimator_spec()."
            ) from error
        return spec.as_estimator_spec()

    def _create_tpu_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):
        """Another way to say what `create_estimator_spec` returns: a spec that has `as_estimator_spec`."""
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")


def check_reduction(loss_reduction):
    """Raises ValueError for a reduction that makes no scalar."""
    if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")


class SingleHead(GraphHead):
    """A head with one kind of labels, of which subclasses say what becomes of them.

    Args:
      weight_column: a numeric column with the weights of examples, its key, or None.
      loss_reduction: a tf.losses.Reduction.
      loss_fn: a function of labels and logits, and perhaps features, for another loss: [..., 1].
      name: the name, with which keys of metrics then end.
    """

    def __init__(self, weight_column, loss_reduction, loss_fn, name):
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self):
        return self._name

    @abc.abstractmethod
    def _predictions(self, logits):
        """{key: tensor}, in the head's name scope."""

    @abc.abstractmethod
    def _export_outputs(self, predictions):
        """{key of a signature: ExportOutput}."""

    @abc.abstractmethod
    def _metrics(self, predictions, loss, labels, regularization_loss):
        """{key: (value, update)}, of the predictions, the LossSpec, and the labels as they were given."""

    def _key(self, key):
        return summary_key(self._name, key)

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):
        with name_scope(self._name, "head"):
            predictions = self._predictions(logits)
            logits = predictions.get("logits", predictions.get("predictions"))
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self._export_outputs(predictions))
            loss = self.create_loss(features=features, mode=mode, logits=logits, labels=labels)
            regularization_loss, total = None, loss.training_loss
            if regularization_losses:
                regularization_loss = ops.add_n(regularization_losses)
                total = ops.add_n([total, regularization_loss])
            if mode != ModeKeys.EVAL:
                train_op = training_step(total, optimizer, train_op_fn)
                average = self._average_loss(loss)
        if mode == ModeKeys.EVAL:
            metrics = self._metrics(predictions, loss, labels, regularization_loss)
            return EstimatorSpec(mode, predictions, total, eval_metric_ops=metrics)
        with name_scope(""):
            summaries.scalar(self._key(MetricKeys.LOSS), total)
            if average is not None:
                summaries.scalar(self._key(MetricKeys.LOSS_MEAN), average)
            if regularization_loss is not None:
                summaries.scalar(self._key(MetricKeys.LOSS_REGULARIZATION), regularization_loss)
        return EstimatorSpec(ModeKeys.TRAIN, predictions, total, train_op)

    def _average_loss(self, loss):
        """The loss of an example on average, for its summary; None if that is what the loss is already."""
        if self._loss_reduction != Reduction.SUM:
            return None
        total_weight = ops.reduce_sum(loss.weights * ops.ones_like(loss.unreduced_loss))
        return loss.training_loss / total_weight

    def _regularization_metric(self, regularization_loss):
        if regularization_loss is None:
            return {}
        key = MetricKeys.LOSS_REGULARIZATION
        return {self._key(key): mean(values=regularization_loss, name=key)}


def training_step(loss, optimizer, train_op_fn, with_updates=True):
    """The step of an optimizer, or of a function of the loss; with the operations of UPDATE_OPS.

    Raises ValueError for both or neither.
    """
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        train_op = optimizer.minimize(loss, global_step=get_global_step())
    elif train_op_fn is not None:
        train_op = train_op_fn(loss)
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates = get_default_graph().get_collection(GraphKeys.UPDATE_OPS) if with_updates else []
    return group(train_op, *updates) if updates else train_op
