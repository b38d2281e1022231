"""VARMA: values, and noise, that go on for some steps, of several features."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.contrib.timeseries.covariances import variable_covariance_matrix
from stillflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from stillflow.contrib.timeseries.state_space.model import StateSpaceModel
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope


@public("contrib.timeseries.python.timeseries.state_space_models.varma.VARMA")
class VARMA(StateSpaceModel):
    """A vector autoregressive moving average model.

    Args:
      autoregressive_order: of how many steps before a step's values are made.
      moving_average_order: of the noise of how many steps before.
      configuration: a StateSpaceModelConfiguration.
    """

    def __init__(
        self,
        autoregressive_order,
        moving_average_order,
        configuration=StateSpaceModelConfiguration(),  # noqa: B008  a constant
    ):
        self.ar_order = autoregressive_order
        self.ma_order = moving_average_order
        self.state_num_blocks = max(autoregressive_order, moving_average_order + 1)
        super().__init__(configuration=configuration)
        self.state_dimension = self.state_num_blocks * self.num_features

    def _define_parameters(self, observation_transition_tradeoff_log=None):
        with variable_scope(self._variable_scope):
            self.ar_coefs = get_variable(
                "ar_coefs",
                shape=[self.num_features, self.num_features, self.ar_order],
                dtype=self.dtype,
                initializer=Zeros(),
            )
            identity = ops.eye(self.num_features, dtype=self.dtype)[None, :, :]
            initial = ops.tile(identity, [self.ma_order, 1, 1])
            self.ma_coefs = get_variable("ma_coefs", initializer=initial, dtype=self.dtype)
        super()._define_parameters(observation_transition_tradeoff_log)

    def get_state_transition(self):
        paddings = [[0, 0], [0, 0], [0, self.state_num_blocks - self.ar_order]]
        padded = ops.reshape(ops.pad(self.ar_coefs, paddings), [self.num_features, self.state_dimension])
        identity = ops.eye((self.state_num_blocks - 1) * self.num_features, dtype=self.dtype)
        shift = ops.pad(identity, [[0, 0], [0, self.num_features]])
        return ops.concat([padded, shift], axis=0)

    def get_noise_transform(self):
        rows = self.state_num_blocks - 1
        padded = ops.reshape(
            ops.pad(self.ma_coefs, [[rows - self.ma_order, 0], [0, 0], [0, 0]]),
            [rows * self.num_features, self.num_features],
            name="noise_transform",
        )
        return ops.concat([padded, ops.eye(self.num_features, dtype=self.dtype)], axis=0)

    def get_observation_model(self, times):
        name = "observation_model"
        if self.ar_order > self.ma_order or self.state_num_blocks < 2:
            paddings = [[0, 0], [0, self.num_features * (self.state_num_blocks - 1)]]
            return ops.pad(ops.eye(self.num_features, dtype=self.dtype), paddings, name=name)
        paddings = [[0, 0], [0, self.num_features * (self.state_num_blocks - 2)]]
        first = ops.pad(ops.eye(self.num_features, dtype=self.dtype), paddings)
        return ops.concat([first, ops.eye(self.num_features, dtype=self.dtype)], axis=1, name=name)

    def get_state_transition_noise_covariance(self, minimum_initial_variance=1e-5):
        scale: Any = 0.0
        if self._input_statistics is not None:
            variances = self._scale_variance(self._input_statistics.series_start_moments.variance)
            scale = ops.log(ops.maximum(ops.reduce_mean(variances), minimum_initial_variance))
        transform = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype)
        return variable_covariance_matrix(
            dimension_value(transform.shape[1]),
            "state_transition_noise",
            dtype=self.dtype,
            initial_overall_scale_log=scale,
        )
