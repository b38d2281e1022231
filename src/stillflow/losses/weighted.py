"""compute_weighted_loss: elementwise losses, weighted and reduced to a scalar."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.weights_broadcast import assert_broadcastable, broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.losses.collected import add_loss
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("losses.Reduction")
class Reduction:
    """What becomes of weighted losses.

    NONE leaves them as they are, SUM adds them up. MEAN divides the sum by the sum of weights, SUM_OVER_BATCH_SIZE by
    the number of losses, SUM_BY_NONZERO_WEIGHTS by the number of weights that are not 0.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls):
        """A tuple of the reductions that there are."""
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )  # fmt: skip

    @classmethod
    def validate(cls, key):
        """Raises ValueError for what is no reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


def num_present(losses, weights, per_batch=False):
    """How many losses have a weight that is not 0: in all, or of each element of the batch."""
    with name_scope(None, "num_present", (losses, weights)) as scope:
        weights = ops.cast(weights, dtypes.float32)
        present = ops.where(ops.equal(weights, 0.0), ops.zeros_like(weights), ops.ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            return ops.reduce_sum(present, axis=ops.range(1, ops.rank(present)), keepdims=True, name=scope)
        return ops.reduce_sum(present, name=scope)


def _num_elements(losses):
    with name_scope(None, "num_elements", values=[losses]) as scope:
        return ops.cast(ops.size(losses, name=scope), losses.dtype)


def _safe_mean(losses, count):
    """The sum divided by a count, 0 if that is 0."""
    return ops.div_no_nan(ops.reduce_sum(losses), count, name="value")


def _reduced(weighted, losses, weights, reduction):
    if reduction == Reduction.NONE:
        return weighted
    loss = ops.reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        return _safe_mean(loss, ops.reduce_sum(ops.ones_like(losses) * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return _safe_mean(loss, num_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return _safe_mean(loss, _num_elements(losses))
    return loss


@public("losses.compute_weighted_loss")
def compute_weighted_loss(
    losses, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES, reduction=Reduction.SUM_BY_NONZERO_WEIGHTS
):
    """Losses times weights, reduced.

    Args:
      losses: a tensor of any real type; the arithmetic is that of float32.
      weights: a scalar, or a tensor of the losses' rank, with sizes that are the losses' or 1.
      scope: the name scope.
      loss_collection: the collection to add the result to, or None. In eager execution there are none.
      reduction: a tf.losses.Reduction.

    Returns:
      A scalar of the losses' type, or of the losses' shape for Reduction.NONE.

    Raises:
      ValueError: for weights that do not fit, None, or an unknown reduction.
      At run time: tf.errors.InvalidArgumentError for weights that do not fit.
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", (losses, weights)):
        get_default_graph()._last_loss_reduction = reduction
        with control_dependencies((assert_broadcastable(weights, losses),)):
            losses = convert_to_tensor(losses)
            dtype = losses.dtype
            losses = ops.cast(losses, dtypes.float32)
            weights = ops.cast(weights, dtypes.float32)
            loss = ops.cast(_reduced(ops.mul(losses, weights), losses, weights, reduction), dtype)
            add_loss(loss, loss_collection)
            return loss
