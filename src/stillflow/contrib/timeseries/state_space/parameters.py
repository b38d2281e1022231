"""The parameters of state space models: covariances of noise, and the state before a series."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.contrib.timeseries.covariances import variable_covariance_matrix
from stillflow.contrib.timeseries.matrices import matrix_to_powers, power_sums_tensor
from stillflow.contrib.timeseries.sequential_models import SequentialTimeSeriesModel
from stillflow.contrib.timeseries.state_space.kalman_filter import KalmanFilter
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.ops.array.constant import constant
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.scope import get_variable_scope, variable_scope


class StateSpaceParameters(SequentialTimeSeriesModel):
    """A model with a state that transitions move on, noise is added to, and observations are made of.

    Args:
      configuration: a StateSpaceModelConfiguration.
    """

    def __init__(self, configuration):
        self._configuration = configuration
        postprocessor = configuration.filtering_postprocessor
        more_names = [] if postprocessor is None else postprocessor.output_names
        super().__init__(
            train_output_names=["mean", "covariance", "log_likelihood", *more_names],
            predict_output_names=["mean", "covariance"],
            num_features=configuration.num_features,
            normalize_features=True,
            dtype=configuration.dtype,
            exogenous_feature_columns=configuration.exogenous_feature_columns,
            exogenous_update_condition=configuration.exogenous_update_condition,
            static_unrolling_window_size_threshold=configuration.static_unrolling_window_size_threshold,
        )
        self._kalman_filter: Any = None
        self.prior_state_mean: Any = None
        self.prior_state_var: Any = None
        self.state_transition_noise_covariance: Any = None
        self._observation_noise_covariance: Any = None
        self._variable_scope = get_variable_scope()

    # ---- What a model is ------------------------------------------------------------------------------------

    @abc.abstractmethod
    def get_state_transition(self):
        """The matrix [state, state] of a step."""

    @abc.abstractmethod
    def get_noise_transform(self):
        """The matrix [state, noise] that makes a change of the state of a step's noise."""

    @abc.abstractmethod
    def get_observation_model(self, times):
        """What makes observations of the state: [state], [features, state] or [batch, features, state]."""

    def get_features_for_timesteps(self, timesteps):
        """Features of times, [batch, 0]: there are none."""
        return ops.zeros([ops.shape(timesteps)[0], 0], dtype=self.dtype)

    def get_broadcasted_observation_model(self, times):
        """The observation model for each row of a batch, [batch, features, state]."""
        model = convert_to_tensor(self.get_observation_model(times), dtype=self.dtype)
        shape = model.shape.with_rank_at_least(1).with_rank_at_most(3)
        if shape.ndims is None:
            check = assert_that(ops.equal(ops.rank(model), 3), [ops.shape(model)])
            with control_dependencies([check]):
                return ops.identity(model)
        if shape.ndims == 1:
            row = ops.reshape(model, shape=[1, 1, -1])
            model = ops.tile(row, [ops.shape(times)[0], self.num_features, 1])
        elif shape.ndims == 2:
            model = ops.tile(ops.expand_dims(model, axis=0), [ops.shape(times)[0], 1, 1])
        model.shape.assert_has_rank(3)
        return model

    def transition_to_powers(self, powers):
        """[count, state, state]: the transitions of several steps at once, as [count] says."""
        return matrix_to_powers(convert_to_tensor(self.get_state_transition(), dtype=self.dtype), powers)

    def transition_power_noise_accumulator(self, num_steps):
        """[count, state, state]: the covariances that the noise of several steps adds, as [count] says."""
        transform = convert_to_tensor(self.get_noise_transform(), self.dtype)
        noise = ops.matmul(ops.matmul(transform, self.state_transition_noise_covariance), transform, transpose_b=True)
        sums = power_sums_tensor(
            ops.reduce_max(num_steps) + 1, convert_to_tensor(self.get_state_transition(), dtype=self.dtype), noise
        )
        return ops.gather(sums, indices=num_steps)

    # ---- Variables ------------------------------------------------------------------------------------------

    def initialize_graph(self, input_statistics=None):
        self._set_input_statistics(input_statistics=input_statistics)
        self._define_parameters()
        with variable_scope(self._variable_scope):
            self._observation_noise_covariance = convert_to_tensor(
                self.get_observation_noise_covariance(), dtype=self.dtype
            )
        self._kalman_filter = KalmanFilter(dtype=self.dtype)
        self.prior_state_mean, self.prior_state_var = self._make_priors()

    def _set_input_statistics(self, input_statistics=None):
        super().initialize_graph(input_statistics=input_statistics)

    def _variable_observation_transition_tradeoff_log(self):
        bias = self._configuration.transition_covariance_initial_log_scale_bias
        initial = constant(-bias, dtype=self.dtype)
        return get_variable("observation_transition_tradeoff_log_scale", initializer=initial, dtype=self.dtype)

    def _define_parameters(self, observation_transition_tradeoff_log=None):
        with variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = self._variable_observation_transition_tradeoff_log()
            self._observation_transition_tradeoff_log_scale = observation_transition_tradeoff_log
            self.state_transition_noise_covariance = self.get_state_transition_noise_covariance()

    def _make_priors(self):
        covariance = self.get_prior_covariance()
        return self.get_prior_mean(), covariance

    def get_prior_covariance(self):
        """The covariance of the state before a series, [state, state]."""
        with variable_scope(self._variable_scope):
            size = convert_to_tensor(self.get_state_transition()).shape.dims[0].value
            if not self._configuration.trainable_start_state:
                return ops.eye(size, dtype=self.dtype)
            covariance = variable_covariance_matrix(size, "prior_state_var", dtype=self.dtype)
            if self._input_statistics is None:
                return covariance
            variances = self._scale_variance(self._input_statistics.series_start_moments.variance)
            return covariance * ops.maximum(ops.reduce_max(variances), 1.0)

    def get_prior_mean(self):
        """The mean of the state before a series, [state]."""
        with variable_scope(self._variable_scope):
            transition = convert_to_tensor(self.get_state_transition(), dtype=self.dtype)
            return get_variable(
                "prior_state_mean",
                shape=[transition.shape.dims[0].value],
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def get_state_transition_noise_covariance(self, minimum_initial_variance=1e-5):
        """The covariance of a step's noise, [noise, noise], with a least variance to begin with."""
        transform = convert_to_tensor(self.get_noise_transform(), dtype=self.dtype)
        size = transform.shape.dims[1].value
        scale: Any = 0.0
        if self._input_statistics is not None:
            variances = self._scale_variance(self._input_statistics.series_start_moments.variance)
            variance = ops.reduce_mean(variances)
            steps = ops.cast(self._input_statistics.total_observation_count, self.dtype)
            scale = ops.log(ops.maximum(variance / steps, minimum_initial_variance))
        scale -= self._observation_transition_tradeoff_log_scale
        return variable_covariance_matrix(
            size, "state_transition_noise", dtype=self.dtype, initial_overall_scale_log=scale
        )

    def get_observation_noise_covariance(self, minimum_initial_variance=1e-5):
        """The covariance of an observation's noise, [features, features], with a least variance to begin with."""
        name = "observation_noise_covariance"
        if not self._configuration.use_observation_noise:
            return ops.zeros(shape=[self.num_features, self.num_features], name=name, dtype=self.dtype)
        variances = None
        if self._input_statistics is not None:
            scaled = self._scale_variance(self._input_statistics.series_start_moments.variance)
            variances = ops.maximum(scaled, minimum_initial_variance)
        return variable_covariance_matrix(
            self.num_features,
            name,
            dtype=self.dtype,
            initial_diagonal_values=variances,
            initial_overall_scale_log=self._observation_transition_tradeoff_log_scale,
        )

    def get_start_state(self):
        """(the mean [state], the covariance [state, state], the time) before a series."""
        if self._input_statistics is None:
            time = ops.zeros([], dtype=dtypes.int64)
        else:
            time = self._input_statistics.start_time
        return self.prior_state_mean, self.prior_state_var, time - 1

    def random_model_parameters(self, seed=None):
        """{tensor: array} of parameters that are drawn by numpy, to generate series with.

        Raises NotImplementedError for several features.
        """
        self._check_is_univariate()
        if seed:
            np.random.seed(seed)
        states, noises = convert_to_tensor(self.get_noise_transform()).shape.as_list()
        variances = 1.0 / np.random.gamma(shape=10.0, scale=10.0, size=[noises])
        mean = np.random.normal(size=[states])
        found: dict = {}
        if self.prior_state_mean is not None:
            found[self.prior_state_mean] = mean
        if self.state_transition_noise_covariance is not None:
            found[self.state_transition_noise_covariance] = np.diag(variances)
        if self.prior_state_var is not None:
            found[self.prior_state_var] = np.zeros([states, states])
        if self._configuration.use_observation_noise:
            found[self._observation_noise_covariance] = [[1.0 / np.random.gamma(shape=4, scale=4)]]
        return found

    def _check_is_univariate(self):
        if self.num_features != 1:
            raise NotImplementedError("Generation for multivariate state space models is not currently implemented.")
