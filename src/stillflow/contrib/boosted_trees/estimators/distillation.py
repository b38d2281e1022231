"""Losses by which trees learn what a network says."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.learn import head_metrics
from stillflow.names import public


def _probabilities(logits, n_classes):
    return ops.sigmoid(logits) if n_classes == 2 else ops.softmax(logits)


@public("contrib.boosted_trees.estimator_batch.distillation_loss.create_dnn_to_tree_squared_loss_fn")
def create_dnn_to_tree_squared_loss_fn(n_classes):
    """A function of the network's logits, the trees' logits and weights: the squared loss of their probabilities."""

    def loss(dnn_logits, tree_logits, example_weights):
        return head_metrics.squared_loss(
            labels=_probabilities(dnn_logits, n_classes),
            logits=_probabilities(tree_logits, n_classes),
            weights=example_weights,
        )[0]

    return loss


@public("contrib.boosted_trees.estimator_batch.distillation_loss.create_dnn_to_tree_cross_entropy_loss_fn")
def create_dnn_to_tree_cross_entropy_loss_fn(n_classes):
    """A function of the network's logits, the trees' logits and weights: the cross entropy of their probabilities.

    With more than two classes its loss raises ValueError, as in TensorFlow: the cross entropy there is of classes,
    not of probabilities.
    """

    def loss(dnn_logits, tree_logits, example_weights):
        function = head_metrics.logistic_loss if n_classes == 2 else head_metrics.softmax_loss
        labels = _probabilities(dnn_logits, n_classes)
        return function(labels=labels, logits=tree_logits, weights=example_weights)[0]

    return loss
