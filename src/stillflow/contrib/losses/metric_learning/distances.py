"""Losses of all pairs and triplets in a batch, by their distances."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public


def pairwise_distance(feature, squared=False):
    """The distances of all pairs of rows, [batch, batch], or their squares; 0 on the diagonal."""
    squares = ops.add(
        ops.reduce_sum(ops.square(feature), axis=[1], keepdims=True),
        ops.reduce_sum(ops.square(ops.transpose(feature)), axis=[0], keepdims=True),
    ) - 2.0 * ops.matmul(feature, ops.transpose(feature))
    squares = ops.maximum(squares, 0.0)  # rounding may have made them negative
    is_zero = ops.less_equal(squares, 0.0)
    distances = squares
    if not squared:  # a root of exactly 0 has no gradient
        distances = ops.sqrt(squares + ops.cast(is_zero, dtypes.float32) * 1e-16)
    distances = ops.mul(distances, ops.cast(ops.logical_not(is_zero), dtypes.float32))
    count = ops.shape(feature)[0]
    return ops.mul(distances, ops.ones_like(distances) - ops.diag(ops.ones([count])))


@public("contrib.losses.metric_learning.contrastive_loss")
def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """The mean of squared distances of pairs that belong together, and of what others lack to the margin, squared.

    "Dimensionality reduction by learning an invariant mapping", Hadsell et al. 2006.

    Args:
      labels: 1 for pairs that belong together and 0 for others, [batch].
      embeddings_anchor, embeddings_positive: both sides of the pairs, [batch, dimensions].
      margin: the distance from which on others do not matter.
    """
    distances = ops.sqrt(ops.reduce_sum(ops.squared_difference(embeddings_anchor, embeddings_positive), 1))
    near = ops.cast(labels, distances.dtype) * ops.square(distances)
    far = (1.0 - ops.cast(labels, distances.dtype)) * ops.square(ops.maximum(margin - distances, 0.0))
    return ops.reduce_mean(near + far, name="contrastive_loss")


def _masked_maximum(data, mask, axis=1):
    low = ops.reduce_min(data, axis, keepdims=True)
    return ops.reduce_max(ops.mul(data - low, mask), axis, keepdims=True) + low


def _masked_minimum(data, mask, axis=1):
    high = ops.reduce_max(data, axis, keepdims=True)
    return ops.reduce_min(ops.mul(data - high, mask), axis, keepdims=True) + high


def label_column(labels):
    """The labels, [batch, 1]. Raises AssertionError unless they are a vector."""
    shape = ops.shape(labels)
    if shape.shape != 1:
        raise AssertionError("labels must be a vector")
    return ops.reshape(labels, [shape[0], 1])


@public("contrib.losses.metric_learning.triplet_semihard_loss")
def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """The triplet loss: an anchor should be nearer to its like than to the nearest other one that is farther away.

    "FaceNet: a unified embedding for face recognition and clustering", Schroff et al. 2015.

    Args:
      labels: integers, [batch].
      embeddings: unit vectors, [batch, dimensions].
      margin: how much nearer.

    Raises:
      AssertionError: for labels of another rank.
    """
    labels = label_column(labels)
    distances = pairwise_distance(embeddings, squared=True)
    adjacency = ops.equal(labels, ops.transpose(labels))
    others = ops.logical_not(adjacency)
    size = ops.size(labels)
    tiled = ops.tile(distances, [size, 1])
    is_farther = ops.logical_and(
        ops.tile(others, [size, 1]), ops.greater(tiled, ops.reshape(ops.transpose(distances), [-1, 1]))
    )
    are_any = ops.greater(ops.reduce_sum(ops.cast(is_farther, dtypes.float32), 1, keepdims=True), 0.0)
    are_any = ops.transpose(ops.reshape(are_any, [size, size]))
    others = ops.cast(others, dtypes.float32)
    is_farther = ops.cast(is_farther, dtypes.float32)
    outside = ops.transpose(ops.reshape(_masked_minimum(tiled, is_farther), [size, size]))
    inside = ops.tile(_masked_maximum(distances, others), [1, size])
    negatives = ops.where(are_any, outside, inside)
    losses = ops.add(margin, distances - negatives)
    pairs = ops.cast(adjacency, dtypes.float32) - ops.diag(ops.ones([size]))
    count = ops.reduce_sum(pairs)
    total = ops.reduce_sum(ops.maximum(ops.mul(losses, pairs), 0.0))
    return ops.truediv(total, count, name="triplet_semihard_loss")


@public("contrib.losses.metric_learning.lifted_struct_loss")
def lifted_struct_loss(labels, embeddings, margin=1.0):
    """The lifted structured loss, which has all pairs in a batch push each other away.

    "Deep metric learning via lifted structured feature embedding", Song et al. 2016.

    Args:
      labels: integers, [batch].
      embeddings: [batch, dimensions]; they should not be of unit length.
      margin: the distance from which on others do not matter.

    Raises:
      AssertionError: for labels of another rank.
    """
    labels = label_column(labels)
    distances = pairwise_distance(embeddings)
    adjacency = ops.equal(labels, ops.transpose(labels))
    others = ops.logical_not(adjacency)
    size = ops.size(labels)
    missing = margin - distances
    mask = ops.cast(others, dtypes.float32)
    low = ops.reduce_min(missing, 1, keepdims=True)
    largest = ops.reduce_max(ops.mul(missing - low, mask), 1, keepdims=True) + low
    largest = ops.maximum(largest, ops.transpose(largest))
    tiled, mask = ops.tile(missing, [size, 1]), ops.tile(mask, [size, 1])
    column = ops.reshape(ops.transpose(largest), [-1, 1])
    sums = ops.reduce_sum(ops.mul(ops.exp(tiled - column), mask), 1, keepdims=True)
    sums = ops.reshape(sums, [size, size])
    losses = largest + ops.log(sums + ops.transpose(sums))
    losses += distances
    pairs = ops.cast(adjacency, dtypes.float32) - ops.diag(ops.ones([size]))
    count = ops.reduce_sum(pairs) / 2.0
    total = 0.25 * ops.reduce_sum(ops.square(ops.maximum(ops.mul(losses, pairs), 0.0)))
    return ops.truediv(total, count, name="liftedstruct_loss")
