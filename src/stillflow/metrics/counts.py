"""Metrics of binary predictions: true and false positives and negatives, precision and recall."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_type
from stillflow.composites.rank_checks import assert_rank_in
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.metrics.state import collect, metric_variable, only_in_graphs, squeezed
from stillflow.names import public
from stillflow.variables.assignments import assign_add
from stillflow.variables.scope import variable_scope


def _as_bools(labels, predictions, weights):
    predictions, labels = ops.cast(predictions, dtypes.bool_), ops.cast(labels, dtypes.bool_)
    return squeezed(predictions, labels, weights)


def _count(values, weights, metrics_collections, updates_collections):
    """(how often there was True so far, the operation that adds to it)."""
    assert_type(values, dtypes.bool_)
    count = metric_variable([], dtypes.float32, name="count")
    values = ops.cast(values, dtypes.float32)
    if weights is not None:
        with control_dependencies((assert_rank_in(weights, (0, ops.rank(values))),)):
            weights = ops.cast(weights, dtypes.float32)
            values = ops.mul(values, weights)
    value = collect(ops.identity(count), metrics_collections)
    return value, collect(assign_add(count, ops.reduce_sum(values)), updates_collections)


def _count_pairs(name, label, prediction, given, metrics_collections, updates_collections, scope_name):
    """Counts the elements of that label and that prediction; `given` are labels, predictions and weights."""
    only_in_graphs(name)
    labels, predictions, weights = given
    with variable_scope(scope_name, name, (predictions, labels, weights)):
        predictions, labels, weights = _as_bools(labels, predictions, weights)
        values = ops.logical_and(ops.equal(labels, label), ops.equal(predictions, prediction))
        return _count(values, weights, metrics_collections, updates_collections)


@public("metrics.true_positives")
def true_positives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The sum of weights where the label and the prediction are True.

    Args:
      labels, predictions: tensors of one shape, which become bools.
      weights: a scalar, or of the labels' rank, with sizes that are theirs or 1; 1 by default.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope, the metric's name by default.

    Returns:
      A tensor: the sum so far. An operation that adds to it, and gives the sum after that.

    Raises:
      ValueError: for shapes that do not fit.
      RuntimeError: in eager execution.
    """
    given = labels, predictions, weights
    return _count_pairs("true_positives", True, True, given, metrics_collections, updates_collections, name)


@public("metrics.true_negatives")
def true_negatives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The sum of weights where the label and the prediction are False; see `true_positives`."""
    given = labels, predictions, weights
    return _count_pairs("true_negatives", False, False, given, metrics_collections, updates_collections, name)


@public("metrics.false_positives")
def false_positives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The sum of weights where the label is False and the prediction is True; see `true_positives`."""
    given = labels, predictions, weights
    return _count_pairs("false_positives", False, True, given, metrics_collections, updates_collections, name)


@public("metrics.false_negatives")
def false_negatives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The sum of weights where the label is True and the prediction is False; see `true_positives`."""
    given = labels, predictions, weights
    return _count_pairs("false_negatives", True, False, given, metrics_collections, updates_collections, name)


def _share(hits, misses, name):
    return ops.where(ops.greater(hits + misses, 0), ops.div(hits, hits + misses), 0, name)


def _shared(hits, misses, metrics_collections, updates_collections):
    """(the share of hits so far, the operation that counts on); `hits` and `misses` are what counts them."""
    value = collect(_share(hits[0], misses[0], "value"), metrics_collections)
    return value, collect(_share(hits[1], misses[1], "update_op"), updates_collections)


@public("metrics.precision")
def precision(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The share of labels that are True among those that are predicted to be; see `true_positives`."""
    only_in_graphs("precision")
    with variable_scope(name, "precision", (predictions, labels, weights)):
        predictions, labels, weights = _as_bools(labels, predictions, weights)
        hits = true_positives(labels, predictions, weights)
        misses = false_positives(labels, predictions, weights)
        return _shared(hits, misses, metrics_collections, updates_collections)


@public("metrics.recall")
def recall(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The share of predictions that are True among those of True labels; see `true_positives`."""
    only_in_graphs("recall is not supported")
    with variable_scope(name, "recall", (predictions, labels, weights)):
        predictions, labels, weights = _as_bools(labels, predictions, weights)
        hits = true_positives(labels, predictions, weights)
        misses = false_negatives(labels, predictions, weights)
        return _shared(hits, misses, metrics_collections, updates_collections)
