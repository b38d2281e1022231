"""The head of several classes, of which each example has one."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned import class_outputs
from stillflow.canned.graph_heads.base import LossSpec, SingleHead, check_reduction
from stillflow.canned.graph_heads.binary import binary_head
from stillflow.canned.head_checks import (
    call_loss_fn,
    check_loss_fn,
    checked_labels,
    checked_logits,
    checked_n_classes,
    checked_range,
    checked_weights,
)
from stillflow.canned.keys import CLASSIFY_SERVING_KEY, PREDICT_SERVING_KEY, MetricKeys, PredictionKeys
from stillflow.graph.name_scope import name_scope
from stillflow.losses.classification import sparse_softmax_cross_entropy
from stillflow.losses.weighted import Reduction, compute_weighted_loss
from stillflow.metrics.means import accuracy, mean
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


@public("python.estimator.canned.head._multi_class_head_with_softmax_cross_entropy_loss")
def multi_class_head(
    n_classes, weight_column=None, label_vocabulary=None, loss_reduction=Reduction.SUM, loss_fn=None, name=None
):
    """A head of more than two classes: the softmax of as many logits are their probabilities.

    Args:
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      loss_reduction: a tf.losses.Reduction.
      loss_fn: a function of labels and logits, and perhaps features, instead of the cross entropy.
      name: the head's name.

    Raises ValueError for other arguments.
    """
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise ValueError(f"label_vocabulary should be a list or a tuple. Given type: {type(label_vocabulary)}")
    check_reduction(loss_reduction)
    if loss_fn:
        check_loss_fn(loss_fn)
    return MultiClassGraphHead(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


@public("python.estimator.canned.head._MultiClassHeadWithSoftmaxCrossEntropyLoss")
class MultiClassGraphHead(SingleHead):
    """The head that multi_class_head makes."""

    def __init__(
        self, n_classes, weight_column=None, label_vocabulary=None, loss_reduction=Reduction.SUM, loss_fn=None,
        name=None,
    ):  # fmt: skip
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        self._n_classes = checked_n_classes(n_classes)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self):
        return self._n_classes

    def create_loss(self, features, mode, logits, labels):
        logits = convert_to_tensor(logits)
        labels = checked_labels(labels, logits, 1)
        label_ids = checked_range(class_outputs.class_ids_of(labels, self._label_vocabulary), self._n_classes)
        if self._loss_fn:
            losses = call_loss_fn(self._loss_fn, label_ids, logits, features)
        else:
            losses = sparse_softmax_cross_entropy(label_ids, logits, reduction=Reduction.NONE)
            losses = ops.expand_dims(losses, axis=-1)
        weights = checked_weights(features, self._weight_column, logits)
        loss = compute_weighted_loss(losses, weights=weights, reduction=self._loss_reduction)
        return LossSpec(loss, losses, weights, label_ids)

    def _predictions(self, logits):
        keys = PredictionKeys
        logits = checked_logits(logits, self.logits_dimension)
        with name_scope(None, "predictions", (logits,)):
            all_ids = class_outputs.all_class_ids(logits, self._n_classes)
            all_names = class_outputs.all_classes(logits, self._n_classes, self._label_vocabulary)
            class_ids = ops.expand_dims(ops.argmax(logits, axis=-1, name=keys.CLASS_IDS), axis=-1)
            classes = class_outputs.class_names(class_ids, self._label_vocabulary)
            return {
                keys.LOGITS: logits,
                keys.PROBABILITIES: ops.softmax(logits, name=keys.PROBABILITIES),
                keys.CLASS_IDS: class_ids,
                keys.CLASSES: classes,
                keys.ALL_CLASS_IDS: all_ids,
                keys.ALL_CLASSES: all_names,
            }

    def _export_outputs(self, predictions):
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = class_outputs.classification_output(probabilities, self._n_classes, self._label_vocabulary)
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: classes,
            CLASSIFY_SERVING_KEY: classes,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def _metrics(self, predictions, loss, labels, regularization_loss):
        keys = MetricKeys
        labels, weights = loss.processed_labels, loss.weights
        class_ids = predictions[PredictionKeys.CLASS_IDS]
        with name_scope(None, "metrics", (labels, class_ids, weights, loss.unreduced_loss, regularization_loss)):
            return {
                self._key(keys.LOSS_MEAN): mean(loss.unreduced_loss, weights=weights, name=keys.LOSS_MEAN),
                self._key(keys.ACCURACY): accuracy(
                    labels=labels, predictions=class_ids, weights=weights, name=keys.ACCURACY
                ),
                **self._regularization_metric(regularization_loss),
            }


@public("python.estimator.canned.head._binary_logistic_or_multi_class_head")
def classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction):
    """The head of so many classes."""
    if n_classes == 2:
        return binary_head(weight_column, None, label_vocabulary, loss_reduction)
    return multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
