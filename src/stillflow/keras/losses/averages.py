"""compute_average_loss and scale_regularization_loss: losses of a replica's part of a batch."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.composites.checks import assert_greater_equal
from stillflow.distribute.context import get_strategy, has_strategy, in_cross_replica_context
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.keras.losses.reductions import weighted_losses
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _check_context(function):
    if has_strategy() and in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{function}` in cross replica context, while it was expected to be called in replica "
            "context."
        )


def _with_checked_rank(losses):
    """A context for what needs losses of at least one dimension; ValueError if they are known to have none."""
    rank = losses.shape.ndims
    if rank == 0:
        raise ValueError(
            f"Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1, received: {losses}"
        )
    if rank is not None:
        return contextlib.nullcontext()
    message = "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1."
    check = assert_greater_equal(ops.rank(losses), ops.cast(1, dtypes.int32), message=message)
    return get_default_graph().control_dependencies([check])


@public("nn.compute_average_loss")
def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of weighted losses, divided by the number of examples that all replicas have together.

    Args:
      per_example_loss: losses, of at least one dimension.
      sample_weight: weights that can be broadcast to them; the product's arithmetic is that of float32.
      global_batch_size: the number of examples; by default the losses' first size times the number of replicas.

    Raises:
      RuntimeError: in the scope of a strategy, outside of its replicas, if the batch size is not given.
      ValueError: for losses without dimensions, and weights that do not fit.
    """
    losses = convert_to_tensor(per_example_loss)
    dtype = losses.dtype
    with _with_checked_rank(losses):
        if sample_weight is not None:
            losses = weighted_losses(losses, sample_weight)
        losses = ops.cast(losses, dtype)
        if global_batch_size is None:
            _check_context("compute_average_loss")
            replicas = get_strategy().num_replicas_in_sync
            global_batch_size = ops.cast(ops.shape(losses)[0] * replicas, dtype)
        return ops.reduce_sum(losses) / global_batch_size


@public("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss):
    """The sum of regularization losses, divided by the number of replicas, each of which adds it to its own loss.

    Raises RuntimeError in the scope of a strategy, outside of its replicas.
    """
    _check_context("scale_regularization_loss")
    return ops.reduce_sum(regularization_loss) / get_strategy().num_replicas_in_sync
