"""What metrics keep from batch to batch, and the shapes that they bring predictions, labels and weights to."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.confusion_matrix import remove_squeezable_dimensions
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.variable import Variable


def only_in_graphs(name):
    """Raises RuntimeError in eager execution, where nothing is kept between calls."""
    require_graph(f"tf.metrics.{name} is not supported when eager execution is enabled.")


@public("python.ops.metrics_impl.metric_variable")
def metric_variable(shape, dtype, validate_shape=True, name=None):
    """A local variable of zeros, in the collections LOCAL_VARIABLES and METRIC_VARIABLES."""
    return Variable(
        lambda: ops.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def collect(value, collections):
    """Adds a value to collections, if there are any, and returns it."""
    if collections:
        get_default_graph().add_to_collections(collections, value)
    return value


def squeezed(predictions, labels, weights):
    """All three as tensors: predictions and labels of one shape, weights of their rank or scalar.

    A last dimension of size 1 is left out where it is one too many, or added to weights. Raises ValueError for shapes
    that do not fit.
    """
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    rank, wanted = weights.shape.rank, predictions.shape.rank
    if rank == 0:
        return predictions, labels, weights
    if rank is None or wanted is None:
        return predictions, labels, _squeezed_at_run_time(weights, predictions)
    if rank - wanted == 1:
        weights = ops.squeeze(weights, [-1])
    elif wanted - rank == 1:
        weights = ops.expand_dims(weights, [-1])
    return predictions, labels, weights


def _squeezed_at_run_time(weights, predictions):
    rank = ops.rank(weights)
    difference = rank - ops.rank(predictions)
    cannot_be_squeezed = weights.shape.rank is not None and not weights.shape.dims[-1].is_compatible_with(1)

    def expanded():
        return cond(ops.equal(difference, -1), lambda: ops.expand_dims(weights, [-1]), lambda: weights)

    def adjusted():
        squeeze = (lambda: weights) if cannot_be_squeezed else (lambda: ops.squeeze(weights, [-1]))
        return cond(ops.equal(difference, 1), squeeze, expanded)

    return cond(ops.equal(rank, 0), lambda: weights, adjusted)
