"""The losses of tf.contrib.losses. Predictions and labels are tensors of one shape, and the mean is collected."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from stillflow.contrib.losses.weighted import add_loss, compute_weighted_loss, num_present, require_ranks, scaled_sum
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor


def _as_floats(predictions, labels):
    predictions.shape.assert_is_compatible_with(labels.shape)
    return ops.cast(predictions, dtypes.float32), ops.cast(labels, dtypes.float32)


@public("contrib.losses.absolute_difference")
def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """abs(predictions - labels), averaged by `compute_weighted_loss`."""
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as scope:
        predictions, labels = _as_floats(predictions, labels)
        return compute_weighted_loss(ops.abs(ops.sub(predictions, labels)), weights, scope=scope)


@public("contrib.losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    """tf.nn.sigmoid_cross_entropy_with_logits, averaged by `compute_weighted_loss`.

    Labels are moved towards 1/2 by `label_smoothing`.
    """
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as scope:
        logits.shape.assert_is_compatible_with(multi_class_labels.shape)
        labels = ops.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


@public("contrib.losses.softmax_cross_entropy")
def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    """tf.nn.softmax_cross_entropy_with_logits, averaged by `compute_weighted_loss`.

    Labels are moved towards equal ones by `label_smoothing`.
    """
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as scope:
        logits.shape.assert_is_compatible_with(onehot_labels.shape)
        labels = ops.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            count = ops.cast(ops.shape(labels)[1], logits.dtype)
            rest = label_smoothing / count
            labels = labels * (1.0 - label_smoothing) + rest
        losses = softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


@public("contrib.losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """tf.nn.sparse_softmax_cross_entropy_with_logits, averaged by `compute_weighted_loss`.

    Labels are [batch] or [batch, 1].
    """
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as scope:
        labels = ops.reshape(labels, shape=[ops.shape(labels)[0]])
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, scope=scope)


@public("contrib.losses.log_loss")
def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-07, scope=None):
    """-labels * log(predictions) - (1 - labels) * log(1 - predictions), averaged by `compute_weighted_loss`."""
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _as_floats(predictions, labels)
        of_ones = -ops.mul(labels, ops.log(predictions + epsilon))
        losses = of_ones - ops.mul((1 - labels), ops.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, scope=scope)


@public("contrib.losses.hinge_loss")
def hinge_loss(logits, labels=None, scope=None):
    """max(0, 1 - (2 labels - 1) * logits) of each element; it is not collected."""
    with name_scope(scope, "hinge_loss", [logits, labels]) as scope:
        logits.shape.assert_is_compatible_with(labels.shape)
        labels = ops.cast(labels, dtypes.float32)
        ones = ops.ones_like(labels)
        labels = ops.sub(2 * labels, ones)
        return ops.relu(ops.sub(ones, ops.mul(labels, logits)))


@public("contrib.losses.mean_squared_error")
def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """(predictions - labels)^2, averaged by `compute_weighted_loss`."""
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _as_floats(predictions, labels)
        return compute_weighted_loss(ops.squared_difference(predictions, labels), weights, scope=scope)


@public("contrib.losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """Squared differences between the errors of two elements, over all pairs in an element of the batch.

    With errors e of n elements it is 2 sum(e^2) / n - 2 sum(e)^2 / n^2, weighted and summed over the batch. It is
    added to GraphKeys.LOSSES. Raises ValueError for tensors of unknown rank.
    """
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]) as scope:
        predictions, labels = _as_floats(predictions, labels)
        weights = ops.cast(convert_to_tensor(weights), dtypes.float32)
        diffs = ops.sub(predictions, labels)
        require_ranks(diffs=diffs, weights=weights)
        axes = list(range(1, diffs.shape.rank))
        squares = ops.reduce_sum(ops.square(diffs), axis=axes)
        count = num_present(diffs, weights, per_batch=True)
        first = 2.0 * ops.div_no_nan(squares, count, name="value")
        total = ops.reduce_sum(diffs, axis=axes)
        second = 2.0 * ops.div_no_nan(ops.square(total), ops.square(count), name="value")
        loss = scaled_sum(first - second, weights)
        mean = ops.where(ops.reduce_sum(count) > 0, loss, ops.zeros_like(loss), name="value")
        add_loss(mean)
        return mean


@public("contrib.losses.cosine_distance")
def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    """1 minus the scalar product along `axis`, of vectors of length 1, averaged by `compute_weighted_loss`.

    Raises ValueError without an axis; `dim` is its old name.
    """
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as scope:
        predictions, labels = _as_floats(predictions, labels)
        losses = 1 - ops.reduce_sum(ops.mul(predictions, labels), axis=[axis])
        return compute_weighted_loss(losses, weights, scope=scope)
