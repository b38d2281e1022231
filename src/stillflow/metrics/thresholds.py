"""Metrics of probabilities, at several thresholds at once: counts, precision, recall, the area under a curve."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_comparison
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.metrics.state import collect, metric_variable, only_in_graphs, squeezed
from stillflow.names import public
from stillflow.variables.assignments import assign_add
from stillflow.variables.scope import variable_scope

_NAMES = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}
_EPSILON = 1e-7


@public("python.ops.metrics_impl._confusion_matrix_at_thresholds")
def counts_at_thresholds(labels, predictions, thresholds, weights=None, includes=tuple(_NAMES)):
    """How often labels and predictions are what, for each threshold: ({key: variable}, {key: update}).

    Args:
      labels: a tensor that becomes bools.
      predictions: a tensor of floats in [0, 1].
      thresholds: a list of floats; a prediction above one counts as True.
      weights: a scalar, or of the labels' rank, with sizes that are theirs or 1.
      includes: keys: "tp" true positives, "fn" false negatives, "tn" true negatives, "fp" false positives.

    Raises:
      ValueError: for an unknown key, or shapes that do not fit.
      At run time: tf.errors.InvalidArgumentError for predictions outside of [0, 1].
    """
    predictions, labels, weights = _checked(labels, predictions, weights)
    return tally(predictions, labels, weights, thresholds, includes)


def tally(predictions, labels, weights, thresholds, includes=tuple(_NAMES)):
    """The same of tensors whose shapes fit already, and predictions that may be anything."""
    for key in includes:
        if key not in _NAMES:
            raise ValueError(f"Invalid key: {key}.")
    count = len(thresholds)
    column = ops.reshape(predictions, [-1, 1])
    labels = ops.reshape(ops.cast(labels, dtypes.bool_), [1, -1])
    number = column.shape.as_list()[0]
    if number is None:
        number = ops.shape(column)[0]
    limits = ops.tile(ops.expand_dims(ops.constant(thresholds), [1]), ops.stack([1, number]))
    predicted = {True: ops.greater(ops.tile(ops.transpose(column), [count, 1]), limits)}
    if "fn" in includes or "tn" in includes:
        predicted[False] = ops.logical_not(predicted[True])
    labelled = {True: ops.tile(labels, [count, 1])}
    if "fp" in includes or "tn" in includes:
        labelled[False] = ops.logical_not(labelled[True])
    if weights is not None:
        weights = broadcast_weights(ops.cast(weights, dtypes.float32), predictions)
        weights = ops.tile(ops.reshape(weights, [1, -1]), [count, 1])
        limits.shape.assert_is_compatible_with(weights.shape)
    values, updates = {}, {}
    for key, name in _NAMES.items():
        if key in includes:
            values[key] = metric_variable([count], dtypes.float32, name=name)
            label, prediction = labelled[key in ("tp", "fn")], predicted[key in ("tp", "fp")]
            hits = ops.cast(ops.logical_and(label, prediction), dtypes.float32)
            if weights is not None:
                hits *= weights
            updates[key] = assign_add(values[key], ops.reduce_sum(hits, 1))
    return values, updates


def _checked(labels, predictions, weights):
    message = "predictions must be in [0, 1]"
    zero, one = (
        assert_comparison(kind, predictions, ops.cast(bound, predictions.dtype), message=message)
        for kind, bound in (("assert_greater_equal", 0.0), ("assert_less_equal", 1.0))
    )
    with control_dependencies([zero, one]):
        predictions = ops.cast(predictions, dtypes.float32)
        return squeezed(predictions, ops.cast(labels, dtypes.bool_), weights)


# ---- Counts -------------------------------------------------------------------------------------------------


def _counts(key, given, thresholds, metrics_collections, updates_collections, name):
    """One kind of count at each threshold; `given` are labels, predictions and weights."""
    only_in_graphs(f"{_NAMES[key]}_at_thresholds")
    labels, predictions, weights = given
    with variable_scope(name, _NAMES[key], (predictions, labels, weights)):
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, (key,))
        value = collect(ops.identity(values[key]), metrics_collections)
        return value, collect(updates[key], updates_collections)


@public("metrics.true_positives_at_thresholds")
def true_positives_at_thresholds(
    labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The sum of weights of True labels whose predictions are above each threshold.

    Args:
      labels: a tensor that becomes bools.
      predictions: a tensor of floats in [0, 1], of the labels' shape.
      thresholds: a list of floats.
      weights: a scalar, or of the labels' rank, with sizes that are theirs or 1; 1 by default.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope, the metric's name by default.

    Returns:
      A vector: the sums so far. An operation that adds to them, and gives the sums after that.

    Raises:
      ValueError: for shapes that do not fit.
      RuntimeError: in eager execution.
      At run time: tf.errors.InvalidArgumentError for predictions outside of [0, 1].
    """
    given = labels, predictions, weights
    return _counts("tp", given, thresholds, metrics_collections, updates_collections, name)


@public("metrics.true_negatives_at_thresholds")
def true_negatives_at_thresholds(
    labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The sum of weights of False labels whose predictions are not above each threshold.

    See `true_positives_at_thresholds`.
    """
    given = labels, predictions, weights
    return _counts("tn", given, thresholds, metrics_collections, updates_collections, name)


@public("metrics.false_positives_at_thresholds")
def false_positives_at_thresholds(
    labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The sum of weights of False labels whose predictions are above each threshold.

    See `true_positives_at_thresholds`.
    """
    given = labels, predictions, weights
    return _counts("fp", given, thresholds, metrics_collections, updates_collections, name)


@public("metrics.false_negatives_at_thresholds")
def false_negatives_at_thresholds(
    labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The sum of weights of True labels whose predictions are not above each threshold.

    See `true_positives_at_thresholds`.
    """
    given = labels, predictions, weights
    return _counts("fn", given, thresholds, metrics_collections, updates_collections, name)


def _shares(name, keys, given, thresholds, metrics_collections, updates_collections, scope_name):
    """The share of true positives among both of `keys`, at each threshold."""
    full_name = f"{name}_at_thresholds"
    only_in_graphs(full_name)
    labels, predictions, weights = given
    with variable_scope(scope_name, full_name, (predictions, labels, weights)):
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, keys)

        def share(counts, kind):
            hits, misses = (counts[key] for key in keys)
            return ops.div(hits, _EPSILON + hits + misses, name=f"{name}_{kind}")

        value = collect(share(values, "value"), metrics_collections)
        return value, collect(share(updates, "update_op"), updates_collections)


@public("metrics.precision_at_thresholds")
def precision_at_thresholds(
    labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The share of True labels among those whose predictions are above each threshold.

    See `true_positives_at_thresholds`.
    """
    given = labels, predictions, weights
    return _shares("precision", ("tp", "fp"), given, thresholds, metrics_collections, updates_collections, name)


@public("metrics.recall_at_thresholds")
def recall_at_thresholds(
    labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The share of predictions above each threshold among those of True labels.

    See `true_positives_at_thresholds`.
    """
    given = labels, predictions, weights
    return _shares("recall", ("tp", "fn"), given, thresholds, metrics_collections, updates_collections, name)
