"""The area under the ROC curve with a confidence interval, from placement values."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.contrib.metrics.concatenation import checks_of_labels, streaming_concat
from stillflow.distributions.normal import Normal
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.metrics.state import collect, squeezed
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.variables.scope import variable_scope

_EPSILON = 1e-7  # keeps denominators from being 0


class AucData(NamedTuple):
    """An area under a curve, and the ends of its confidence interval."""

    auc: Any
    lower: Any
    upper: Any


@public("contrib.metrics.auc_with_confidence_intervals")
def auc_with_confidence_intervals(
    labels, predictions, weights=None, alpha=0.95, logit_transformation=True, metrics_collections=(),
    updates_collections=(), name=None,
):  # fmt: skip
    """The area under the ROC curve with a confidence interval, from all predictions, which are kept; and an update.

    All three values are 0 while all labels are the same, or all weights together less than 1.

    Args:
      labels: 0 or 1.
      predictions: scores, of the same shape.
      weights: of the rank of the labels, or a scalar; 1 by default.
      alpha: the level of confidence.
      logit_transformation: whether the interval is that of the logit, which keeps it within 0 and 1.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope.

    Raises:
      ValueError: for an `alpha` not between 0 and 1, or shapes that do not fit.
      At run time: tf.errors.InvalidArgumentError for other labels.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = ops.ones_like(predictions)
    with variable_scope(name, "auc_with_confidence_intervals", [labels, predictions, weights]):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        total = ops.reduce_sum(weights)
        weights = ops.reshape(weights, [-1])
        predictions = ops.reshape(ops.cast(predictions, dtypes.float64), [-1])
        labels = ops.reshape(ops.cast(labels, dtypes.int64), [-1])
        with control_dependencies(checks_of_labels(labels)):
            all_predictions, add_predictions = streaming_concat(predictions, name="concat_preds")
            all_labels, add_labels = streaming_concat(labels, name="concat_labels")
            all_weights, add_weights = streaming_concat(weights, name="concat_weights")
            added = group(add_labels, add_predictions, add_weights)
            has_both = ops.logical_and(ops.equal(ops.reduce_min(labels), 0), ops.equal(ops.reduce_max(labels), 1))
            is_enough = ops.greater_equal(total, 1.0)
            is_valid = ops.logical_and(has_both, is_enough)
            update = cond(is_enough, lambda: added, ops.no_op)
            area = _area(all_labels, all_predictions, all_weights, alpha, logit_transformation, is_valid)
            collect(update, updates_collections)
            return collect(area, metrics_collections), update


def _placements(of_label, of_other, at):
    """(the placement values of one label's elements: the weight share of the other label that lies below)."""
    totals = ops.segment_sum(of_other, at)
    below = ops.cumsum(totals, exclusive=True) + totals / 2.0
    return ops.gather(below / (ops.reduce_sum(totals) + _EPSILON), at) * of_label


def _area(labels, predictions, weights, alpha, logit_transformation, is_valid):
    """The AucData of all values so far."""
    flags = ops.cast(labels, weights.dtype)
    totals = [ops.reduce_sum((1 - flags) * weights), ops.reduce_sum(flags * weights)]
    ordered, indices = ops.top_k(predictions, k=ops.size(predictions), sorted=True)
    ordered, indices = ops.reverse_v2(ordered, axis=[0]), ops.reverse_v2(indices, axis=[0])
    labels, weights = ops.gather(labels, indices), ops.gather(weights, indices)
    _, at = ops.unique(ordered)
    true = ops.cast(labels, dtypes.float32)
    false = 1.0 - true
    placements = _placements(true, weights * false, at) + _placements(false, weights * true, at)
    false_weights = weights * ops.cast(1 - labels, weights.dtype)
    true_weights = weights * ops.cast(labels, weights.dtype)
    heights = [1.0 - placements * (1.0 - true), placements * true]
    areas = [
        ops.reduce_sum(of_label * height) / (total + _EPSILON)
        for of_label, height, total in zip([false_weights, true_weights], heights, totals, strict=True)
    ]
    area = ops.where(ops.less(*totals), areas[1], areas[0])
    variances = [
        ops.reduce_sum(of_label * ops.squared_difference(height, mean))
        / (total - 1.0 + _EPSILON)
        / (total + _EPSILON)
        for of_label, height, mean, total in zip([false_weights, true_weights], heights, areas, totals, strict=True)
    ]
    deviation = ops.sqrt(variances[0] + variances[1])
    lower, upper = _interval(area, deviation, alpha, logit_transformation)
    is_end = ops.logical_or(ops.equal(area, ops.ones_like(area)), ops.equal(area, ops.zeros_like(area)))
    ends = [ops.where(is_end, area, end) for end in (lower, upper)]
    trivial = ops.constant(0.0)
    return AucData(*cond(is_valid, lambda: [area, *ends], lambda: [trivial] * 3))


def _interval(area, deviation, alpha, logit_transformation):
    """The ends of the confidence interval of an area with a normal error."""
    quantile = Normal(loc=0.0, scale=1.0).quantile((1.0 - alpha) / 2.0)
    if not logit_transformation:
        return area + quantile * deviation, area - quantile * deviation
    logit = ops.log(area / (1.0 - area + _EPSILON))
    deviation = deviation / (area * (1.0 - area + _EPSILON))
    ends = logit + quantile * deviation, logit - quantile * deviation
    return [1.0 / (1.0 + ops.exp(-end) + _EPSILON) for end in ends]
