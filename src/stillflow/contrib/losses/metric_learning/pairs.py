"""N-pairs losses: cross entropies of similarities, "Improved deep metric learning with multi-class n-pair loss
objective" (Sohn 2016)."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import softmax_cross_entropy_with_logits
from stillflow.contrib.losses.metric_learning.distances import label_column
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.ops.strings.print import Print


def _similarities(anchors, positives, reg_lambda):
    """(an L2 loss of the embeddings, the products of all pairs)."""
    lengths = [ops.reduce_mean(ops.reduce_sum(ops.square(each), 1)) for each in (anchors, positives)]
    l2loss = ops.mul(0.25 * reg_lambda, lengths[0] + lengths[1], name="l2loss")
    return l2loss, ops.matmul(anchors, positives, transpose_a=False, transpose_b=True)


def _loss(l2loss, similarities, labels, print_losses):
    labels /= ops.reduce_sum(labels, 1, keepdims=True)
    entropy = softmax_cross_entropy_with_logits(logits=similarities, labels=labels)
    entropy = ops.reduce_mean(entropy, name="xentropy")
    if print_losses:
        entropy = Print(entropy, ["cross entropy:", entropy, "l2loss:", l2loss])
    return l2loss + entropy


@public("contrib.losses.metric_learning.npairs_loss")
def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False):
    """The n-pairs loss: an anchor should be more similar to its like than to all others.

    Args:
      labels: integers, [batch].
      embeddings_anchor, embeddings_positive: both sides of the pairs, [batch, dimensions].
      reg_lambda: the factor of an L2 loss of the embeddings.
      print_losses: whether to print both losses.

    Raises:
      AssertionError: for labels of another rank.
    """
    l2loss, similarities = _similarities(embeddings_anchor, embeddings_positive, reg_lambda)
    labels = label_column(labels)
    labels = ops.cast(ops.equal(labels, ops.transpose(labels)), dtypes.float32)
    return _loss(l2loss, similarities, labels, print_losses)


@public("contrib.losses.metric_learning.npairs_loss_multilabel")
def npairs_loss_multilabel(
    sparse_labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False
):
    """The n-pairs loss with several labels each: a list of SparseTensors of counts; see npairs_loss.

    Raises:
      TypeError: for other labels.
    """
    if not all(isinstance(labels, SparseTensor) for labels in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with name_scope(None, "NpairsLossMultiLabel"):
        l2loss, similarities = _similarities(embeddings_anchor, embeddings_positive, reg_lambda)
        labels = ops.cast(_common_labels(sparse_labels), dtypes.float32)
        return _loss(l2loss, similarities, labels, print_losses)


def _common_labels(sparse_labels):
    """How many labels each two have in common, [batch, batch]."""
    count = len(sparse_labels)
    matrix = ops.zeros([count, count])
    for i, ours in enumerate(sparse_labels):
        for j, theirs in enumerate(sparse_labels):
            common = ops.cast(ops.sparse_reduce_sum(ops.sparse_minimum(ours, theirs)), dtypes.float32)
            common = ops.expand_dims(ops.expand_dims(common, 0), 1)
            matrix += ops.pad(common, [[i, count - i - 1], [j, count - j - 1]], "CONSTANT")
    return matrix
