"""The hinge loss of many classes (Crammer and Singer, JMLR 2, 2001)."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.losses.weighted import Reduction, compute_weighted_loss
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.kernel_methods.sparse_multiclass_hinge_loss")
def sparse_multiclass_hinge_loss(
    labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
    reduction=Reduction.SUM_BY_NONZERO_WEIGHTS,
):  # fmt: skip
    """How far the score of an example's class is from being 1 above those of all others.

    Args:
      labels: int32 or int64 classes, [batch] or [batch, 1].
      logits: scores, float32 or float64 [batch, classes].
      weights: of examples, a scalar, [batch] or [batch, 1].
      scope: the name scope.
      loss_collection: the collection that the loss is added to.
      reduction: a tf.losses.Reduction.

    Returns:
      A float32 scalar; [batch] for Reduction.NONE.

    Raises:
      ValueError: for other types and ranks, and for weights of another number than labels.
      InvalidArgumentError: when the graph runs, for a label that is not below the number of classes.
    """
    with name_scope(scope, "sparse_multiclass_hinge_loss", (logits, labels)) as scope:
        rank = logits.shape.ndims
        if rank != 2:
            raise ValueError(f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {rank}")
        shape = ops.shape(logits)
        batch_size, num_classes = shape[0], shape[1]
        logits = ops.cast(logits, dtypes.float32)
        labels = _checked_labels(labels, num_classes)
        weights = _checked_weights(weights, labels)
        column = [batch_size, 1]
        rows = ops.reshape(ops.range(batch_size), shape=column)
        places = ops.concat([rows, ops.reshape(ops.cast(labels, rows.dtype), shape=column)], axis=1)
        own = ops.reshape(ops.gather_nd(params=logits, indices=places), shape=column)
        is_other = ops.one_hot(indices=labels, depth=num_classes, on_value=0.0, off_value=1.0)
        loss = ops.reduce_max(ops.relu(logits - own + is_other), axis=1)
        return compute_weighted_loss(loss, weights, scope, loss_collection, reduction=reduction)


def _checked_labels(labels, num_classes):
    """Labels as a vector."""
    if labels.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64")
    rank = labels.shape.ndims
    if rank not in (1, 2):
        raise ValueError(f"labels should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is {rank}")
    with control_dependencies([checks.assert_less(labels, ops.cast(num_classes, labels.dtype))]):
        return ops.reshape(labels, shape=[-1])


def _checked_weights(weights, labels):
    """Weights as a scalar or a vector of the size of that of labels."""
    weights = convert_to_tensor(weights)
    rank = weights.shape.ndims
    if rank not in (0, 1, 2):
        raise ValueError(
            f"non-scalar weights should have rank 1 ([batch_size]) or 2 ([batch_size, 1]). Given rank is {rank}"
        )
    if rank > 0:
        weights = ops.reshape(weights, shape=[-1])
        weights.shape.assert_is_compatible_with(labels.shape)
    return weights
