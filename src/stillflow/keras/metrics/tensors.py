"""MeanIoU and MeanTensor: metrics whose variables are not single numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites.confusion_matrix import confusion_matrix
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.mode import by_outermost_mode, eager_version_of
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.phases import get_session
from stillflow.keras.backend.values import batch_set_value, ndim, set_value
from stillflow.keras.losses.reductions import squeeze_or_expand
from stillflow.keras.metrics.base import Metric
from stillflow.names import public
from stillflow.variables.initializers import Zeros


def _as_row(tensor):
    return ops.reshape(tensor, [-1]) if tensor is not None and tensor.shape.ndims > 1 else tensor


@public("keras.metrics.MeanIoU")
class MeanIoU(Metric):
    """The mean over classes of TP / (TP + FP + FN): of intersections of truth and predictions over unions.

    Args:
      num_classes: how many classes there are; truth and predictions are their numbers.
      name, dtype: see `Metric`.
    """

    def __init__(self, num_classes, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix", shape=(num_classes, num_classes), initializer=Zeros, dtype=dtypes.float64
        )

    def update_state(self, y_true, y_pred, sample_weight=None):  # type: ignore[override]
        y_true, y_pred = ops.cast(y_true, self._dtype), ops.cast(y_pred, self._dtype)
        y_pred, y_true = _as_row(y_pred), _as_row(y_true)
        matrix = confusion_matrix(
            y_true, y_pred, self.num_classes, weights=_as_row(sample_weight), dtype=dtypes.float64
        )
        return self.total_cm.assign_add(matrix)

    def result(self):
        over_rows = ops.cast(ops.reduce_sum(self.total_cm, axis=0), dtype=self._dtype)
        over_columns = ops.cast(ops.reduce_sum(self.total_cm, axis=1), dtype=self._dtype)
        hits = ops.cast(ops.diag_part(self.total_cm), dtype=self._dtype)
        unions = over_rows + over_columns - hits
        count = ops.reduce_sum(ops.cast(ops.not_equal(unions, 0), dtype=self._dtype))
        return ops.div_no_nan(ops.reduce_sum(ops.div_no_nan(hits, unions), name="mean_iou"), count)

    def reset_states(self):
        """Sets the numbers to 0."""
        set_value(self.total_cm, np.zeros((self.num_classes, self.num_classes)))

    def get_config(self):
        return {**super().get_config(), "num_classes": self.num_classes}


@by_outermost_mode
def _initialize_variables():
    """Gives the new variables their values, so that the state may be computed at once."""
    get_session(())


@eager_version_of(_initialize_variables)
def _have_values_already():
    """Variables have their values from the start."""


@public("keras.metrics.MeanTensor")
class MeanTensor(Metric):
    """The mean of each element of tensors, weighted. The first one tells the shape.

    Raises ValueError for one of another shape, and for the result before there is any.
    """

    _shape: Any
    _total: Any
    _count: Any

    def __init__(self, name="mean_tensor", dtype=None):
        super().__init__(name=name, dtype=dtype)
        self._shape = None
        self._total = None
        self._count = None
        self._built = False

    def _build(self, shape):
        self._shape = TensorShape(shape)
        self._total = self.add_weight("total", shape=shape, initializer=Zeros)
        self._count = self.add_weight("count", shape=shape, initializer=Zeros)
        _initialize_variables()
        self._built = True

    @property
    def total(self):
        """The sum; None before there is any."""
        return self._total if self._built else None

    @property
    def count(self):
        """The sum of weights; None before there is any."""
        return self._count if self._built else None

    def update_state(self, values, sample_weight=None):  # type: ignore[override]
        values = ops.cast(values, self._dtype)
        if not self._built:
            self._build(values.shape)
        elif values.shape != self._shape:
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set during the first "
                f"call): {self._shape}. Got: {values.shape}"
            )
        numbers = ops.ones_like(values)
        if sample_weight is not None:
            sample_weight = ops.cast(sample_weight, self._dtype)
            values, _, sample_weight = squeeze_or_expand(values, sample_weight=sample_weight)
            try:
                sample_weight = broadcast_weights(sample_weight, values)
            except ValueError:
                values = ops.reduce_mean(values, axis=list(range(ndim(sample_weight), ndim(values))))
            numbers = ops.mul(numbers, sample_weight)
            values = ops.mul(values, sample_weight)
        update_total = self._total.assign_add(values)
        with control_dependencies([update_total]):
            return self._count.assign_add(numbers)

    def result(self):
        if not self._built:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or use "
                "`.update_state(value)` before retrieving the result."
            )
        return ops.div_no_nan(self.total, self.count)

    def reset_states(self):
        """Sets the sums to 0."""
        if self._built:
            batch_set_value([(variable, np.zeros(self._shape.as_list())) for variable in self.variables])
