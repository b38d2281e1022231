"""Heads for Estimators of any model: those of ready-made models, and some that have other losses."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.graph_heads import binary, multi_class, regression
from stillflow.canned.head_checks import checked_range
from stillflow.composites.cross_entropy import log_poisson_loss, sigmoid_cross_entropy_with_logits
from stillflow.losses.weighted import Reduction
from stillflow.names import public


@public("contrib.estimator.multi_class_head")
def multi_class_head(
    n_classes, weight_column=None, label_vocabulary=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None,
    name=None,
):  # fmt: skip
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
    return multi_class.multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction, loss_fn, name)


@public("contrib.estimator.binary_classification_head")
def binary_classification_head(
    weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
    loss_fn=None, name=None,
):  # fmt: skip
    """A head of two classes: the sigmoid of one logit is the probability of class 1.

    Args:
      thresholds: numbers in (0, 1), for which there are metrics.
      weight_column, label_vocabulary, loss_reduction, loss_fn, name: as for multi_class_head.

    Raises TypeError and ValueError for other arguments.
    """
    return binary.binary_head(weight_column, thresholds, label_vocabulary, loss_reduction, loss_fn, name)


@public("contrib.estimator.regression_head")
def regression_head(
    weight_column=None, label_dimension=1, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, loss_fn=None,
    inverse_link_fn=None, name=None,
):  # fmt: skip
    """A head of numbers: the loss is the squared error.

    Args:
      label_dimension: how many numbers each example has.
      inverse_link_fn: a function that makes predictions of logits.
      weight_column, loss_reduction, loss_fn, name: as for multi_class_head.

    Raises ValueError for other arguments.
    """
    return regression.regression_head(weight_column, label_dimension, loss_reduction, loss_fn, inverse_link_fn, name)


@public("contrib.estimator.poisson_regression_head")
def poisson_regression_head(
    weight_column=None, label_dimension=1, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, compute_full_loss=True,
    name=None,
):  # fmt: skip
    """A head of counts, of which logits are the logarithms of the means; see tf.nn.log_poisson_loss.

    Args:
      compute_full_loss: whether the loss has the term that only depends on labels.
      weight_column, label_dimension, loss_reduction, name: as for regression_head.

    Raises ValueError for other arguments.
    """

    def poisson_loss(labels, logits):
        return log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

    return regression.regression_head(weight_column, label_dimension, loss_reduction, poisson_loss, ops.exp, name)


@public("contrib.estimator.logistic_regression_head")
def logistic_regression_head(weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None):
    """A head of shares in [0, 1], which are the sigmoid of logits; the loss is the cross entropy.

    Args:
      weight_column, loss_reduction, name: as for regression_head.

    Raises ValueError for other arguments.
    """

    def logistic_loss(labels, logits):
        labels = checked_range(labels, n_classes=2, message="Labels must be in range [0, 1]")
        return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    return regression.regression_head(weight_column, 1, loss_reduction, logistic_loss, ops.sigmoid, name)
