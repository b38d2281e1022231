"""Cross entropies whose scores come first, and a sampled softmax of one class."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from stillflow.composites.sampled_losses import sampled_logits
from stillflow.graph import dtypes
from stillflow.names import public


@public("contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits")
def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    """tf.nn.softmax_cross_entropy_with_logits with the order of arguments before TensorFlow 1.0."""
    return softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


@public("contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits")
def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    """tf.nn.sparse_softmax_cross_entropy_with_logits with the order of arguments before TensorFlow 1.0."""
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@public("contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits")
def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    """tf.nn.sigmoid_cross_entropy_with_logits with the order of arguments before TensorFlow 1.0."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


@public("contrib.nn.sampled_sparse_softmax_loss")
def sampled_sparse_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    sampled_values=None,
    remove_accidental_hits=True,
    partition_strategy="mod",
    name="sampled_sparse_softmax_loss",
):
    """tf.nn.sampled_softmax_loss of one true class each, by way of the sparse cross entropy.

    `labels` are int64 [batch, 1]. Returns a tensor [batch].
    """
    logits, _ = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values, remove_accidental_hits,
        partition_strategy, name,
    )  # fmt: skip
    # The true class stands first.
    labels = ops.zeros([ops.shape(logits)[0], 1], dtype=dtypes.int64)
    return sparse_softmax_cross_entropy_with_logits(labels=ops.squeeze(labels), logits=logits)
