"""The losses of a graph: those in the collection LOSSES, those of regularizers, and their sum."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public


@public("losses.add_loss")
@by_mode
def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Adds a loss to a collection, if there is one given. In eager execution there are none."""
    if loss_collection:
        get_default_graph().add_to_collection(loss_collection, loss)


@eager_version_of(add_loss)
def _add_nothing(loss, loss_collection=GraphKeys.LOSSES):
    """Nobody could tell when a loss is not wanted any more."""


@public("losses.get_losses")
def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    """A list of the losses in a collection; with `scope`, of those whose names begin with it."""
    return get_default_graph().get_collection(loss_collection, scope)


@public("losses.get_regularization_losses")
def get_regularization_losses(scope=None):
    """A list of the losses of regularizers; with `scope`, of those whose names begin with it."""
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@public("losses.get_regularization_loss")
def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the losses of regularizers, 0 if there are none."""
    losses = get_regularization_losses(scope)
    return ops.add_n(losses, name=name) if losses else ops.constant(0.0)


@public("losses.get_total_loss")
def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of the losses in GraphKeys.LOSSES, and of those of regularizers unless told otherwise.

    Args:
      add_regularization_losses: whether the losses of regularizers count.
      name: of the result.
      scope: a scope that the losses' names have to begin with.

    Raises:
      ValueError: if there are none.
    """
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return ops.add_n(losses, name=name)
