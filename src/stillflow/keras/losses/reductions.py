"""Losses of single values, weighted and reduced to one."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.confusion_matrix import remove_squeezable_dimensions
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor


@public(
    "compat.v2.losses.Reduction", "compat.v2.keras.losses.Reduction", "python.keras.utils.losses_utils.ReductionV2",
    "python.ops.losses.loss_reduction.ReductionV2",
)  # fmt: skip
class Reduction:
    """What becomes of weighted losses: they are left as they are, added up, or their mean over the batch is taken.

    AUTO is the mean.
    """

    AUTO = "auto"
    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "sum_over_batch_size"

    @classmethod
    def all(cls):
        """A tuple of the reductions that there are."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key):
        """Raises ValueError for what is no reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def squeeze_or_expand(y_pred, y_true=None, sample_weight=None):
    """(predictions, truth, weights) with ranks that fit, where they differ by one.

    `sample_weight` may be None. Nodes are added where ranks are not known.
    """
    rank = y_pred.shape.ndims
    if y_true is not None:
        y_pred, y_true = _fitting_truth(y_pred, y_true)
    if sample_weight is None:
        return y_pred, y_true, None
    sample_weight = convert_to_tensor(sample_weight)
    weights_rank = sample_weight.shape.ndims
    if weights_rank == 0:
        return y_pred, y_true, sample_weight
    if rank is not None and weights_rank is not None:
        if weights_rank - rank == 1:
            sample_weight = ops.squeeze(sample_weight, [-1])
        elif rank - weights_rank == 1:
            sample_weight = ops.expand_dims(sample_weight, [-1])
        return y_pred, y_true, sample_weight
    return y_pred, y_true, _fitting_weights(y_pred, sample_weight)


def _fitting_truth(y_pred, y_true):
    rank, true_rank = y_pred.shape.ndims, y_true.shape.ndims
    if rank is not None and true_rank is not None:
        if rank - true_rank != 1 or y_pred.shape.as_list()[-1] == 1:
            y_true, y_pred = remove_squeezable_dimensions(y_true, y_pred)
        return y_pred, y_true
    difference = ops.rank(y_pred) - ops.rank(y_true)

    def squeezed():
        return remove_squeezable_dimensions(y_true, y_pred)

    is_one = ops.equal(1, ops.shape(y_pred)[-1])
    y_true, y_pred = cond(
        ops.equal(1, difference), lambda: cond(is_one, squeezed, lambda: (y_true, y_pred)), squeezed
    )
    return y_pred, y_true


def _fitting_weights(y_pred, weights):
    rank = ops.rank(weights)
    difference = rank - ops.rank(y_pred)

    def expanded():
        return cond(ops.equal(difference, -1), lambda: ops.expand_dims(weights, [-1]), lambda: weights)

    def adjusted():
        return cond(ops.equal(difference, 1), lambda: ops.squeeze(weights, [-1]), expanded)

    return cond(ops.equal(rank, 0), lambda: weights, adjusted)


def weighted_losses(losses, sample_weight):
    """Losses times weights that are made to fit, as float32."""
    losses = ops.cast(losses, dtypes.float32)
    sample_weight = ops.cast(sample_weight, dtypes.float32)
    losses, _, sample_weight = squeeze_or_expand(losses, None, sample_weight)
    return ops.mul(losses, broadcast_weights(sample_weight, losses))


def reduce_weighted_loss(weighted, reduction=Reduction.SUM_OVER_BATCH_SIZE):
    """Weighted losses, reduced."""
    if reduction == Reduction.NONE:
        return weighted
    loss = ops.reduce_sum(weighted)
    if reduction != Reduction.SUM_OVER_BATCH_SIZE:
        return loss
    with name_scope("num_elements") as scope:
        count = ops.cast(ops.size(weighted, name=scope), weighted.dtype)
    return ops.div_no_nan(ops.reduce_sum(loss), count, name="value")


def compute_weighted_loss(losses, sample_weight=None, reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None):
    """Losses times weights, reduced.

    Args:
      losses: a tensor; the arithmetic is that of float32.
      sample_weight: weights that can be broadcast to it, or None.
      reduction: a tf.keras.losses.Reduction.
      name: the name scope.

    Raises:
      ValueError: for weights that do not fit, or an unknown reduction.
    """
    Reduction.validate(reduction)
    if reduction == Reduction.AUTO:
        reduction = Reduction.SUM_OVER_BATCH_SIZE
    with name_scope(name or "weighted_loss"):
        get_default_graph()._last_loss_reduction = reduction
        losses = convert_to_tensor(losses)
        weighted = weighted_losses(losses, 1.0 if sample_weight is None else sample_weight)
        return ops.cast(reduce_weighted_loss(weighted, reduction), losses.dtype)
