"""Means and variances of a time series, kept up to date by the batches that training sees."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.normalization import moments
from stillflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies, device
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.variables.assignments import assign, assign_add
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Ones, Zeros
from stillflow.variables.scope import variable_scope


@public("contrib.timeseries.python.timeseries.math_utils.Moments")
class Moments(NamedTuple):
    """The mean and the variance of each feature."""

    mean: Any
    variance: Any


@public("contrib.timeseries.python.timeseries.math_utils.InputStatistics")
class InputStatistics(NamedTuple):
    """What is known of a series: moments of its start and of all of it, the first time, how many steps it has."""

    series_start_moments: Any
    overall_feature_moments: Any
    start_time: Any
    total_observation_count: Any


class _Sums(NamedTuple):
    """What the statistics are computed of."""

    max_time_seen: Any
    chunk_count: Any
    inter_observation_duration_sum: Any
    example_count: Any
    overall_feature_sum: Any
    overall_feature_sum_of_squares: Any


@public("contrib.timeseries.python.timeseries.math_utils.InputStatisticsFromMiniBatch")
class InputStatisticsFromMiniBatch:
    """Makes the variables of the statistics, and what updates them.

    Args:
      num_features: how many features a step has.
      dtype: the type of means and variances.
      starting_variance_window_size: of how many steps the moments of the start are.
    """

    def __init__(self, num_features, dtype, starting_variance_window_size=16):
        self._starting_variance_window_size = starting_variance_window_size
        self._num_features = num_features
        self._dtype = dtype

    def initialize_graph(self, features, update_statistics=True):
        """The InputStatistics, of variables; or of tensors that see a batch first.

        Args:
          features: {name: tensor}, with times [batch, window] and values [batch, window, features].
          update_statistics: whether the batch counts, if it has both.
        """
        times = features.get(TrainEvalFeatures.TIMES)
        values = features.get(TrainEvalFeatures.VALUES)
        with variable_scope("input_statistics", use_resource=True):
            statistics = self._statistics()
        with variable_scope("input_statistics_auxiliary", use_resource=True):
            sums = self._sums()
        if not update_statistics or times is None or values is None:
            return statistics
        with control_dependencies([self._update(statistics, sums, times, values)]):
            flat = [ops.identity(variable) for variable in nest.flatten(statistics)]
            found = nest.pack_sequence_as(statistics, flat)
            return found._replace(start_time=ops.minimum(found.start_time, ops.reduce_min(times)))

    def _variable(self, name, shape=(), dtype=None, initializer=None):
        dtype = self._dtype if dtype is None else dtype
        return get_variable(name, shape=list(shape), dtype=dtype, initializer=initializer, trainable=False)

    def _sums(self):
        features = [self._num_features]
        return _Sums(
            get_variable("max_time_seen", initializer=dtypes.int64.min, dtype=dtypes.int64, trainable=False),
            self._variable("chunk_count", dtype=dtypes.int64, initializer=Zeros()),
            self._variable("inter_observation_duration_sum", initializer=Zeros()),
            self._variable("example_count", dtype=dtypes.int64),
            self._variable("overall_feature_sum", features, initializer=Zeros()),
            self._variable("overall_feature_sum_of_squares", features, initializer=Zeros()),
        )

    def _statistics(self):
        features = [self._num_features]
        start = Moments(
            self._variable("series_start_mean", features, initializer=Zeros()),
            self._variable("series_start_variance", features, initializer=Ones()),
        )
        overall = Moments(
            self._variable("overall_feature_mean", features, initializer=Zeros()),
            self._variable("overall_feature_var", features, initializer=Ones()),
        )
        start_time = get_variable("start_time", dtype=dtypes.int64, initializer=dtypes.int64.max, trainable=False)
        count = self._variable("total_observation_count", dtype=dtypes.int64, initializer=Ones())
        return InputStatistics(start, overall, start_time, count)

    def _update(self, statistics, sums, times, values):
        """An operation that counts a batch."""
        values = ops.cast(values, self._dtype)
        span = ops.reduce_max(times, axis=1) - ops.reduce_min(times, axis=1)
        durations = ops.cast(span, self._dtype) / ops.cast(ops.shape(times)[1] - 1, self._dtype)
        updates = self._add(sums, times, values, durations)
        with control_dependencies([group(*updates)]):
            return self._compute(statistics, sums, times, values, updates[0])

    def _add(self, sums, times, values, durations):
        with device(sums.max_time_seen.device):
            updates = [assign(sums.max_time_seen, ops.maximum(sums.max_time_seen, ops.reduce_max(times)))]
        with device(sums.chunk_count.device):
            updates.append(assign_add(sums.chunk_count, ops.shape(times, out_type=dtypes.int64)[0]))
        with device(sums.inter_observation_duration_sum.device):
            updates.append(assign_add(sums.inter_observation_duration_sum, ops.reduce_sum(durations)))
        with device(sums.example_count.device):
            updates.append(assign_add(sums.example_count, ops.size(times, out_type=dtypes.int64)))
        with device(sums.overall_feature_sum.device):
            updates.append(assign_add(sums.overall_feature_sum, ops.reduce_sum(values, axis=[0, 1])))
        with device(sums.overall_feature_sum_of_squares.device):
            squares = ops.reduce_sum(values**2, axis=[0, 1])
            updates.append(assign_add(sums.overall_feature_sum_of_squares, squares))
        return updates

    def _compute(self, statistics, sums, times, values, max_time_seen):
        count = ops.cast(sums.example_count, self._dtype)
        mean = sums.overall_feature_sum / count
        mean_update = assign(statistics.overall_feature_moments.mean, mean)
        variance_update = assign(
            statistics.overall_feature_moments.variance,
            count / (count - 1.0) * (sums.overall_feature_sum_of_squares / count - mean**2),
        )
        first_row = ops.cast(ops.argmin(times[:, 0]), dtypes.int32)

        def new_start():
            mean, variance = moments(values[first_row, : self._starting_variance_window_size], axes=[0])
            return group(
                assign(statistics.series_start_moments.mean, mean),
                assign(statistics.series_start_moments.variance, variance),
            )

        with device(statistics.start_time.device):
            is_start = ops.less_equal(times[first_row, 0], statistics.start_time)
            start_update = cond(is_start, new_start, ops.no_op)
            with control_dependencies([start_update]):
                start_time = assign(statistics.start_time, ops.minimum(statistics.start_time, ops.reduce_min(times)))
        duration = sums.inter_observation_duration_sum / ops.cast(sums.chunk_count, self._dtype)
        steps = ops.cast(max_time_seen - start_time + 1, self._dtype) / duration
        count_update = assign(statistics.total_observation_count, ops.cast(ops.round(steps), dtypes.int64))
        return group(mean_update, variance_update, start_update, start_time, count_update)
