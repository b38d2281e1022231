"""Heads of several labels at once, of losses alone, and of several heads."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.sparse import sparse_to_indicator
from stillflow.composites.summaries import scalar
from stillflow.contrib.learn import head_metrics
from stillflow.contrib.learn.head_metrics import summary_key
from stillflow.contrib.learn.heads import ClassHead, Head, check_loss_function, check_mode, no_op_train_fn
from stillflow.contrib.learn.modes import ModeKeys, ModelFnOps, PredictionKey
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.sparse_tensor import convert_to_tensor_or_sparse_tensor, is_sparse
from stillflow.variables.scope import variable_scope


class _MultiLabelHead(ClassHead):
    _NAME = "multi_label_head"

    def __init__(self, metric_class_ids, n_classes, *arguments):
        self._class_ids = tuple(metric_class_ids or ())
        for class_id in self._class_ids:
            if not 0 <= class_id < n_classes:
                raise ValueError(f"Class ID {class_id} not in [0, {n_classes}).")
        super().__init__(n_classes, *arguments)

    def _labels_of(self, labels):
        labels = labels[self.label_name] if isinstance(labels, dict) else labels
        labels = convert_to_tensor_or_sparse_tensor(labels)
        return (
            ops.cast(sparse_to_indicator(labels, self.logits_dimension), dtypes.int64)
            if is_sparse(labels)
            else labels
        )

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: ops.sigmoid(logits, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: ops.cast(ops.greater(logits, 0), dtypes.int64, name=PredictionKey.CLASSES),
            }

    def _metrics(self, predictions, labels, weights):
        return head_metrics.label_metrics(predictions, labels, weights, self._class_ids)


@public("contrib.learn.multi_label_head")
def multi_label_head(
    n_classes,
    label_name=None,
    weight_column_name=None,
    enable_centered_bias=False,
    head_name=None,
    thresholds=None,
    metric_class_ids=None,
    loss_fn=None,
):
    """A head of classes of which an example may have any number.

    Args:
      n_classes: how many; labels are 0 or 1 for each, [batch, n_classes], or a SparseTensor of their numbers.
      label_name, weight_column_name, enable_centered_bias, head_name: see regression_head.
      thresholds: not used.
      metric_class_ids: for which classes there are metrics of their own.
      loss_fn: a function of `labels`, `logits` and `weights`; the sigmoid's cross entropy by default.

    Raises ValueError for fewer than two classes, classes that there are not, and functions without these arguments.
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    if loss_fn:
        check_loss_function(loss_fn)
        loss_fn = head_metrics.wrapped_loss(loss_fn)
    arguments = label_name, weight_column_name, enable_centered_bias, head_name
    return _MultiLabelHead(metric_class_ids, n_classes, *arguments, loss_fn or head_metrics.sigmoid_loss)


class _LossOnlyHead(Head):
    def __init__(self, loss_fn, head_name=None):
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self):
        return 0

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        check_mode(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                loss = ops.add_n(loss) if isinstance(loss, list) else loss
                with name_scope(""):
                    scalar(summary_key(self.head_name, "loss"), ops.identity(loss))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    with name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op, predictions={}, eval_metric_ops={})


@public("contrib.learn.head.loss_only_head")
def loss_only_head(loss_fn, head_name=None):
    """A head without logits, for a loss that multi_head adds to those of others.

    Args:
      loss_fn: a function of nothing that returns a scalar or a list of scalars.
      head_name: by default "loss_only_head".
    """
    return _LossOnlyHead(loss_fn, head_name)


class _MultiHead(Head):
    def __init__(self, heads, loss_weights):
        for head in heads:
            if not head.head_name:
                raise ValueError("Members of MultiHead must have names.")
        self._heads, self._loss_weights = heads, loss_weights

    @property
    def logits_dimension(self):
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        check_mode(mode)
        every_logits = self._logits_of_heads(logits)
        every_ops = [
            head.create_model_fn_ops(
                features=features,
                mode=mode,
                labels=labels,
                train_op_fn=no_op_train_fn,
                logits=own_logits,
                logits_input=logits_input if logits is None else None,
                scope=scope,
            )
            for head, own_logits in zip(self._heads, every_logits, strict=True)
        ]
        if mode == ModeKeys.INFER:
            return self._merged_predictions(every_ops)
        loss = self._merged_loss([own.loss for own in every_ops])
        metrics = {key: value for own in every_ops for key, value in own.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode=mode, predictions=self._named(every_ops), loss=loss, eval_metric_ops=metrics)
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        train_op = group(train_op_fn(loss), *(own.train_op for own in every_ops))
        return ModelFnOps(mode=mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)

    def _logits_of_heads(self, logits):
        """The logits of each head, of one tensor or of a dict by heads' names."""
        if logits is None:
            return [None] * len(self._heads)
        if isinstance(logits, dict):
            return [None if isinstance(head, _LossOnlyHead) else logits[head.head_name] for head in self._heads]
        found, begin = [], 0
        for head in self._heads:
            found.append(ops.slice(logits, [0, begin], [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return found

    def _merged_loss(self, losses):
        if self._loss_weights:
            losses = [ops.mul(loss, weight) for loss, weight in zip(losses, self._loss_weights, strict=True)]
        return ops.add_n(losses)

    def _named(self, every_ops):
        """The predictions of all heads, by (name of the head, key)."""
        named = zip(self._heads, every_ops, strict=True)
        return {(head.head_name, key): value for head, own in named for key, value in own.predictions.items()}

    def _merged_predictions(self, every_ops):
        alternatives = {
            head.head_name: own.output_alternatives[head.head_name]
            for head, own in zip(self._heads, every_ops, strict=True)
            if not isinstance(head, _LossOnlyHead)
        }
        return ModelFnOps(mode=ModeKeys.INFER, predictions=self._named(every_ops), output_alternatives=alternatives)


@public("contrib.learn.multi_head")
def multi_head(heads, loss_weights=None):
    """A head of several heads with names over one layer: their losses are added.

    Its logits are those of all heads side by side, or a dict by the heads' names. Predictions are named
    (name of the head, key), and metrics "key/name of the head".

    Args:
      heads: a list of heads.
      loss_weights: what each loss counts, 1 by default.

    Raises ValueError for heads without a name, and for another number of weights.
    """
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")
    return _MultiHead(heads, loss_weights)
