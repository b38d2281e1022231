"""AdderStateSpaceModel: a level, and a trend that is added to it in each step."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from stillflow.contrib.timeseries.state_space.model import StateSpaceModel
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope


@public("contrib.timeseries.python.timeseries.state_space_models.level_trend.AdderStateSpaceModel")
class AdderStateSpaceModel(StateSpaceModel):
    """A model with a level and a trend, both of which change by noise.

    Args:
      use_level_noise: whether the level has noise of its own.
      configuration: a StateSpaceModelConfiguration.
    """

    def __init__(self, use_level_noise=True, configuration=StateSpaceModelConfiguration()):  # noqa: B008  a constant
        self.use_level_noise = use_level_noise
        super().__init__(configuration=configuration)

    def get_prior_mean(self):
        with variable_scope(self._variable_scope):
            if self._input_statistics is None:
                return super().get_prior_mean()
            level = ops.reduce_mean(self._scale_data(self._input_statistics.series_start_moments.mean))
            initial = ops.stack([level, 0.0])
            return initial + get_variable(
                "prior_state_mean",
                shape=initial.shape,
                initializer=Zeros(),
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def transition_to_powers(self, powers):
        unpadded = ops.zeros([ops.rank(powers), 2], dtype=dtypes.int32)
        paddings = ops.concat([unpadded, [(0, 1), (1, 0)]], axis=0)
        corner = ops.pad(powers[..., None, None], paddings=paddings)
        return ops.eye(2, batch_shape=ops.shape(powers), dtype=self.dtype) + ops.cast(corner, self.dtype)

    def transition_power_noise_accumulator(self, num_steps):
        num_steps = ops.cast(num_steps, self.dtype)
        transitions = num_steps - 1
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = ops.matmul(ops.matmul(transform, self.state_transition_noise_covariance), transform, adjoint_b=True)
        a, b, c, d = ops.unstack(ops.reshape(noise, [-1, 4]), axis=1)
        sums = transitions * (transitions + 1) / 2
        squares = sums * (2 * transitions + 1) / 3
        values = (
            num_steps * a + sums * (b + c) + squares * d,
            num_steps * b + sums * d,
            num_steps * c + sums * d,
            num_steps * d,
        )
        return ops.reshape(ops.stack(values, axis=1), ops.concat([ops.shape(num_steps), [2, 2]], axis=0))

    def get_state_transition(self):
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self):
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times):
        return constant([1.0, 0.0], dtype=self.dtype)
