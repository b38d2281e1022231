"""StateSpaceModel: the steps of models whose state is normally distributed."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.contrib.layers.dense import fully_connected
from stillflow.contrib.timeseries.continuations import parameter_switch
from stillflow.contrib.timeseries.covariances import clip_covariance, transform_to_covariance_matrices
from stillflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from stillflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from stillflow.contrib.timeseries.state_space.parameters import StateSpaceParameters
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver.saved_model.modes import EstimatorModeKeys
from stillflow.variables.scope import variable_scope

__all__ = ["StateSpaceModel", "StateSpaceModelConfiguration"]


@public("contrib.timeseries.python.timeseries.state_space_models.state_space_model.StateSpaceModel")
class StateSpaceModel(StateSpaceParameters):
    """A model whose state is a mean, a covariance and a time, which a Kalman filter moves on.

    Descendants say what a step does: see get_state_transition, get_noise_transform and get_observation_model.
    """

    # ---- Steps that are missing -----------------------------------------------------------------------------

    def _window_initializer(self, times, state):
        """Computes the transitions over all gaps that a window has."""
        _, _, state_times = state
        times = convert_to_tensor(times)
        state_times = convert_to_tensor(state_times)
        inside = ops.reshape(times[:, 1:] - times[:, :-1], [-1])
        before = ops.maximum(times[:, 0] - state_times, 0)
        gaps, _ = ops.unique(ops.concat([inside, before], axis=0))
        self._window_power_sums = self.transition_power_noise_accumulator(gaps)
        self._window_transition_powers = self.transition_to_powers(gaps)
        self._window_gap_sizes = gaps

    def _lookup_window_caches(self, caches, indices):
        """What was computed for gaps [batch], of each of several caches."""
        sizes = self._window_gap_sizes
        _, ids = ops.unique(ops.concat([sizes, ops.cast(indices, sizes.dtype)], axis=0))
        found = []
        for cache in caches:
            rows = ops.gather(cache, ids[-ops.shape(indices)[0] :])
            rows.set_shape(indices.shape.concatenate(rows.shape[-2:]))
            found.append(rows)
        return found

    def _cached_transition_powers_and_sums(self, num_steps):
        return self._lookup_window_caches([self._window_transition_powers, self._window_power_sums], num_steps)

    def _imputation_step(self, current_times, state):
        mean, covariance, times = state
        gap = ops.maximum(current_times - times, 0)
        transitions, noises = self._cached_transition_powers_and_sums(gap)
        mean = self._kalman_filter.predict_state_mean(mean, transitions)
        covariance = self._kalman_filter.predict_state_var(covariance, transitions, noises)
        return mean, covariance, times + gap

    # ---- Steps ----------------------------------------------------------------------------------------------

    def _prediction_step(self, current_times, state):
        mean, covariance, times = state
        check = assert_that(
            ops.reduce_all(ops.less_equal(current_times, times)), ["Attempted to predict without imputation"]
        )
        with control_dependencies([check]):
            observed, variance = self._kalman_filter.observed_from_state(
                state_mean=mean,
                state_var=covariance,
                observation_model=self.get_broadcasted_observation_model(current_times),
                observation_noise=self._observation_noise_covariance,
            )
        size = (self.num_features,)
        observed.set_shape(current_times.shape.concatenate(size))
        variance.set_shape(current_times.shape.concatenate(size * 2))
        return (mean, covariance, current_times), {"mean": observed, "covariance": variance}

    def _filtering_step(self, current_times, current_values, state, predictions):
        mean, covariance, times = state
        settings = self._configuration
        observation_model = self.get_broadcasted_observation_model(current_times)
        check = assert_that(
            ops.reduce_all(ops.equal(current_times, times)),
            ["Attempted to perform filtering without imputation/prediction"],
        )
        with control_dependencies([check]):
            covariance = clip_covariance(
                covariance,
                settings.filtering_maximum_posterior_variance_ratio,
                settings.filtering_minimum_posterior_variance,
            )
            mean, covariance, log_probability = self._kalman_filter.do_filter(
                estimated_state=mean,
                estimated_state_covariance=covariance,
                predicted_observation=predictions["mean"],
                predicted_observation_covariance=predictions["covariance"],
                observation=current_values,
                observation_model=observation_model,
                observation_noise=self._observation_noise_covariance,
            )
        filtered = (mean, covariance, current_times)
        log_probability.set_shape(current_times.shape)
        predictions["loss"] = -log_probability
        predictions["log_likelihood"] = log_probability
        if settings.filtering_postprocessor is None:
            return filtered, predictions
        return settings.filtering_postprocessor.process_filtering_step(
            current_times=current_times,
            current_values=current_values,
            predicted_state=state,
            filtered_state=filtered,
            outputs=predictions,
        )

    def _scale_back_predictions(self, predictions):
        predictions["mean"] = self._scale_back_data(predictions["mean"])
        predictions["covariance"] = self._scale_back_variance(predictions["covariance"])
        return predictions

    def _loss_additions(self, times, values, mode):
        settings = self._configuration
        if mode != EstimatorModeKeys.TRAIN:
            return ops.zeros([], dtype=self.dtype)
        if self._input_statistics is not None and settings.bayesian_prior_weighting:
            count = self._input_statistics.total_observation_count
        else:
            count = ops.shape(times)[1]
        weight = 1.0 / ops.cast(count, self.dtype)

        def prior(covariance):
            return convert_to_tensor(settings.covariance_prior_fn(covariance), dtype=self.dtype)

        total = prior(self.state_transition_noise_covariance)
        if settings.use_observation_noise and self._observation_noise_covariance is not None:
            total += prior(self._observation_noise_covariance)
        return -weight * total

    # ---- Other features -------------------------------------------------------------------------------------

    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        if self._configuration.exogenous_noise_decreases:
            state = self._exogenous_noise_decreasing(current_times, current_exogenous_regressors, state)
        if self._configuration.exogenous_noise_increases:
            state = self._exogenous_noise_increasing(current_times, current_exogenous_regressors, state)
        return state

    def _exogenous_noise_decreasing(self, current_times, exogenous_values, state):
        """The state after an observation of itself that a layer makes of other features."""
        mean, covariance, times = state
        transition = convert_to_tensor(self.get_state_transition(), dtype=self.dtype)
        size = dimension_value(transition.shape[0])
        observation_model = ops.eye(size, batch_shape=ops.shape(exogenous_values)[:-1], dtype=self.dtype)
        with variable_scope("exogenous_noise_decreasing_covariance"):
            noise = transform_to_covariance_matrices(exogenous_values, size)
        with variable_scope("exogenous_noise_decreasing_observation"):
            observation = fully_connected(exogenous_values, size, activation_fn=None)
        mean, covariance = self._kalman_filter.posterior_from_prior_state(
            prior_state=mean,
            prior_state_var=covariance,
            observation=observation,
            observation_model=observation_model,
            predicted_observations=(mean, noise + covariance),
            observation_noise=noise,
        )
        return mean, covariance, times

    def _exogenous_noise_increasing(self, current_times, exogenous_values, state):
        """The state to which what layers make of other features is added."""
        mean, covariance, times = state
        with variable_scope("exogenous_noise_increasing_mean"):
            more = fully_connected(exogenous_values, dimension_value(mean.shape[1]), activation_fn=None)
        size = dimension_value(covariance.shape[1])
        with variable_scope("exogenous_noise_increasing_covariance"):
            noise = transform_to_covariance_matrices(exogenous_values, size)
        return mean + more, covariance + noise, times

    # ---- Series that are made up ----------------------------------------------------------------------------

    def generate(self, number_of_series, series_length, model_parameters=None, seed=None, add_observation_noise=None):
        """{"times": [series, steps], "values": [series, steps, 1]} that numpy draws, in the default session.

        Args:
          number_of_series, series_length: how many series of how many steps.
          model_parameters: {tensor: value} of parameters; by default those of the session.
          seed: of numpy's generator.
          add_observation_noise: whether observations have noise; by default as the model says.

        Raises NotImplementedError for several features.
        """
        if seed is not None:
            np.random.seed(seed)
        self._check_is_univariate()
        if add_observation_noise is None:
            add_observation_noise = self._configuration.use_observation_noise
        feeds = model_parameters or {}
        value_of = parameter_switch(feeds)
        transition = convert_to_tensor(self.get_state_transition(), dtype=self.dtype).eval(feed_dict=feeds)
        transform = convert_to_tensor(self.get_noise_transform()).eval(feed_dict=feeds)
        deviations = np.sqrt(np.diag(value_of(self.state_transition_noise_covariance)))
        noise: Any = None
        if add_observation_noise:
            noise = np.sqrt(value_of(self._observation_noise_covariance)[0][0])
        state = np.tile(np.expand_dims(value_of(self.prior_state_mean), 0), [number_of_series, 1])
        values = np.zeros([number_of_series, series_length])
        models = self.get_broadcasted_observation_model(times=ops.range(series_length)).eval(feed_dict=feeds)
        for step, model in enumerate(models):
            change = np.random.normal(
                loc=np.zeros([number_of_series, transform.shape[1]]),
                scale=np.tile(np.expand_dims(deviations, 0), [number_of_series, 1]),
            )
            state = np.dot(state, transition.T) + np.dot(change, transform.T)
            mean = np.dot(state, model[0].T)
            values[:, step] = np.random.normal(loc=mean, scale=noise) if add_observation_noise else mean
        times = np.tile(np.expand_dims(np.arange(series_length), 0), [number_of_series, 1])
        return {TrainEvalFeatures.TIMES: times, TrainEvalFeatures.VALUES: np.expand_dims(values, -1)}
