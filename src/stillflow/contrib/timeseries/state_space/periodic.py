"""CycleStateSpaceModel: a number for each step of a period, which sum to zero."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from stillflow.contrib.timeseries.state_space.model import StateSpaceModel
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def leading_ones(tensor, *sizes):
    """The shape [1, ..., 1, *sizes] with as many ones as a tensor has dimensions."""
    return ops.concat([ops.ones([ops.rank(tensor)], dtype=dtypes.int32), list(sizes)], axis=0)


@public("contrib.timeseries.python.timeseries.state_space_models.periodic.CycleStateSpaceModel")
class CycleStateSpaceModel(StateSpaceModel):
    """A model of a period of whole steps. Its state has a number less than these, the last one follows from them.

    Args:
      periodicity: how many steps a period has.
      configuration: a StateSpaceModelConfiguration.
    """

    def __init__(self, periodicity, configuration=StateSpaceModelConfiguration()):  # noqa: B008  a constant
        self._periodicity = periodicity
        super().__init__(configuration=configuration)

    def get_state_transition(self):
        return self.transition_to_powers(ops.ones([], dtype=dtypes.int32))

    def get_noise_transform(self):
        return ops.pad(ops.ones([1], dtype=self.dtype), paddings=[(0, self._periodicity - 2)])[..., None]

    def get_observation_model(self, times):
        zeros = [self._periodicity - 2]
        return ops.concat([ops.ones([1], dtype=self.dtype), ops.zeros(zeros, dtype=self.dtype)], axis=0)

    def transition_to_powers(self, powers):
        powers %= self._periodicity
        size = self._periodicity - 1
        indices = ops.reshape(ops.range(size, dtype=powers.dtype), leading_ones(powers, size))
        is_negative = ops.equal(indices + 1, powers[..., None])
        shape = ops.shape(is_negative)
        negatives = ops.where(
            is_negative, -ops.ones(shape=shape, dtype=self.dtype), ops.zeros(shape, dtype=self.dtype)
        )
        distances = indices[..., None] - indices[..., None, :]
        is_one = ops.equal(distances % self._periodicity, powers[..., None, None])
        ones = ops.where(
            is_one, ops.ones(ops.shape(is_one), dtype=self.dtype), ops.zeros(ops.shape(is_one), dtype=self.dtype)
        )
        return ops.cast(ones + negatives[..., None], self.dtype)

    def transition_power_noise_accumulator(self, num_steps, noise_addition_coefficient=1):
        """The covariances that the noise of several steps adds, times a coefficient."""
        noise = ops.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        period = self._periodicity
        phases = ops.reshape(ops.range(period, dtype=num_steps.dtype), leading_ones(num_steps, period))
        remaining = (phases - (num_steps[..., None] - 1)) % period
        coefficient = convert_to_tensor(noise_addition_coefficient, self.dtype)[..., None] * noise
        counts = (num_steps[..., None] + remaining) // period
        additions = coefficient * ops.cast(counts, dtype=self.dtype)
        matrix = ops.matrix_diag(additions)
        upper = ops.concat([ops.zeros_like(matrix[..., :-1, 0:1]), -matrix[..., :-1, 0:-2]], axis=-1)
        lower = ops.concat([ops.zeros_like(matrix[..., 0:1, :-1]), -matrix[..., 0:-2, :-1]], axis=-2)
        rotated = ops.concat([additions[..., -1:], additions[..., :-2]], axis=-1)
        return ops.matrix_diag(additions[..., :-1] + rotated) + lower + upper
