"""Metrics of ROC and precision-recall curves: areas, and sensitivity at a given specificity and vice versa."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.metrics.state import collect, only_in_graphs
from stillflow.metrics.thresholds import counts_at_thresholds
from stillflow.names import public
from stillflow.platform import logging
from stillflow.variables.scope import variable_scope

_EPSILON = 1e-7  # of thresholds that no prediction reaches
_SMALL = 1.0e-6  # added to counts that are divided by


def _even_thresholds(count):
    """Those between 0 and 1."""
    return [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]


@public("metrics.auc")
def auc(
    labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
    curve="ROC", name=None, summation_method="trapezoidal", thresholds=None,
):  # fmt: skip
    """The area under a curve, approximated at some thresholds.

    Args:
      labels: a tensor that becomes bools.
      predictions: a tensor of floats in [0, 1], of the labels' shape.
      weights: a scalar, or of the labels' rank, with sizes that are theirs or 1; 1 by default.
      num_thresholds: how many thresholds there are, from 0 to 1.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      curve: "ROC", the rate of true over that of false positives, or "PR", precision over recall.
      name: of the variable scope, "auc" by default.
      summation_method: "trapezoidal"; "careful_interpolation" for PR (Davis and Goadrich, "The Relationship Between
        Precision-Recall and ROC Curves", 2006); "minoring" or "majoring" for a bound from below or above.
      thresholds: those between 0 and 1, instead of `num_thresholds` even ones.

    Returns:
      The area so far; the operation that counts on, and gives the area after that.

    Raises:
      ValueError: for another curve or method, or shapes that do not fit.
      RuntimeError: in eager execution.
      At run time: tf.errors.InvalidArgumentError for predictions outside of [0, 1].
    """
    only_in_graphs("auc")
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        inner = _even_thresholds(num_thresholds) if thresholds is None else sorted(thresholds)
        thresholds = [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights)

        def area(counts, name):
            tp, fn, tn, fp = (counts[key] for key in ("tp", "fn", "tn", "fp"))
            return _area(curve, summation_method, len(thresholds) - 1, tp, fn, tn, fp, name)

        value = collect(area(values, "value"), metrics_collections)
        return value, collect(area(updates, "update_op"), updates_collections)


def _area(curve, method, count, tp, fn, tn, fp, name):
    """The area under one of the curves; `count` is the number of intervals."""
    if curve == "PR":
        if method == "trapezoidal":
            logging.warning(
                "Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "
                '"careful_interpolation" instead.'
            )
        elif method == "careful_interpolation":
            return _interpolated_area(count, tp, fp, fn)
    recall = ops.div(tp + _SMALL, tp + fn + _SMALL)
    if curve == "ROC":
        x, y = ops.div(fp, fp + tn + _SMALL), recall
    else:
        precision = ops.div(tp + _SMALL, tp + fp + _SMALL)
        x, y = recall, precision
    width = x[:count] - x[1:]
    if method in ("trapezoidal", "careful_interpolation"):
        height = (y[:count] + y[1:]) / 2.0
    elif method == "minoring":
        height = ops.minimum(y[:count], y[1:])
    elif method == "majoring":
        height = ops.maximum(y[:count], y[1:])
    else:
        raise ValueError(f"Invalid summation_method: {method}")
    return ops.reduce_sum(ops.mul(width, height), name=name)


def _interpolated_area(count, tp, fp, fn):
    """Between two points true positives grow in proportion to all positives, which precision is not linear in."""
    new_tp = tp[:count] - tp[1:]
    positives = tp + fp
    slope = ops.div_no_nan(new_tp, ops.maximum(positives[:count] - positives[1:], 0), name="prec_slope")
    intercept = tp[1:] - ops.mul(slope, positives[1:])
    ratio = ops.where(
        ops.logical_and(positives[:count] > 0, positives[1:] > 0),
        ops.div_no_nan(positives[:count], ops.maximum(positives[1:], 0), name="recall_relative_ratio"),
        ops.ones_like(positives[1:]),
    )
    increments = ops.div_no_nan(
        slope * (new_tp + intercept * ops.log(ratio)), ops.maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment"
    )
    return ops.reduce_sum(increments, name="interpolate_pr_auc")


def _rate_at_rate(name, given, thresholds, rate, metrics_collections, updates_collections, scope_name):
    """What `rate` of counts and a name gives; `given` are labels, predictions and weights."""
    labels, predictions, weights = given
    with variable_scope(scope_name, name, (predictions, labels, weights)):
        values, updates = counts_at_thresholds(labels, predictions, thresholds, weights)
        value = collect(rate(values, "value"), metrics_collections)
        return value, collect(rate(updates, "update_op"), updates_collections)


@public("metrics.sensitivity_at_specificity")
def sensitivity_at_specificity(
    labels, predictions, specificity, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The rate of true positives at the threshold whose rate of true negatives is nearest to `specificity`.

    Args:
      labels, predictions, weights, num_thresholds, metrics_collections, updates_collections: see `auc`.
      specificity: a float in [0, 1].
      name: of the variable scope, the metric's name by default.

    Returns:
      The rate so far; the operation that counts on, and gives the rate after that.

    Raises:
      ValueError: for a specificity outside of [0, 1], or shapes that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("sensitivity_at_specificity")
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")

    def rate(counts, name):
        tp, tn, fp, fn = (counts[key] for key in ("tp", "tn", "fp", "fn"))
        specificities = ops.div(tn, tn + fp + _EPSILON)
        at = ops.cast(ops.argmin(ops.abs(specificities - specificity), 0), dtypes.int32)
        return ops.div(tp[at], tp[at] + fn[at] + _EPSILON, name)

    thresholds = [0.0 - _EPSILON, *_even_thresholds(num_thresholds), 1.0 + _EPSILON]
    return _rate_at_rate(
        "sensitivity_at_specificity", (labels, predictions, weights), thresholds, rate, metrics_collections,
        updates_collections, name,
    )  # fmt: skip


@public("metrics.specificity_at_sensitivity")
def specificity_at_sensitivity(
    labels, predictions, sensitivity, weights=None, num_thresholds=200, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The rate of true negatives at the threshold whose rate of true positives is nearest to `sensitivity`.

    Of several such thresholds it is the last. See `sensitivity_at_specificity`.
    """
    only_in_graphs("specificity_at_sensitivity")
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")

    def rate(counts, name):
        tp, tn, fp, fn = (counts[key] for key in ("tp", "tn", "fp", "fn"))
        sensitivities = ops.div(tp, tp + fn + _EPSILON)
        least = ops.reduce_min(ops.abs(sensitivities - sensitivity))
        is_least = ops.cast(ops.equal(ops.abs(sensitivities - sensitivity), least), dtypes.int64)
        # The running count is at its maximum from the last of them on, and argmax takes the first maximum.
        at = ops.cast(ops.argmax(ops.cumsum(is_least), 0), dtypes.int32)
        return ops.div(tn[at], tn[at] + fp[at] + _EPSILON, name)

    # Here the last threshold is just below 1, in TensorFlow.
    thresholds = [0.0 - _EPSILON, *_even_thresholds(num_thresholds), 1.0 - _EPSILON]
    return _rate_at_rate(
        "specificity_at_sensitivity", (labels, predictions, weights), thresholds, rate, metrics_collections,
        updates_collections, name,
    )  # fmt: skip
