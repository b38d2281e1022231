"""Sums and means of values, and of functions of true and predicted values."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.confusion_matrix import remove_squeezable_dimensions
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import init_scope
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.values import get_value, ndim
from stillflow.keras.losses.classes import plain_arguments
from stillflow.keras.losses.reductions import squeeze_or_expand
from stillflow.keras.metrics.base import Metric
from stillflow.keras.metrics.ragged_values import flat_values
from stillflow.names import public
from stillflow.variables.initializers import Zeros
from stillflow.variables.variable import Variable

_SUM, _WEIGHTED_MEAN = "sum", "weighted_mean"


class Reduce(Metric):
    """The weighted sum of values, or that divided by the sum of weights, each 1 if there are none."""

    def __init__(self, reduction, name, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.reduction = reduction
        with init_scope():
            self.total = self.add_weight("total", initializer=Zeros)
            if reduction != _SUM:
                self.count = self.add_weight("count", initializer=Zeros)

    def update_state(self, values, sample_weight=None):
        (values,), sample_weight = flat_values([values], sample_weight)
        values = ops.cast(values, self._dtype)
        if sample_weight is not None:
            sample_weight = ops.cast(sample_weight, self._dtype)
            values, _, sample_weight = squeeze_or_expand(values, sample_weight=sample_weight)
            try:
                sample_weight = broadcast_weights(sample_weight, values)
            except ValueError:
                axes = list(range(ndim(sample_weight), ndim(values)))
                reduce = ops.reduce_sum if self.reduction == _SUM else ops.reduce_mean
                values = reduce(values, axis=axes)
            values = ops.mul(values, sample_weight)
        value_sum = ops.reduce_sum(values)
        with control_dependencies([value_sum]):
            update_total = self.total.assign_add(value_sum)
        if self.reduction == _SUM:
            return update_total
        if sample_weight is not None:
            count = ops.reduce_sum(sample_weight)
        else:
            count = ops.cast(ops.size(values), self._dtype)
        with control_dependencies([update_total]):
            return self.count.assign_add(count)

    def result(self):
        if self.reduction == _SUM:
            return ops.identity(self.total)
        return ops.div_no_nan(self.total, self.count)


@public("keras.metrics.Sum")
class Sum(Reduce):
    """The sum of values, weighted."""

    def __init__(self, name="sum", dtype=None):
        super().__init__(reduction=_SUM, name=name, dtype=dtype)


@public("keras.metrics.Mean")
class Mean(Reduce):
    """The mean of values, weighted."""

    def __init__(self, name="mean", dtype=None):
        super().__init__(reduction=_WEIGHTED_MEAN, name=name, dtype=dtype)


@public("keras.metrics.MeanRelativeError")
class MeanRelativeError(Mean):
    """The mean of absolute differences, divided by given numbers."""

    def __init__(self, normalizer, name=None, dtype=None):
        super().__init__(name=name, dtype=dtype)
        self.normalizer = ops.cast(normalizer, self._dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):  # type: ignore[override]
        y_true, y_pred = ops.cast(y_true, self._dtype), ops.cast(y_pred, self._dtype)
        (y_pred, y_true), sample_weight = flat_values([y_pred, y_true], sample_weight)
        y_pred, y_true, _ = squeeze_or_expand(y_pred, y_true)
        y_pred, self.normalizer = remove_squeezable_dimensions(y_pred, self.normalizer)
        y_pred.shape.assert_is_compatible_with(y_true.shape)
        errors = ops.div_no_nan(ops.abs(y_true - y_pred), self.normalizer)
        return super().update_state(errors, sample_weight=sample_weight)

    def get_config(self):
        normalizer = self.normalizer
        if isinstance(normalizer, (Tensor, Variable)):
            normalizer = get_value(normalizer)
        return {**super().get_config(), "normalizer": normalizer}


class MeanMetricWrapper(Mean):
    """The mean of a function of true and predicted values."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype)
        self._fn = fn
        self._fn_kwargs = kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):  # type: ignore[override]
        y_true, y_pred = ops.cast(y_true, self._dtype), ops.cast(y_pred, self._dtype)
        (y_pred, y_true), sample_weight = flat_values([y_pred, y_true], sample_weight)
        y_pred, y_true, _ = squeeze_or_expand(y_pred, y_true)
        return super().update_state(self._fn(y_true, y_pred, **self._fn_kwargs), sample_weight=sample_weight)

    def get_config(self):
        return {**super().get_config(), **plain_arguments(self._fn_kwargs)}


@public("keras.metrics.RootMeanSquaredError")
class RootMeanSquaredError(Mean):
    """The square root of the mean of squares of differences."""

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype=dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):  # type: ignore[override]
        y_true, y_pred = ops.cast(y_true, self._dtype), ops.cast(y_pred, self._dtype)
        (y_pred, y_true), sample_weight = flat_values([y_pred, y_true], sample_weight)
        y_pred, y_true, _ = squeeze_or_expand(y_pred, y_true)
        return super().update_state(ops.squared_difference(y_pred, y_true), sample_weight=sample_weight)

    def result(self):
        return ops.sqrt(ops.div_no_nan(self.total, self.count))
