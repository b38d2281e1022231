"""AUC, and points of the curve of sensitivity and specificity."""

from __future__ import annotations

import enum
from typing import Any

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.keras.metrics.confusion import ThresholdMetric, counting_update
from stillflow.layers.core.settings import epsilon
from stillflow.names import public

_FOUR = ("true_positives", "true_negatives", "false_positives", "false_negatives")


class _Curve(ThresholdMetric):
    """A metric of all four numbers at many thresholds."""

    true_positives: Any
    true_negatives: Any
    false_positives: Any
    false_negatives: Any

    def update_state(self, y_true, y_pred, sample_weight=None):  # type: ignore[override]
        variables = {name: getattr(self, name) for name in _FOUR}
        return counting_update(variables, y_true, y_pred, self.thresholds, sample_weight=sample_weight)


class _Sensitivity(_Curve):
    """One of sensitivity and specificity, where the other one is nearest to a value."""

    def _prepare(self, value, num_thresholds):
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.value = value
        inner = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        self.thresholds = [0.5] if num_thresholds == 1 else [0.0, *inner, 1.0]
        self._add_counts(*_FOUR)

    def _at_value(self, rates, hits, misses):
        """hits / (hits + misses) where rates are nearest to the value."""
        index = ops.cast(ops.argmin(ops.abs(rates - self.value), axis=0), dtypes.int32)
        return ops.div_no_nan(hits[index], hits[index] + misses[index])


@public("keras.metrics.SensitivityAtSpecificity")
class SensitivityAtSpecificity(_Sensitivity):
    """TP / (TP + FN) at the threshold where TN / (TN + FP) is nearest to a value.

    Args:
      specificity: the value, in [0, 1].
      num_thresholds: how many thresholds are tried.
      name, dtype: see `Metric`.

    Raises:
      ValueError: for another value, or no thresholds.
    """

    def __init__(self, specificity, num_thresholds=200, name=None, dtype=None):
        if not 0 <= specificity <= 1:
            raise ValueError("`specificity` must be in the range [0, 1].")
        super().__init__(name=name, dtype=dtype)
        self.specificity = specificity
        self.num_thresholds = num_thresholds
        self._prepare(specificity, num_thresholds)

    def result(self):
        rates = ops.div_no_nan(self.true_negatives, self.true_negatives + self.false_positives)
        return self._at_value(rates, self.true_positives, self.false_negatives)

    def get_config(self):
        config = {"num_thresholds": self.num_thresholds, "specificity": self.specificity}
        return {**super().get_config(), **config}


@public("keras.metrics.SpecificityAtSensitivity")
class SpecificityAtSensitivity(_Sensitivity):
    """TN / (TN + FP) at the threshold where TP / (TP + FN) is nearest to a value.

    Args:
      sensitivity: the value, in [0, 1].
      num_thresholds: how many thresholds are tried.
      name, dtype: see `Metric`.

    Raises:
      ValueError: for another value, or no thresholds.
    """

    def __init__(self, sensitivity, num_thresholds=200, name=None, dtype=None):
        if not 0 <= sensitivity <= 1:
            raise ValueError("`sensitivity` must be in the range [0, 1].")
        super().__init__(name=name, dtype=dtype)
        self.sensitivity = sensitivity
        self.num_thresholds = num_thresholds
        self._prepare(sensitivity, num_thresholds)

    def result(self):
        rates = ops.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        return self._at_value(rates, self.true_negatives, self.false_positives)

    def get_config(self):
        config = {"num_thresholds": self.num_thresholds, "sensitivity": self.sensitivity}
        return {**super().get_config(), **config}


@public("python.keras.utils.metrics_utils.AUCCurve")
class AUCCurve(enum.Enum):
    """Which curve the area is under."""

    ROC = "ROC"
    PR = "PR"


