"""Metrics from histograms of probabilities: the area under the ROC curve, precision and recall at even thresholds."""

from __future__ import annotations

import collections as _collections

from stillflow import ops
from stillflow.composites.checks import assert_comparison, assert_that, assert_type
from stillflow.composites.confusion_matrix import remove_squeezable_dimensions
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.metrics.state import metric_variable, squeezed
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.assignments import scatter_add
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope


@public("contrib.metrics.auc_using_histogram")
def auc_using_histogram(
    boolean_labels, scores, score_range, nbins=100, collections=None, check_shape=True, name=None
):
    """The area under the ROC curve so far, from histograms of the scores of both labels; and an update.

    Args:
      boolean_labels: bools, [batch].
      scores: numbers, [batch].
      score_range: the ends of the histogram, [2]; what lies outside counts in the first and last bin.
      nbins: how many bins.
      collections: of the variables, by default that of local variables.
      check_shape: whether ranks are checked at run time.
      name: of the variable scope.

    Raises:
      ValueError: for labels that are no bools.
      At run time: tf.errors.InvalidArgumentError for other ranks, if they are checked.
    """
    collections = [GraphKeys.LOCAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        scores, boolean_labels = remove_squeezable_dimensions(scores, boolean_labels)
        score_range = convert_to_tensor(score_range, name="score_range")
        labels, scores = _checked(boolean_labels, scores, check_shape)
        with variable_scope(None, "make_auc_histograms", [labels, scores, nbins]):
            found = [
                ops.histogram_fixed_width(
                    ops.boolean_mask(scores, which()), score_range, nbins=nbins, dtype=dtypes.int64, name=each
                )
                for each, which in (("hist_true", lambda: labels), ("hist_false", lambda: ops.logical_not(labels)))
            ]
        with variable_scope(None, "hist_accumulate", found):
            sums = [
                get_variable(
                    each, [nbins], dtypes.int64, initializer=Zeros(), collections=collections, trainable=False
                )
                for each in ("hist_true_acc", "hist_false_acc")
            ]
            added = [total.assign_add(histogram) for total, histogram in zip(sums, found, strict=True)]
            update = group(*added, name="update_op")
        return _area(sums, nbins), update


def _checked(labels, scores, check_shape):
    with name_scope(None, "_check_labels_and_scores", [labels, scores]):
        labels = convert_to_tensor(labels, name="boolean_labels")
        scores = convert_to_tensor(scores, name="scores")
        if labels.dtype != dtypes.bool_:
            raise ValueError("Argument boolean_labels should have dtype bool.  Found: %s", labels.dtype)
        if not check_shape:
            return labels, scores
        checks = [
            assert_that(
                ops.equal(1, ops.rank(tensor)),
                [f"Argument {which} should have rank 1.  Found: ", tensor.name, ops.shape(tensor)],
            )
            for which, tensor in (("boolean_labels", labels), ("scores", scores))
        ]
        with control_dependencies(checks):
            return labels, scores


def _area(counts, nbins):
    """The sum of trapezoids under the curve, from the highest scores down; `counts` are those of True and False."""
    true_share, false_share = (ops.truediv(each, ops.reduce_sum(each)) for each in counts)
    dy = ops.reverse_v2(true_share, [0], name="delta_y_t")
    dx = ops.reverse_v2(false_share, [0], name="delta_x_t")
    dy, dx = ops.cast(dy, dtypes.float32), ops.cast(dx, dtypes.float32)
    y = _sums_up_to_each(dy, nbins)
    first = dx[0] * y[0] / 2.0
    others = dx[1:] * (y[1:] + y[: nbins - 1]) / 2.0
    return ops.add(first, ops.reduce_sum(others), name="auc")


def _sums_up_to_each(tensor, length):
    """Cumulative sums, by a convolution as TensorFlow computes them."""
    with name_scope(None, "strict_1d_cumsum", [tensor]):
        if length == 0:
            return ops.constant([])
        padded = ops.pad(tensor, [[length - 1, 0]])
        ones = ops.ones_like(padded)
        with name_scope(None, "strict_conv1d", [padded, ones]):
            image = ops.reshape(padded, (1, -1, 1, 1))
            kernel = ops.reshape(ones, (-1, 1, 1, 1))
            sums = ops.reshape(ops.conv2d(image, kernel, [1, 1, 1, 1], "SAME"), [-1])
        return sums[:length]


PrecisionRecallData = _collections.namedtuple(
    "PrecisionRecallData", ["tp", "fp", "tn", "fn", "precision", "recall", "thresholds"]
)


@public("contrib.metrics.precision_recall_at_equal_thresholds")
def precision_recall_at_equal_thresholds(
    labels, predictions, weights=None, num_thresholds=None, use_locking=None, name=None
):
    """Counts, precision and recall at thresholds that lie evenly from 0 to 1, in time that does not grow with them.

    Args:
      labels: bools.
      predictions: floats in [0, 1], of the same shape.
      weights: a scalar, or of the labels' rank, with sizes that are theirs or 1; 1 by default.
      num_thresholds: how many, 201 by default.
      use_locking: whether updates lock their variables, as by default.
      name: of the variable scope.

    Returns:
      A named tuple (tp, fp, tn, fn, precision, recall, thresholds), and the operation that adds to it.

    Raises:
      TypeError: for labels that are no bools.
      ValueError: for shapes that do not fit.
      At run time: tf.errors.InvalidArgumentError for predictions outside of [0, 1].
    """
    num_thresholds = 201 if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    use_locking = True if use_locking is None else use_locking
    assert_type(labels, dtypes.bool_)
    with variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        predictions, labels, weights = _in_range(predictions, labels, weights)
        true = ops.cast(labels, dtypes.float64)
        weights = ops.cast(weights, dtypes.float64)
        true, false = true * weights, (1.0 - true) * weights
        predictions, true, false = (ops.reshape(each, [-1]) for each in (predictions, true, false))
        bins = ops.cast(ops.floor(predictions * (num_thresholds - 1)), dtypes.int32)
        with name_scope(None, "variables"):
            tp_bins, fp_bins = (
                metric_variable([num_thresholds], dtypes.float64, name=each) for each in ("tp_buckets", "fp_buckets")
            )
        with name_scope(None, "update_op"):
            updates = [
                scatter_add(variable, bins, added, use_locking=use_locking)
                for variable, added in ((tp_bins, true), (fp_bins, false))
            ]
        found = _at_thresholds(tp_bins, fp_bins)
        dtype = predictions.dtype
        found = [ops.cast(each, dtype) for each in found]
        thresholds = ops.cast(ops.lin_space(0.0, 1.0, num_thresholds), dtype)
        result = PrecisionRecallData(*[*found, thresholds])
        return result, group(*updates)


def _in_range(predictions, labels, weights):
    message = "predictions must be in [0, 1]"
    checks = [
        assert_comparison(kind, predictions, ops.cast(bound, predictions.dtype), message=message)
        for kind, bound in (("assert_greater_equal", 0.0), ("assert_less_equal", 1.0))
    ]
    with control_dependencies(checks):
        return squeezed(predictions, labels, weights)


def _at_thresholds(tp_bins, fp_bins):
    """(tp, fp, tn, fn, precision, recall) of the counts of positives and negatives in bins."""
    tp = ops.cumsum(tp_bins, reverse=True, name="tp")
    fp = ops.cumsum(fp_bins, reverse=True, name="fp")
    tn, fn = fp[0] - fp, tp[0] - tp
    small = convert_to_tensor(1e-7, dtype=dtypes.float64)
    precision = tp / ops.maximum(small, tp + fp)
    recall = tp / ops.maximum(small, tp + fn)
    return tp, fp, tn, fn, precision, recall
