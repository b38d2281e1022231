"""A head of several heads, whose losses are added."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.graph_heads.base import GraphHead, LossSpec, training_step
from stillflow.canned.keys import MetricKeys, summary_key
from stillflow.canned.split_logits import merged_export_outputs, split_logits
from stillflow.composites import summaries
from stillflow.estimator.spec import EstimatorSpec
from stillflow.graph.name_scope import name_scope
from stillflow.metrics.means import mean
from stillflow.names import public
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys


@public("contrib.estimator.multi_head")
def multi_head(heads, head_weights=None):
    """A head of several heads, each with labels of its own; the loss is the sum of theirs.

    Args:
      heads: heads with names. Logits are {name: tensor}, or one tensor of all beside each other; labels are
        {name: labels}.
      head_weights: numbers that losses are multiplied with before they are added.

    Raises ValueError for none, heads without a name, and another number of weights.
    """
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(
            f"heads and head_weights must have the same size. Given len(heads): {len(heads)}. Given "
            f"len(head_weights): {len(head_weights)}."
        )
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")
    return _MultiHead(tuple(heads), tuple(head_weights or ()))


def _no_training(loss):
    return ops.no_op()


class _MultiHead(GraphHead):
    def __init__(self, heads, head_weights):
        self._heads = heads
        self._head_weights = head_weights

    @property
    def name(self):
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self):
        return sum(head.logits_dimension for head in self._heads)

    def _logits_by_head(self, logits):
        return logits if isinstance(logits, dict) else split_logits(logits, self._heads)

    def _merged(self, losses):
        losses = tuple(losses)
        with name_scope("merge_losses", values=losses + self._head_weights):
            if self._head_weights:
                losses = [ops.mul(*pair) for pair in zip(losses, self._head_weights, strict=True)]
            return ops.add_n(losses)

    def create_loss(self, features, mode, logits, labels):
        logits = self._logits_by_head(logits)
        losses, unreduced, weights, processed = [], {}, {}, {}
        for number, head in enumerate(self._heads):
            loss = head.create_loss(features, mode, logits[head.name], labels[head.name])
            losses.append(loss.training_loss)
            processed[head.name] = loss.processed_labels
            unreduced[head.name], weights[head.name] = loss.unreduced_loss, loss.weights
            if self._head_weights:
                weight = self._head_weights[number]
                unreduced[head.name] = ops.mul(loss.unreduced_loss, weight)
                weights[head.name] = ops.mul(loss.weights, weight)
        return LossSpec(self._merged(losses), unreduced, weights, processed)

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):
        logits = self._logits_by_head(logits)
        if labels and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        specs = [
            head.create_estimator_spec(
                features=features,
                mode=mode,
                logits=logits[head.name],
                labels=labels[head.name] if labels else None,
                train_op_fn=_no_training,
            )
            for head in self._heads
        ]
        predictions = {
            (head.name, key): tensor
            for head, spec in zip(self._heads, specs, strict=True)
            for key, tensor in spec.predictions.items()
        }
        if mode == ModeKeys.TRAIN:
            return self._training_spec(specs, predictions, optimizer, train_op_fn)
        if mode == ModeKeys.PREDICT:
            outputs = merged_export_outputs(self._heads, specs, "tf.contrib.estimator")
            return EstimatorSpec(mode, predictions, export_outputs=outputs)
        if mode == ModeKeys.EVAL:
            return self._evaluation_spec(specs, predictions)
        raise ValueError(f"mode={mode} unrecognized")

    def _training_spec(self, specs, predictions, optimizer, train_op_fn):
        metrics = {key: metric for spec in specs for key, metric in (spec.eval_metric_ops or {}).items()}
        loss = self._merged(spec.loss for spec in specs)
        train_op = training_step(loss, optimizer, train_op_fn, with_updates=False)
        spec = EstimatorSpec(ModeKeys.TRAIN, predictions, loss, train_op, metrics)
        with name_scope(""):
            summaries.scalar(MetricKeys.LOSS, spec.loss)
        return spec

    def _evaluation_spec(self, specs, predictions):
        metrics = {}
        with name_scope("merge_eval"):
            for head, spec in zip(self._heads, specs, strict=True):
                key = summary_key(head.name, MetricKeys.LOSS)
                metrics[key] = mean(spec.loss, name=key)
                metrics.update(spec.eval_metric_ops or {})
            loss = self._merged(spec.loss for spec in specs)
        return EstimatorSpec(ModeKeys.EVAL, predictions, loss, eval_metric_ops=metrics)
