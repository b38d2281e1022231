"""Classification losses: softmax, sigmoid and hinge losses on logits."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.confusion_matrix import remove_squeezable_dimensions
from stillflow.composites.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from stillflow.graph.collections import GraphKeys
from stillflow.graph.name_scope import name_scope
from stillflow.losses.regression import as_floats, require
from stillflow.losses.weighted import Reduction, compute_weighted_loss
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor


@public("losses.hinge_loss")
def hinge_loss(
    labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """max(0, 1 - (2 labels - 1) * logits), weighted and reduced as by `compute_weighted_loss`.

    Args:
      labels: 0 and 1, of the shape of `logits`.
      logits: numbers that are positive where 1 is predicted.
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", (logits, labels, weights)) as scope:
        logits, labels = as_floats(logits, labels)
        ones = ops.ones_like(labels)
        labels = ops.sub(2 * labels, ones)
        losses = ops.relu(ops.sub(ones, ops.mul(labels, logits)))
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _with_logits(labels, logits):
    """Both, the labels in the type of the logits. Raises ValueError for shapes that differ."""
    logits = convert_to_tensor(logits)
    labels = ops.cast(labels, logits.dtype)
    logits.shape.assert_is_compatible_with(labels.shape)
    return labels, logits


@public("losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """tf.nn.sigmoid_cross_entropy_with_logits, weighted and reduced as by `compute_weighted_loss`.

    Args:
      multi_class_labels: 0 and 1, of the shape of `logits`.
      logits: log odds.
      label_smoothing: how far labels are moved towards 1/2; 1 moves them there.
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss", (logits, multi_class_labels, weights)) as scope:
        labels, logits = _with_logits(multi_class_labels, logits)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.softmax_cross_entropy")
def softmax_cross_entropy(
    onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """tf.nn.softmax_cross_entropy_with_logits_v2, weighted and reduced; labels get no gradient.

    Args:
      onehot_labels: probabilities of the classes, of the shape of `logits`.
      logits: [..., classes].
      label_smoothing: how far labels are moved towards equal ones; 1 moves them there.
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", (logits, onehot_labels, weights)) as scope:
        labels, logits = _with_logits(onehot_labels, logits)
        if label_smoothing > 0:
            count = ops.cast(ops.shape(labels)[-1], logits.dtype)
            rest = label_smoothing / count
            labels = labels * (1.0 - label_smoothing) + rest
        labels = ops.stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


@public("losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """tf.nn.sparse_softmax_cross_entropy_with_logits, weighted and reduced.

    Args:
      labels: classes, int32 or int64, of the shape of `logits` without its last dimension; that may be there with
        size 1, in the weights too.
      logits: [..., classes].
      weights, scope, loss_collection, reduction: see `compute_weighted_loss`.

    Raises:
      ValueError: for shapes that do not fit, or None.
    """
    require(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", (logits, labels, weights)) as scope:
        labels, logits, weights = _squeezed(labels, logits, weights)
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope, loss_collection, reduction=reduction)


def _squeezed(labels, logits, weights):
    """All three; labels and weights without a last dimension that is one more than expected."""
    labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
    if weights is None:
        return labels, logits, weights
    weights = convert_to_tensor(weights)
    if labels.shape.rank is not None and weights.shape.rank is not None:
        if weights.shape.rank - labels.shape.rank == 1:
            weights = ops.squeeze(weights, [-1])
        return labels, logits, weights
    difference = ops.rank(weights) - ops.rank(labels)
    if weights.shape.rank is None or (weights.shape.rank > 0 and weights.shape.dims[-1].is_compatible_with(1)):
        given = weights
        weights = cond(ops.equal(1, difference), lambda: ops.squeeze(given, [-1]), lambda: given)
    return labels, logits, weights
