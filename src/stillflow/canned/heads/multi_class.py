"""tf.estimator.MultiClassHead: several classes, of which each example has one."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned import class_outputs
from stillflow.canned.head_checks import OF_HEADS, call_loss_fn, checked_n_classes, checked_range, checked_weights
from stillflow.canned.heads.base import SingleHead, check_keys, check_vocabulary
from stillflow.canned.heads.binary import BinaryClassHead
from stillflow.canned.keys import CLASSIFY_SERVING_KEY, PREDICT_SERVING_KEY, MetricKeys, PredictionKeys
from stillflow.graph.name_scope import name_scope
from stillflow.keras.losses.reductions import Reduction
from stillflow.keras.metrics.named_means import Accuracy
from stillflow.losses.classification import sparse_softmax_cross_entropy
from stillflow.losses.weighted import Reduction as OldReduction
from stillflow.names import public
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_KEYS = [
    PredictionKeys.LOGITS, PredictionKeys.PROBABILITIES, PredictionKeys.CLASS_IDS, PredictionKeys.CLASSES,
    PredictionKeys.ALL_CLASS_IDS, PredictionKeys.ALL_CLASSES,
]  # fmt: skip


@public("estimator.MultiClassHead")
class MultiClassHead(SingleHead):
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

    def __init__(
        self, n_classes, weight_column=None, label_vocabulary=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn=None, name=None,
    ):  # fmt: skip
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        check_vocabulary(label_vocabulary)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(
                f'"label_vocabulary" does not have "n_classes" items. len(label_vocabulary)={len(label_vocabulary)}, '
                f"n_classes={n_classes}, label_vocabulary={label_vocabulary}"
            )
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = checked_n_classes(n_classes)
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self):
        return self._n_classes

    def _processed_labels(self, logits, labels):
        labels = class_outputs.class_ids_of(self._checked_labels(labels, logits, 1), self._label_vocabulary)
        return checked_range(labels, self._n_classes, wording=OF_HEADS)

    def _unweighted_loss_and_weights(self, logits, labels, features):
        if self._loss_fn:
            losses = call_loss_fn(self._loss_fn, labels, logits, features)
        else:
            losses = sparse_softmax_cross_entropy(labels, logits, reduction=OldReduction.NONE)
            losses = ops.expand_dims(losses, axis=-1)
        return losses, checked_weights(features, self._weight_column, logits)

    def predictions(self, logits, keys=None):
        names = PredictionKeys
        check_keys(keys or (), _KEYS)
        wanted = keys or _KEYS
        logits = self._checked_logits(logits)
        found = {}
        with name_scope("predictions", values=(logits,)):
            if names.LOGITS in wanted:
                found[names.LOGITS] = logits
            if names.PROBABILITIES in wanted:
                found[names.PROBABILITIES] = ops.softmax(logits, name=names.PROBABILITIES)
            found.update(class_outputs.chosen_classes(logits, wanted, self._label_vocabulary))
            found.update(class_outputs.classes_of_all(logits, self._n_classes, wanted, self._label_vocabulary))
            return found

    def _export_outputs(self, predictions):
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        classes = class_outputs.classification_output(probabilities, self._n_classes, self._label_vocabulary)
        return {
            DEFAULT_SERVING_SIGNATURE_DEF_KEY: classes,
            CLASSIFY_SERVING_KEY: classes,
            PREDICT_SERVING_KEY: PredictOutput(predictions),
        }

    def metrics(self, regularization_losses=None):
        with name_scope("metrics", values=(regularization_losses,)):
            return {
                **self._mean_metric(MetricKeys.LOSS_MEAN),
                **self._regularization_metric(regularization_losses),
                self._summary_key(MetricKeys.ACCURACY): Accuracy(name=MetricKeys.ACCURACY),
            }

    def update_metrics(  # type: ignore[override]  # as in TensorFlow, without the mode
        self, eval_metrics, features, logits, labels, regularization_losses=None
    ):
        class_ids = self.predictions(logits)[PredictionKeys.CLASS_IDS]
        logits = self._checked_logits(logits)
        labels = self._processed_labels(logits, labels)
        losses, weights = self._unweighted_loss_and_weights(logits, labels, features)
        eval_metrics[self._summary_key(MetricKeys.LOSS_MEAN)].update_state(values=losses, sample_weight=weights)
        accuracy = eval_metrics[self._summary_key(MetricKeys.ACCURACY)]
        accuracy.update_state(y_true=labels, y_pred=class_ids, sample_weight=weights)
        self._update_regularization(eval_metrics, regularization_losses)
        return eval_metrics


@public("python.estimator.head.head_utils.binary_or_multi_class_head")
def binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction):
    """The head of so many classes. Raises ValueError for less than two."""
    settings = {
        "weight_column": weight_column, "label_vocabulary": label_vocabulary, "loss_reduction": loss_reduction,
    }  # fmt: skip
    return BinaryClassHead(**settings) if n_classes == 2 else MultiClassHead(n_classes, **settings)
