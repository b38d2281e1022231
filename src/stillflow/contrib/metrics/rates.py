"""Shares of errors, and what follows from counts at thresholds: curves, F1, recall at a precision."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.metrics import counts
from stillflow.metrics.state import collect, only_in_graphs, squeezed
from stillflow.metrics.thresholds import counts_at_thresholds, tally
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.variables.scope import variable_scope

_EPSILON = 1e-7


def _even_thresholds(count):
    """Thresholds from just below 0 to just above 1."""
    inner = [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


def _tally_of(predictions, labels, thresholds, weights, includes=("tp", "fn", "tn", "fp")):
    predictions, labels, weights = squeezed(predictions, labels, weights)
    return tally(predictions, labels, weights, thresholds, includes)


# ---- Counts and rates ---------------------------------------------------------------------------------------


def _single_count(key, predictions, labels, thresholds, weights):
    values, updates = _tally_of(predictions, labels, thresholds, weights, (key,))
    return values[key], updates[key]


@public("contrib.metrics.streaming_true_positives_at_thresholds")
def streaming_true_positives_at_thresholds(predictions, labels, thresholds, weights=None):
    """(a variable, its update): how many are positive and predicted so, at each threshold."""
    return _single_count("tp", predictions, labels, thresholds, weights)


@public("contrib.metrics.streaming_false_negatives_at_thresholds")
def streaming_false_negatives_at_thresholds(predictions, labels, thresholds, weights=None):
    """(a variable, its update): how many are positive and not predicted so, at each threshold."""
    return _single_count("fn", predictions, labels, thresholds, weights)


@public("contrib.metrics.streaming_false_positives_at_thresholds")
def streaming_false_positives_at_thresholds(predictions, labels, thresholds, weights=None):
    """(a variable, its update): how many are negative and not predicted so, at each threshold."""
    return _single_count("fp", predictions, labels, thresholds, weights)


@public("contrib.metrics.streaming_true_negatives_at_thresholds")
def streaming_true_negatives_at_thresholds(predictions, labels, thresholds, weights=None):
    """(a variable, its update): how many are negative and predicted so, at each threshold."""
    return _single_count("tn", predictions, labels, thresholds, weights)


def _rate(wrong, right, name):
    """The share of what is wrong; 0 of nothing."""
    return ops.where(ops.greater(wrong + right, 0), ops.div(wrong, wrong + right), 0, name)


def _error_rate(name, metrics, given, metrics_collections, updates_collections, scope_name):
    """The share of one kind of count in the sum of two."""
    predictions, labels, weights = given
    with variable_scope(scope_name, name, (predictions, labels, weights)):
        predictions, labels, weights = squeezed(
            ops.cast(predictions, dtypes.bool_), ops.cast(labels, dtypes.bool_), weights
        )
        (wrong, wrong_update), (right, right_update) = (
            metric(labels=labels, predictions=predictions, weights=weights) for metric in metrics
        )
        value = collect(_rate(wrong, right, "value"), metrics_collections)
        return value, collect(_rate(wrong_update, right_update, "update_op"), updates_collections)


@public("contrib.metrics.streaming_false_positive_rate")
def streaming_false_positive_rate(
    predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The share of negatives that are predicted to be positive, so far; and an operation that adds to it.

    Args:
      predictions, labels: tensors of one shape, which become bools.
      weights: a scalar, or of the labels' rank, with sizes that are theirs or 1; 1 by default.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope.

    Raises:
      ValueError: for shapes that do not fit.
    """
    given, metrics = (predictions, labels, weights), (counts.false_positives, counts.true_negatives)
    return _error_rate("false_positive_rate", metrics, given, metrics_collections, updates_collections, name)