@public("python.keras.utils.metrics_utils.AUCSummationMethod")
class AUCSummationMethod(enum.Enum):
    """How the curve runs between thresholds."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"


def _member(kind, key, what):
    if isinstance(key, kind):
        return key
    for member in kind:
        value = member.value
        if key in (value, value.lower() if value.isupper() else value.capitalize()):
            return member
    raise ValueError(f'Invalid {what} value "{key}".')


@public("keras.metrics.AUC")
class AUC(_Curve):
    """The area under a curve, as a sum over thresholds.

    Args:
      num_thresholds: how many thresholds there are.
      curve: "ROC" (true positives over false ones) or "PR" (precision over recall).
      summation_method: "interpolation", for "PR" that of Davis and Goadrich 2006; "minoring" or "majoring" for the
        lower or higher end of each interval.
      name, dtype: see `Metric`.
      thresholds: the thresholds between 0 and 1, instead of their number.

    Raises:
      ValueError: for another curve or method, or less than two thresholds.
    """

    def __init__(
        self, num_thresholds=200, curve="ROC", summation_method="interpolation", name=None, dtype=None,
        thresholds=None,
    ):  # fmt: skip
        if thresholds is not None:
            thresholds = sorted(thresholds)
        elif num_thresholds <= 1:
            raise ValueError("`num_thresholds` must be > 1.")
        else:
            thresholds = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        curve = _member(AUCCurve, curve, "AUC curve")
        summation_method = _member(AUCSummationMethod, summation_method, "AUC summation method")
        super().__init__(name=name, dtype=dtype)
        self.num_thresholds = len(thresholds) + 2
        self.curve = curve
        self.summation_method = summation_method
        # The outer ones are beyond 0 and 1, for what rounding does.
        self.thresholds = [0.0 - epsilon(), *thresholds, 1.0 + epsilon()]
        self._add_counts(*_FOUR)

    def interpolate_pr_auc(self):
        """The area under precision over recall, where true positives change evenly between thresholds."""
        last = self.num_thresholds - 1
        hits = self.true_positives
        gained = hits[:last] - hits[1:]
        positives = hits + self.false_positives
        more = positives[:last] - positives[1:]
        slope = ops.div_no_nan(gained, ops.maximum(more, 0), name="prec_slope")
        intercept = hits[1:] - ops.mul(slope, positives[1:])
        ratio = ops.where(
            ops.logical_and(positives[:last] > 0, positives[1:] > 0),
            ops.div_no_nan(positives[:last], ops.maximum(positives[1:], 0), name="recall_relative_ratio"),
            ops.ones_like(positives[1:]),
        )
        increments = ops.div_no_nan(
            slope * (gained + intercept * ops.log(ratio)),
            ops.maximum(hits[1:] + self.false_negatives[1:], 0), name="pr_auc_increment",
        )  # fmt: skip
        return ops.reduce_sum(increments, name="interpolate_pr_auc")

    def result(self):
        interpolates = self.summation_method == AUCSummationMethod.INTERPOLATION
        if self.curve == AUCCurve.PR and interpolates:
            return self.interpolate_pr_auc()
        recall = ops.div_no_nan(self.true_positives, self.true_positives + self.false_negatives)
        if self.curve == AUCCurve.ROC:
            x = ops.div_no_nan(self.false_positives, self.false_positives + self.true_negatives)
            y = recall
        else:
            y = ops.div_no_nan(self.true_positives, self.true_positives + self.false_positives)
            x = recall
        last = self.num_thresholds - 1
        if interpolates:
            heights = (y[:last] + y[1:]) / 2.0
        else:
            pick = ops.minimum if self.summation_method == AUCSummationMethod.MINORING else ops.maximum
            heights = pick(y[:last], y[1:])
        return ops.reduce_sum(ops.mul(x[:last] - x[1:], heights), name=self.name)

    def get_config(self):
        return {
            **super().get_config(), "num_thresholds": self.num_thresholds, "curve": self.curve.value,
            "summation_method": self.summation_method.value, "thresholds": self.thresholds[1:-1],
        }  # fmt: skip
