"""StateSpaceModelConfiguration: the settings of state space models."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow.contrib.timeseries.densities import log_noninformative_covariance_prior
from stillflow.graph import dtypes
from stillflow.names import public


class _Configuration(NamedTuple):
    num_features: int
    use_observation_noise: bool
    dtype: Any
    covariance_prior_fn: Any
    bayesian_prior_weighting: bool
    filtering_postprocessor: Any
    trainable_start_state: bool
    exogenous_noise_increases: bool
    exogenous_noise_decreases: bool
    exogenous_feature_columns: Any
    exogenous_update_condition: Any
    filtering_maximum_posterior_variance_ratio: float
    filtering_minimum_posterior_variance: float
    transition_covariance_initial_log_scale_bias: float
    static_unrolling_window_size_threshold: int | None


@public("contrib.timeseries.python.timeseries.state_space_models.state_space_model.StateSpaceModelConfiguration")
class StateSpaceModelConfiguration(_Configuration):
    """The settings of a state space model.

    Args:
      num_features: how many values a step has.
      use_observation_noise: whether observations have noise of their own.
      dtype: the type of values.
      covariance_prior_fn: a function of a covariance to the logarithm of its prior, which is added to the loss.
      bayesian_prior_weighting: whether that counts less the more steps a series has.
      filtering_postprocessor: changes what an observation has made of a state, or None.
      trainable_start_state: whether the state before a series is trained.
      exogenous_noise_increases: whether other features add to the state and its covariance.
      exogenous_noise_decreases: whether they are observations that make it smaller.
      exogenous_feature_columns, exogenous_update_condition: see SequentialTimeSeriesModel.
      filtering_maximum_posterior_variance_ratio: how many times as great one variance of a state may be as another.
      filtering_minimum_posterior_variance: the least variance of a state.
      transition_covariance_initial_log_scale_bias: the logarithm of what noise of transitions begins with, against
        that of observations.
      static_unrolling_window_size_threshold: see SequentialTimeSeriesModel.
    """

    __slots__ = ()

    def __new__(
        cls, num_features=1, use_observation_noise=True, dtype=dtypes.float32,
        covariance_prior_fn=log_noninformative_covariance_prior, bayesian_prior_weighting=True,
        filtering_postprocessor=None, trainable_start_state=False, exogenous_noise_increases=True,
        exogenous_noise_decreases=False, exogenous_feature_columns=None, exogenous_update_condition=None,
        filtering_maximum_posterior_variance_ratio=1e6, filtering_minimum_posterior_variance=0.0,
        transition_covariance_initial_log_scale_bias=-5.0, static_unrolling_window_size_threshold=None,
    ):  # fmt: skip
        return super().__new__(
            cls, num_features, use_observation_noise, dtype, covariance_prior_fn, bayesian_prior_weighting,
            filtering_postprocessor, trainable_start_state, exogenous_noise_increases, exogenous_noise_decreases,
            [] if exogenous_feature_columns is None else exogenous_feature_columns, exogenous_update_condition,
            filtering_maximum_posterior_variance_ratio, filtering_minimum_posterior_variance,
            transition_covariance_initial_log_scale_bias, static_unrolling_window_size_threshold,
        )  # fmt: skip
