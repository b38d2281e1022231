"""Heads whose losses have the second derivatives that trees need."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.graph_heads.multi_class import multi_class_head
from stillflow.canned.graph_heads.regression import regression_head
from stillflow.contrib.boosted_trees.losses import per_example_maxent_loss, per_example_quantile_regression_loss
from stillflow.contrib.learn.heads import RegressionHead
from stillflow.graph import dtypes
from stillflow.losses.weighted import Reduction
from stillflow.names import public


@public("contrib.boosted_trees.estimator_batch.custom_loss_head.CustomLossHead")
class CustomLossHead(RegressionHead):
    """A head of numbers with a loss of its own.

    Args:
      loss_fn: a function of labels, weights and predictions that gives (the loss of each example, an operation).
      link_fn: makes predictions of logits.
      logit_dimension: how many logits there are.
      head_name: a name for summaries and metrics.
      weight_column_name: the feature that is the weight of examples.
      metrics_fn: a function of predictions, labels and weights that gives {name: (value, update)}.
    """

    def __init__(
        self, loss_fn, link_fn, logit_dimension, head_name=None, weight_column_name=None, metrics_fn=None
    ):  # fmt: skip
        def loss(labels, logits, weights):
            if weights is None:
                weights = ops.ones(shape=[ops.shape(labels)[0], 1], dtype=dtypes.float32)
            weighted, _ = loss_fn(labels, weights, logits)
            average = ops.reduce_mean(weighted)
            return average, average / ops.reduce_mean(weights)

        super().__init__(link_fn, logit_dimension, None, weight_column_name, False, head_name, loss)
        self._metrics_fn = metrics_fn

    def _metrics(self, predictions, labels, weights):
        return {} if self._metrics_fn is None else self._metrics_fn(predictions, labels, weights)


@public("contrib.boosted_trees.estimator_batch.estimator.core_multiclass_head")
def core_multiclass_head(n_classes, weight_column=None, loss_reduction=Reduction.SUM_OVER_NONZERO_WEIGHTS):
    """A head of tf.estimator of more than two classes.

    Args:
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      loss_reduction: a tf.losses.Reduction.
    """

    def loss_fn(labels, logits):
        return per_example_maxent_loss(labels=labels, logits=logits, weights=None, num_classes=n_classes)[0]

    return multi_class_head(
        n_classes=n_classes, loss_fn=loss_fn, loss_reduction=loss_reduction, weight_column=weight_column
    )


@public("contrib.boosted_trees.estimator_batch.estimator.core_quantile_regression_head")
def core_quantile_regression_head(
    quantiles, label_dimension=1, weight_column=None, loss_reduction=Reduction.SUM_OVER_NONZERO_WEIGHTS
):
    """A head of tf.estimator that learns a quantile of the labels.

    Args:
      quantiles: the quantile, in (0, 1).
      label_dimension: how many labels an example has.
      weight_column: a numeric column with the weights of examples, or its key.
      loss_reduction: a tf.losses.Reduction.
    """

    def loss_fn(labels, logits):
        return per_example_quantile_regression_loss(
            labels=labels, predictions=logits, weights=None, quantile=quantiles
        )[0]

    return regression_head(
        label_dimension=label_dimension, loss_fn=loss_fn, loss_reduction=loss_reduction, weight_column=weight_column
    )
