"""ResolutionCycleModel: a period of any length, from the sines and cosines that a few numbers stand for."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from stillflow.contrib.timeseries.state_space.periodic import CycleStateSpaceModel, leading_ones
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor


@public("contrib.timeseries.python.timeseries.state_space_models.periodic.ResolutionCycleModel")
class ResolutionCycleModel(CycleStateSpaceModel):
    """A model of a period that need not be of whole steps.

    Args:
      num_latent_values: how many numbers it is made of, odd.
      periodicity: how many steps a period has.
      near_integer_threshold: how near to an integer a number is taken for it.
      configuration: a StateSpaceModelConfiguration.

    Raises ValueError for an even number.
    """

    def __init__(
        self,
        num_latent_values,
        periodicity,
        near_integer_threshold=1e-8,
        configuration=StateSpaceModelConfiguration(),  # noqa: B008  a constant
    ):
        if num_latent_values % 2 != 1:
            raise ValueError("Only odd numbers of latent values are supported.")
        self._num_latent_values = num_latent_values
        self._true_periodicity = periodicity
        self._near_integer_threshold = near_integer_threshold
        super().__init__(periodicity=num_latent_values, configuration=configuration)

    def _close_to_integer(self, value):
        value = ops.cast(value, self.dtype)
        return ops.less(ops.abs(value - ops.round(value)), self._near_integer_threshold)

    def transition_to_powers(self, powers):
        count = ops.cast(self._num_latent_values, self.dtype)
        per_step = count / ops.cast(self._true_periodicity, dtype=self.dtype)
        turns = ops.cast(powers, self.dtype) * per_step
        coefficient = (ops.sin(turns * math.pi) / count)[..., None, None]
        size = self._num_latent_values - 1
        indices = ops.reshape(ops.range(size), leading_ones(turns, size))
        floats = ops.cast(indices, self.dtype)
        signs = ops.cast(1 - 2 * (indices % 2), self.dtype)
        rows = 1.0 / ops.sin(math.pi / count * (turns[..., None] - floats - 1))
        differences = floats[..., None, :] - floats[..., None]
        addends = signs[..., None, :] / ops.sin(math.pi / count * (turns[..., None, None] + differences))
        continuous = coefficient * signs[..., None] * (rows[..., None] + addends)
        return ops.where(
            self._close_to_integer(turns),
            super().transition_to_powers(ops.cast(ops.round(turns), dtypes.int64)),
            continuous,
        )

    def transition_power_noise_accumulator(self, num_steps, noise_addition_coefficient=1):
        """The covariances that the noise of several steps adds; whole periods are counted, not summed."""
        whole_periods = super().transition_power_noise_accumulator

        def folded():
            period = ops.cast(self._true_periodicity, self.dtype)
            coefficient = period / ops.cast(self._num_latent_values, self.dtype)
            count = convert_to_tensor(self._num_latent_values, dtype=num_steps.dtype)
            of_period = whole_periods(count, noise_addition_coefficient=coefficient)
            steps = ops.cast(self._true_periodicity, num_steps.dtype)
            periods = ops.cast(num_steps // steps, self.dtype)
            factor = periods[..., None, None]
            ones = ops.ones([ops.rank(periods)], dtype=dtypes.int32)
            found = factor * ops.reshape(of_period, ops.concat([ones, ops.shape(of_period)], axis=0))
            return num_steps % steps, found

        def unfolded():
            size = self._num_latent_values - 1
            shape = ops.concat([ops.shape(num_steps), [size, size]], axis=0)
            return num_steps, ops.zeros(shape, dtype=self.dtype)

        remaining, found = cond(self._whole_period_folding(), folded, unfolded)
        additions = self._power_sum_array(ops.reduce_max(remaining))
        noise = ops.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        return found + noise * ops.gather(additions, indices=remaining)

    def _whole_period_folding(self):
        return ops.logical_and(
            self._close_to_integer(self._true_periodicity),
            ops.greater_equal(self._true_periodicity, self._num_latent_values),
        )

    def _power_sum_array(self, max_remaining_steps):
        """[max_remaining_steps + 1, state, state]: the sums of the noise of so many steps, at unit variance."""
        count = ops.cast(self._num_latent_values, self.dtype)
        per_step = count / ops.cast(self._true_periodicity, dtype=self.dtype)
        turns = ops.cast(ops.range(max_remaining_steps), self.dtype) * per_step
        indices = ops.range(self._num_latent_values - 1)[None, ...]
        floats = ops.cast(indices, self.dtype)

        def cosecant(coefficient):
            return 1.0 / ops.sin(math.pi / count * coefficient)

        shifted = turns[..., None] - floats
        values = cosecant(shifted) + cosecant(shifted - 1.0)
        mesh = values[..., None, :] * values[..., None]
        signs = ops.cast(1 - 2 * ((indices[..., None, :] + indices[..., None]) % 2), self.dtype)

        def discontinuity(value):
            scaled = value / count
            return self._close_to_integer(scaled), ops.cos(scaled * math.pi)

        is_first, first_sign = discontinuity(turns[..., None] - floats)
        is_second, second_sign = discontinuity(turns[..., None] - floats - 1)
        is_one = ops.logical_or(is_first, is_second)
        one_signs = ops.where(is_first, first_sign, second_sign)
        ones = ops.logical_and(is_one[..., None], is_one[..., None, :])
        zeroed = ops.where(self._close_to_integer(turns), ops.zeros_like(mesh), mesh)
        coefficient = ops.sin(math.pi * turns) / count
        masked = ops.where(
            ones,
            one_signs[..., None] * one_signs[..., None, :],
            zeroed * coefficient[..., None, None] ** 2,
        )
        return ops.pad(ops.cumsum(signs * masked), [(1, 0), (0, 0), (0, 0)])