@public("contrib.metrics.streaming_false_negative_rate")
def streaming_false_negative_rate(
    predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The share of positives that are predicted to be negative; see streaming_false_positive_rate."""
    given, metrics = (predictions, labels, weights), (counts.false_negatives, counts.true_positives)
    return _error_rate("false_negative_rate", metrics, given, metrics_collections, updates_collections, name)


def _error_rate_at_thresholds(name, keys, given, thresholds, metrics_collections, updates_collections, scope_name):
    predictions, labels, weights = given
    short = f"{keys[0]}r"
    with variable_scope(scope_name, name, (predictions, labels, weights)):
        values, updates = _tally_of(predictions, labels, thresholds, weights, keys)

        def share(found, suffix):
            wrong, right = (found[key] for key in keys)
            return ops.div(wrong, _EPSILON + wrong + right, name=f"{short}_{suffix}")

        value = collect(share(values, "value"), metrics_collections)
        return value, collect(share(updates, "update_op"), updates_collections)


@public("contrib.metrics.streaming_false_positive_rate_at_thresholds")
def streaming_false_positive_rate_at_thresholds(
    predictions, labels, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The share of negatives that are predicted to be positive, at thresholds; see streaming_false_positive_rate."""
    return _error_rate_at_thresholds(
        "false_positive_rate_at_thresholds", ("fp", "tn"), (predictions, labels, weights), thresholds,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


@public("contrib.metrics.streaming_false_negative_rate_at_thresholds")
def streaming_false_negative_rate_at_thresholds(
    predictions, labels, thresholds, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The share of positives that are predicted to be negative, at thresholds; see streaming_false_positive_rate."""
    return _error_rate_at_thresholds(
        "false_negative_rate_at_thresholds", ("fn", "tp"), (predictions, labels, weights), thresholds,
        metrics_collections, updates_collections, name,
    )  # fmt: skip


# ---- Curves -------------------------------------------------------------------------------------------------


@public("contrib.metrics.streaming_curve_points")
def streaming_curve_points(
    labels=None, predictions=None, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, curve="ROC", name=None,
):  # fmt: skip
    """Points of a curve, [num_thresholds, 2], and an operation that adds to what they are computed from.

    Args:
      labels: a tensor that becomes bools.
      predictions: floats in [0, 1], of the same shape.
      weights, metrics_collections, updates_collections, name: as streaming_false_positive_rate has them.
      num_thresholds: how many points.
      curve: "ROC" for true positives over false ones, "PR" for precision over recall.

    Raises:
      ValueError: for another curve, or shapes that do not fit.
    """
    with variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        found, updates = _tally_of(predictions, labels, _even_thresholds(num_thresholds), weights)
        small = 1e-6
        recall = ops.div(found["tp"] + small, found["tp"] + found["fn"] + small)
        if curve == "ROC":
            xs, ys = ops.div(found["fp"], found["fp"] + found["tn"] + small), recall
        else:
            xs, ys = recall, ops.div(found["tp"] + small, found["tp"] + found["fp"] + small)
        points = ops.stack([xs, ys], axis=1)
        update = group(*updates.values())
        return collect(points, metrics_collections), collect(update, updates_collections)


@public("contrib.metrics.f1_score")
def f1_score(
    labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The best F1 score, the harmonic mean of precision and recall, of all thresholds; and an update.

    The arguments are those of streaming_curve_points.
    """
    with variable_scope(name, "f1", (labels, predictions, weights)):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        thresholds = _even_thresholds(num_thresholds)
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights, ("tp", "fp", "fn"))

        def best(found, suffix):
            precision = ops.div(found["tp"], _EPSILON + found["tp"] + found["fp"], name=f"precision_{suffix}")
            recall = ops.div(found["tp"], _EPSILON + found["tp"] + found["fn"], name=f"recall_{suffix}")
            return ops.reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))

        value = collect(best(values, "value"), metrics_collections)
        return value, collect(best(updates, "update"), updates_collections)


@public("contrib.metrics.recall_at_precision")
def recall_at_precision(
    labels, predictions, precision, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None, strict_mode=False,
):  # fmt: skip
    """The recall at the threshold whose precision comes nearest to `precision`; and an update.

    Args:
      precision: a number in [0, 1].
      strict_mode: whether only thresholds with at least that precision count; the recall is 0 if there is none.
      The others are those of streaming_curve_points.

    Raises:
      ValueError: for another number, or shapes that do not fit.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    with variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        inner = [i * 1.0 / (num_thresholds - 1) for i in range(1, num_thresholds - 1)]
        thresholds = [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]
        values, updates = _tally_of(predictions, labels, thresholds, weights)
        value = collect(_recall(values, precision, "value", strict_mode), metrics_collections)
        return value, collect(_recall(updates, precision, "update_op", strict_mode), updates_collections)


def _recall(found, precision, name, is_strict):
    tp, fp, fn = found["tp"], found["fp"], found["fn"]
    precisions = ops.div(tp, tp + fp + _EPSILON)
    if not is_strict:
        index = ops.argmin(ops.abs(precisions - precision), 0, output_type=dtypes.int32)
        return ops.div(tp[index], tp[index] + fn[index] + _EPSILON, name)
    index = ops.argmax(ops.div(1.0, precisions - precision + _EPSILON), 0, output_type=dtypes.int32)
    return cond(
        precisions[index] >= precision,
        lambda: ops.div(tp[index], tp[index] + fn[index] + _EPSILON, name),
        lambda: 0.0,
    )


@public("contrib.metrics.precision_at_recall")
def precision_at_recall(
    labels, predictions, target_recall, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The precision at the highest threshold whose recall is at least `target_recall`; and an update.

    Args:
      target_recall: a number in [0, 1].
      The others are those of streaming_curve_points.

    Raises:
      ValueError: for another number, or shapes that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("precision_at_recall")
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")
    with variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        values, updates = _tally_of(predictions, labels, _even_thresholds(num_thresholds), weights)

        def precision(found, suffix):
            tp, fp, fn = found["tp"], found["fp"], found["fn"]
            recalls = ops.div(tp, tp + fn + _EPSILON)
            admissible = ops.cast(ops.greater_equal(recalls, target_recall), dtypes.int64)
            index = ops.reduce_sum(admissible) - 1
            return ops.div(tp[index] + _EPSILON, tp[index] + fp[index] + _EPSILON, suffix)

        value = collect(precision(values, "value"), metrics_collections)
        return value, collect(precision(updates, "update_op"), updates_collections)
