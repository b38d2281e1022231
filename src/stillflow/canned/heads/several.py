"""tf.estimator.MultiHead: a head of several heads, whose losses are added."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.heads.base import Head, loss_summaries, training_step
from stillflow.canned.keys import MetricKeys
from stillflow.canned.split_logits import merged_export_outputs, split_logits
from stillflow.estimator.spec import EstimatorSpec
from stillflow.graph.name_scope import name_scope
from stillflow.keras.metrics.means import Mean
from stillflow.names import public
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys


def _no_training(loss):
    return ops.no_op()


@public("estimator.MultiHead")
class MultiHead(Head):
    """A head of several heads, each with labels of its own; the loss is the sum of theirs.

    Args:
      heads: heads with names. Logits are {name: tensor}, or one tensor of all beside each other; labels are
        {name: labels}.
      head_weights: numbers that losses are multiplied with before they are added.

    Raises ValueError for none, heads without a name, and another number of weights.
    """

    def __init__(self, heads, head_weights=None):
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
                f"len(head_weights): {len(head_weights)}."
            )
        for head in heads:
            if head.name is None:
                raise ValueError(f"All given heads must have name specified. Given: {head}")
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights or ())

    @property
    def name(self):
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self):
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self):
        reductions = [head.loss_reduction for head in self._heads]
        if len(set(reductions)) > 1:
            raise ValueError(f"The loss_reduction must be the same for different heads. Given: {reductions}")
        return reductions[0]

    def _logits_by_head(self, logits, labels=None):
        names = [head.name for head in self._heads]
        if isinstance(logits, dict):
            missing = list(set(names) - set(logits))
            if missing:
                raise ValueError(f"logits has missing values for head(s): {missing}")
        else:
            logits = split_logits(logits, self._heads)
        if labels is not None:
            if not isinstance(labels, dict):
                raise ValueError(f"labels must be a dict. Given: {labels}")
            missing = list(set(names) - set(labels))
            if missing:
                raise ValueError(f"labels has missing values for head(s): {missing}")
        return logits

    def loss(self, labels, logits, features=None, mode=None, regularization_losses=None):
        logits = self._logits_by_head(logits, labels)
        losses = tuple(
            head.loss(logits=logits[head.name], labels=labels[head.name], features=features, mode=mode)
            for head in self._heads
        )
        with name_scope("merge_losses", values=losses + self._head_weights):
            if self._head_weights:
                losses = tuple(ops.mul(*pair) for pair in zip(losses, self._head_weights, strict=True))
            merged = ops.add_n(losses)
            if regularization_losses is None:
                return merged
            return merged + ops.add_n(regularization_losses)

    def predictions(self, logits, keys=None):
        logits = self._logits_by_head(logits)
        with name_scope("merge_pred"):
            return {
                (head.name, key): tensor
                for head in self._heads
                for key, tensor in head.predictions(logits=logits[head.name]).items()
            }

    def _loss_key(self, head):
        return f"{MetricKeys.LOSS}/{head.name}"

    def metrics(self, regularization_losses=None):
        found = {}
        if regularization_losses is not None:
            key = MetricKeys.LOSS_REGULARIZATION
            found[self._summary_key(key)] = Mean(name=key)
        with name_scope("merge_eval"):
            for head in self._heads:
                found[self._loss_key(head)] = Mean(name=self._loss_key(head))
        return found

    def update_metrics(  # type: ignore[override]  # as in TensorFlow, without the mode
        self, eval_metrics, features, logits, labels, regularization_losses=None
    ):
        logits = self._logits_by_head(logits, labels)
        if regularization_losses is not None:
            loss = ops.add_n(regularization_losses)
            eval_metrics[self._summary_key(MetricKeys.LOSS_REGULARIZATION)].update_state(values=loss)
        for head in self._heads:
            own_logits, own_labels = logits[head.name], labels[head.name]
            loss = head.loss(logits=own_logits, labels=own_labels, features=features)
            eval_metrics[self._loss_key(head)].update_state(values=loss)
            updated = head.update_metrics(head.metrics(), features, own_logits, own_labels)
            eval_metrics.update(updated or {})
        return eval_metrics

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, trainable_variables=None, train_op_fn=None,
        update_ops=None, regularization_losses=None,
    ):  # fmt: skip
        with name_scope(self.name, "multi_head"):
            by_head = self._logits_by_head(logits, labels)
            specs = [
                head.create_estimator_spec(
                    features=features,
                    mode=mode,
                    logits=by_head[head.name],
                    labels=labels[head.name] if labels else None,
                    train_op_fn=_no_training,
                )
                for head in self._heads
            ]
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = merged_export_outputs(self._heads, specs, "tf.estimator")
                return EstimatorSpec(mode, predictions, export_outputs=outputs)
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.metrics(regularization_losses=regularization_losses)
                metrics = self.update_metrics(
                    metrics, features, logits, labels, regularization_losses=regularization_losses
                )
                return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metrics)
            if mode != ModeKeys.TRAIN:
                raise ValueError(f"mode={mode} unrecognized")
            train_op = training_step(
                loss, optimizer, train_op_fn, trainable_variables, update_ops, self.loss_reduction
            )
            loss_summaries(loss, regularization_losses)
            metrics = {key: metric for spec in specs for key, metric in (spec.eval_metric_ops or {}).items()}
            return EstimatorSpec(mode, predictions, loss, train_op, metrics)
