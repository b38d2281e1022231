"""tf.estimator.Head, and what heads with one kind of labels have in common."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.canned.head_checks import OF_HEADS, check_loss_fn, checked_labels, checked_logits
from stillflow.canned.keys import MetricKeys, summary_key
from stillflow.composites import summaries
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.distribute.context import get_strategy
from stillflow.estimator.spec import EstimatorSpec
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.keras.losses.reductions import Reduction, compute_weighted_loss
from stillflow.keras.metrics.means import Mean
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys


@public("estimator.Head")
class Head(abc.ABC):
    """Makes predictions, a loss, metrics and a training step of logits and labels."""

    @property
    @abc.abstractmethod
    def name(self):
        """The head's name, or None."""

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """How many logits it takes for each example."""

    @property
    @abc.abstractmethod
    def loss_reduction(self):
        """The tf.losses.Reduction of its loss."""

    @abc.abstractmethod
    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        """The loss, a scalar.

        Args:
          labels: a tensor, or {name: tensor}.
          logits: a tensor [..., logits_dimension].
          features: {name: tensor}, for weights of examples.
          mode: one of tf.estimator.ModeKeys; not used.
          regularization_losses: scalars to add to it.
        """

    @abc.abstractmethod
    def predictions(self, logits, keys=None):
        """{key: tensor} of logits: those of all keys, or of some."""

    @abc.abstractmethod
    def metrics(self, regularization_losses=None):
        """{key: a metric of tf.keras}."""

    @abc.abstractmethod
    def update_metrics(self, eval_metrics, features, logits, labels, mode=None, regularization_losses=None):
        """Takes one more batch into the metrics, which it returns."""

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, trainable_variables=None, train_op_fn=None,
        update_ops=None, regularization_losses=None,
    ):  # fmt: skip
        """The tf.estimator.EstimatorSpec of logits.

        Args:
          features: {name: tensor}.
          mode: one of tf.estimator.ModeKeys.
          logits: a tensor [..., logits_dimension].
          labels: what `loss` takes; may be None for predictions.
          optimizer: a tf.keras.optimizers.Optimizer for the training step.
          trainable_variables: the variables that an optimizer changes.
          train_op_fn: instead of an optimizer, a function of the loss that returns the training step.
          update_ops: operations that run with the training step.
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
                trainable_variables=trainable_variables,
                train_op_fn=train_op_fn,
                update_ops=update_ops,
                regularization_losses=regularization_losses,
            )
        except NotImplementedError as error:
            raise NotImplementedError(
                "Subclasses of Head must implement `create_estimator_spec()` or _create_tpu_estimator_spec()."
            ) from error
        return spec.as_estimator_spec()

    def _create_tpu_estimator_spec(
        self,
        features,
        mode,
        logits,
        labels=None,
        optimizer=None,
        trainable_variables=None,
        train_op_fn=None,
        update_ops=None,
        regularization_losses=None,
    ):
        """Another way to say what `create_estimator_spec` returns: a spec that has `as_estimator_spec`."""
        raise NotImplementedError("TPUEstimatorSpec not available for this model head.")

    def _summary_key(self, key):
        return summary_key(self.name, key)


def check_reduction(loss_reduction):
    """Raises ValueError for a reduction that makes no scalar."""
    if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}. See `tf.losses.Reduction` for valid options.")


def check_vocabulary(label_vocabulary):
    """Raises ValueError for names of classes that are no list."""
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}")


def check_keys(keys, valid):
    """Raises ValueError for keys that predictions do not have."""
    for key in keys:
        if key not in valid:
            raise ValueError(
                f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys include {valid}."
            )


def floats(logits):
    """Logits as float32."""
    return ops.cast(logits, dtypes.float32)


def update_with_broadcast_weights(metric, values, weights):
    """Takes values into a mean, each with the weight of its example."""
    values = ops.to_float(values)
    if weights is not None:
        weights = broadcast_weights(weights, values)
    metric.update_state(values=values, sample_weight=weights)


def training_step(loss, optimizer, train_op_fn, trainable_variables, update_ops, loss_reduction):
    """The step of an optimizer, or of a function of the loss, with other operations.

    Raises ValueError for both or neither, for an optimizer that is none of tf.keras, and without its variables.
    """
    _check_list("update_ops", update_ops)
    with name_scope(""), name_scope("training"):
        if optimizer is not None:
            if train_op_fn is not None:
                raise ValueError("train_op_fn and optimizer cannot both be set.")
            if not isinstance(optimizer, OptimizerV2):
                raise ValueError(
                    f"The given optimizer is not a tf.keras.optimizers.Optimizer instance. Given: {optimizer}"
                )
            if trainable_variables is None:
                raise ValueError(f"trainable_variables cannot be None. Given {trainable_variables}")
            _check_list("trainable_variables", trainable_variables)
            loss = scaled_for_replicas(loss, loss_reduction)
            train_op = optimizer.get_updates(loss, trainable_variables)[0]
        elif train_op_fn is not None:
            train_op = train_op_fn(loss)
        else:
            raise ValueError("train_op_fn and optimizer cannot both be None.")
        return train_op if update_ops is None else group(train_op, *update_ops)


def scaled_for_replicas(loss, loss_reduction):
    """The loss, of which each replica gives its share where it is a mean over the whole batch."""
    replicas = get_strategy().num_replicas_in_sync
    if loss_reduction != Reduction.SUM_OVER_BATCH_SIZE or replicas == 1:
        return loss
    return loss * (1.0 / replicas)


def _check_list(name, given):
    if given is not None and not isinstance(given, (list, tuple)):
        raise ValueError(f"{name} should be a list or a tuple. Given type: {type(given)}.")


def loss_summaries(loss, regularization_losses, key=lambda key: key):
    """Summaries of the loss, and of that of regularization."""
    with name_scope(""):
        summaries.scalar(key(MetricKeys.LOSS), loss)
        if regularization_losses is not None:
            summaries.scalar(key(MetricKeys.LOSS_REGULARIZATION), ops.add_n(regularization_losses))


class SingleHead(Head):
    """A head with one kind of labels, of which subclasses say what becomes of them.

    Args:
      weight_column: a numeric column with the weights of examples, its key, or None.
      loss_reduction: a tf.losses.Reduction.
      loss_fn: a function of labels and logits, and perhaps features, for another loss: [..., 1].
      name: the name, with which keys of metrics then end.

    Raises ValueError for other reductions and functions.
    """

    def __init__(self, weight_column, loss_reduction, loss_fn, name):
        check_reduction(loss_reduction)
        if loss_fn:
            check_loss_fn(loss_fn, may=("labels", "logits", "features", "loss_reduction"))
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self):
        return self._name

    @property
    def loss_reduction(self):
        return self._loss_reduction

    @abc.abstractmethod
    def _processed_labels(self, logits, labels):
        """The labels as the loss takes them."""

    @abc.abstractmethod
    def _unweighted_loss_and_weights(self, logits, labels, features):
        """(losses, weights) of processed labels."""

    @abc.abstractmethod
    def _export_outputs(self, predictions):
        """{key of a signature: ExportOutput}."""

    def _checked_logits(self, logits):
        return checked_logits(logits, self.logits_dimension, cast=floats)

    def _checked_labels(self, labels, logits, size):
        return checked_labels(labels, logits, size, OF_HEADS)

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        with name_scope("losses", values=(logits, labels, regularization_losses, features)):
            logits = self._checked_logits(logits)
            labels = self._processed_labels(logits, labels)
            losses, weights = self._unweighted_loss_and_weights(logits, labels, features)
            loss = compute_weighted_loss(losses, sample_weight=weights, reduction=self._loss_reduction)
            if regularization_losses is None:
                return loss
            return loss + ops.add_n(regularization_losses)

    def _mean_metric(self, key):
        return {self._summary_key(key): Mean(name=key)}

    def _regularization_metric(self, regularization_losses):
        return {} if regularization_losses is None else self._mean_metric(MetricKeys.LOSS_REGULARIZATION)

    def _update_regularization(self, eval_metrics, regularization_losses):
        if regularization_losses is not None:
            loss = ops.add_n(regularization_losses)
            eval_metrics[self._summary_key(MetricKeys.LOSS_REGULARIZATION)].update_state(values=loss)

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, trainable_variables=None, train_op_fn=None,
        update_ops=None, regularization_losses=None,
    ):  # fmt: skip
        with name_scope(self._name, "head"):
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self._export_outputs(predictions))
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.metrics(regularization_losses=regularization_losses)
            else:
                train_op = training_step(
                    loss, optimizer, train_op_fn, trainable_variables, update_ops, self._loss_reduction
                )
        if mode == ModeKeys.EVAL:
            metrics = self.update_metrics(
                metrics, features, logits, labels, regularization_losses=regularization_losses
            )
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
        loss_summaries(loss, regularization_losses, self._summary_key)
        return EstimatorSpec(ModeKeys.TRAIN, predictions, loss, train_op)
