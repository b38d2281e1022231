"""Losses weighted by elements of the batch, and collected."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.losses.add_loss")
@add_arg_scope
def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Adds a loss to a collection, if there is one given."""
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


@public("contrib.losses.get_losses")
def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    """A list of the losses in a collection; with `scope`, of those whose names begin with it."""
    return get_default_graph().get_collection(loss_collection, scope)


@public("contrib.losses.get_regularization_losses")
def get_regularization_losses(scope=None):
    """A list of the losses of regularizers; with `scope`, of those whose names begin with it."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@public("contrib.losses.get_total_loss")
def get_total_loss(add_regularization_losses=True, name="total_loss"):
    """The sum of the losses in GraphKeys.LOSSES, and of those of regularizers unless told otherwise."""
    losses = get_losses()
    if add_regularization_losses:
        losses += get_regularization_losses()
    return ops.add_n(losses, name=name)


def scaled_sum(losses, weights):
    """The sum of losses, each times the weight of its element of the batch."""
    axes = list(range(weights.shape.rank, losses.shape.rank))
    return ops.reduce_sum(ops.mul(ops.reduce_sum(losses, axis=axes), weights))


def num_present(losses, weights, per_batch=False):
    """How many losses have a weight that is not 0: in all, or of each element of the batch."""
    if weights.shape.rank == 0:
        batch = ops.reshape(ops.slice(ops.shape(losses), [0], [1]), [])
        count = ops.div(ops.cast(ops.size(losses), dtypes.float32), ops.cast(batch, dtypes.float32))
        count = ops.where(ops.equal(weights, 0), 0.0, count)
        counts = ops.mul(ops.ones(ops.reshape(batch, [1])), count)
    else:
        is_present = ops.cast(ops.not_equal(weights, 0), dtypes.float32)
        present = ops.reduce_sum(is_present, axis=list(range(1, weights.shape.rank)))
        rest = ops.slice(ops.shape(losses), [weights.shape.rank], [-1])
        counts = ops.mul(present, ops.cast(ops.reduce_prod(rest), dtypes.float32))
    return counts if per_batch else ops.reduce_sum(counts)


def require_ranks(**tensors):
    """Raises ValueError for a tensor of unknown rank."""
    for name, tensor in tensors.items():
        if tensor.shape.rank is None:
            raise ValueError(f"{name}.get_shape().ndims cannot be None")


@public("contrib.losses.compute_weighted_loss")
def compute_weighted_loss(losses, weights=1.0, scope=None):
    """The mean of losses times weights, over those whose weight is not 0. It is added to GraphKeys.LOSSES.

    Args:
      losses: [batch, ...], of any real type; the arithmetic is that of float32.
      weights: a scalar, or a tensor whose shape is that of the first dimensions of the losses; the last may be 1.
      scope: the name scope.

    Raises:
      ValueError: for tensors of unknown rank.
    """
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        dtype = losses.dtype
        losses = ops.cast(losses, dtypes.float32)
        weights = ops.cast(convert_to_tensor(weights), dtypes.float32)
        require_ranks(losses=losses)
        require_ranks(weights=weights)
        if weights.shape.rank > 1 and weights.shape.dims[-1].is_compatible_with(1):
            weights = ops.squeeze(weights, [-1])
        total = scaled_sum(losses, weights)
        count = num_present(losses, weights)
        mean = ops.cast(ops.div_no_nan(ops.reduce_sum(total), count, name="value"), dtype)
        add_loss(mean)
        return mean
