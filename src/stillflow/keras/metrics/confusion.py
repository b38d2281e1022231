"""Numbers of true and false positives and negatives, at thresholds, and what is computed of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_greater_equal, assert_less_equal
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.keras.backend.values import batch_set_value
from stillflow.keras.losses.reductions import squeeze_or_expand
from stillflow.keras.metrics.base import Metric
from stillflow.keras.metrics.ragged_values import flat_values
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.initializers import Zeros

_LOWEST = -1e10  # a threshold that all predictions exceed


def parsed_thresholds(thresholds, default):
    """A list of thresholds. Raises ValueError for one that is not in [0, 1]."""
    if thresholds is None:
        return [default]
    thresholds = list(thresholds) if isinstance(thresholds, (list, tuple)) else [thresholds]
    invalid = [threshold for threshold in thresholds if threshold is None or not 0 <= threshold <= 1]
    if invalid:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {invalid}")
    return thresholds


def _of_classes(y_true, y_pred, top_k, class_id):
    """Both, of one class if there is `class_id`; predictions that are not among the greatest are below all."""
    if top_k is not None:
        _, greatest = ops.top_k(y_pred, top_k, sorted=False)
        mask = ops.reduce_sum(ops.one_hot(greatest, y_pred.shape[-1], axis=-1), axis=-2)
        y_pred = y_pred * mask + _LOWEST * (1 - mask)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    return y_true, y_pred


def counting_update(variables, y_true, y_pred, thresholds, top_k=None, class_id=None, sample_weight=None):
    """An operation that adds to the numbers of true and false positives and negatives.

    Args:
      variables: {name: variable} with some of "true_positives", "false_negatives", "false_positives" and
        "true_negatives".
      y_true, y_pred: the truth, 0 or 1, and predictions in [0, 1].
      thresholds: those above which predictions say 1.
      top_k: how many of the greatest predictions of each row count.
      class_id: the class that counts.
      sample_weight: weights of samples.
    """
    y_true, y_pred = ops.cast(y_true, dtypes.float32), ops.cast(y_pred, dtypes.float32)
    (y_pred, y_true), _ = flat_values([y_pred, y_true], sample_weight)
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    checks = [
        assert_greater_equal(y_pred, ops.cast(0.0, y_pred.dtype), message="predictions must be >= 0"),
        assert_less_equal(y_pred, ops.cast(1.0, y_pred.dtype), message="predictions must be <= 1"),
    ]
    with control_dependencies([check for check in checks if check is not None]):
        y_pred, y_true, sample_weight = squeeze_or_expand(y_pred, y_true, sample_weight)
    y_true, y_pred = _of_classes(y_true, y_pred, top_k, class_id)
    count = len(thresholds)
    size = ops.size(y_pred)
    predictions = ops.reshape(y_pred, [1, -1])
    labels = ops.reshape(ops.cast(y_true, dtypes.bool_), [1, -1])
    limits = ops.tile(ops.expand_dims(ops.constant(thresholds), 1), ops.stack([1, size]))
    is_positive = ops.greater(ops.tile(predictions, [count, 1]), limits)
    is_true = ops.tile(labels, [count, 1])
    weights = None
    if sample_weight is not None:
        weights = broadcast_weights(ops.cast(sample_weight, dtypes.float32), y_pred)
        weights = ops.tile(ops.reshape(weights, [1, -1]), [count, 1])
    both = {"true_positives": (is_true, is_positive)}
    if "false_negatives" in variables or "true_negatives" in variables:
        is_negative = ops.logical_not(is_positive)
        both["false_negatives"] = is_true, is_negative
    if "false_positives" in variables or "true_negatives" in variables:
        is_false = ops.logical_not(is_true)
        both["false_positives"] = is_false, is_positive
        if "true_negatives" in variables:
            both["true_negatives"] = is_false, is_negative
    return group([_added(variables[name], pair, weights) for name, pair in both.items() if name in variables])


def _added(variable, pair, weights):
    numbers = ops.cast(ops.logical_and(*pair), dtypes.float32)
    if weights is not None:
        numbers *= weights
    return variable.assign_add(ops.reduce_sum(numbers, 1))


class ThresholdMetric(Metric):
    """A metric whose variables are numbers at each of some thresholds."""

    thresholds: list

    def _add_counts(self, *names):
        for name in names:
            setattr(self, name, self.add_weight(name, shape=(len(self.thresholds),), initializer=Zeros))

    def reset_states(self):
        """Sets the numbers to 0."""
        batch_set_value([(variable, np.zeros((len(self.thresholds),))) for variable in self.variables])


class _Count(ThresholdMetric):
    """One of the four numbers."""

    _counted = ""
    accumulator: Any

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = parsed_thresholds(thresholds, 0.5)
        self._add_counts("accumulator")

    def update_state(self, y_true, y_pred, sample_weight=None):  # type: ignore[override]
        variables = {self._counted: self.accumulator}
        return counting_update(variables, y_true, y_pred, self.thresholds, sample_weight=sample_weight)

    def result(self):
        return convert_to_tensor(self.accumulator[0] if len(self.thresholds) == 1 else self.accumulator)

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds}


@public("keras.metrics.TruePositives")
class TruePositives(_Count):
    """How often a prediction is above a threshold, and the truth is 1.

    Args:
      thresholds: one or several, in [0, 1]; 0.5 by default.
      name, dtype: see `Metric`.
    """

    _counted = "true_positives"


@public("keras.metrics.TrueNegatives")
class TrueNegatives(_Count):
    """How often a prediction is not above a threshold, and the truth is 0; see `TruePositives`."""

    _counted = "true_negatives"


@public("keras.metrics.FalsePositives")
class FalsePositives(_Count):
    """How often a prediction is above a threshold, and the truth is 0; see `TruePositives`."""

    _counted = "false_positives"


@public("keras.metrics.FalseNegatives")
class FalseNegatives(_Count):
    """How often a prediction is not above a threshold, and the truth is 1; see `TruePositives`."""

    _counted = "false_negatives"


class _Share(ThresholdMetric):
    """True positives, divided by them and another number."""

    _other = ""
    true_positives: Any

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        self.thresholds = parsed_thresholds(thresholds, 0.5 if top_k is None else _LOWEST)
        self._add_counts("true_positives", self._other)

    def update_state(self, y_true, y_pred, sample_weight=None):  # type: ignore[override]
        variables = {name: getattr(self, name) for name in ("true_positives", self._other)}
        return counting_update(
            variables, y_true, y_pred, self.thresholds, top_k=self.top_k, class_id=self.class_id,
            sample_weight=sample_weight,
        )  # fmt: skip

    def result(self):
        result = ops.div_no_nan(self.true_positives, self.true_positives + getattr(self, self._other))
        return result[0] if len(self.thresholds) == 1 else result

    def get_config(self):
        config = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **config}


@public("keras.metrics.Precision")
class Precision(_Share):
    """Which share of predictions above a threshold is true.

    Args:
      thresholds: one or several, in [0, 1]; 0.5 by default.
      top_k: how many of the greatest predictions of each row count, instead of thresholds.
      class_id: the class that counts.
      name, dtype: see `Metric`.
    """

    _other = "false_positives"


@public("keras.metrics.Recall")
class Recall(_Share):
    """Which share of what is true has a prediction above a threshold; see `Precision`."""

    _other = "false_negatives"
