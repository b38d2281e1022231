"""KalmanFilter: how observations change a state that is normally distributed."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_that, verify_tensor_all_finite
from stillflow.contrib.timeseries.densities import mvn_tril_log_prob
from stillflow.contrib.timeseries.matrices import batch_times_matrix
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor

_UNSTABLE = (
    "This may occur due to numerically unstable filtering when there is a large difference in posterior variances, "
    "or when inferences are near-deterministic. Considering tuning the 'filtering_maximum_posterior_variance_ratio' "
    "or 'filtering_minimum_posterior_variance' parameters in your StateSpaceModelConfiguration, or tuning the "
    "transition matrix."
)


@public("contrib.timeseries.python.timeseries.state_space_models.kalman_filter.KalmanFilter")
class KalmanFilter:
    """Moves means [batch, state] and covariances [batch, state, state] on.

    Args:
      dtype: their type.
      simplified_posterior_covariance_computation: whether covariances are computed in a way that is faster, and less
        stable.
    """

    def __init__(self, dtype=dtypes.float32, simplified_posterior_covariance_computation=False):
        self._is_simplified = simplified_posterior_covariance_computation
        self.dtype = dtype

    def do_filter(
        self, estimated_state, estimated_state_covariance, predicted_observation, predicted_observation_covariance,
        observation, observation_model, observation_noise,
    ):  # fmt: skip
        """(the mean, the covariance after an observation, the logarithm of its probability [batch]).

        Args:
          estimated_state, estimated_state_covariance: those before it.
          predicted_observation, predicted_observation_covariance: what `observed_from_state` makes of them.
          observation: [batch, features].
          observation_model: [batch, features, state].
          observation_noise: the covariance of noise, [features, features], also for each row of a batch.
        """
        covariance = 0.5 * (predicted_observation_covariance + ops.matrix_transpose(predicted_observation_covariance))
        covariance = verify_tensor_all_finite(
            covariance, f"Predicted observation covariance was not finite. {_UNSTABLE}"
        )
        least = ops.reduce_min(ops.matrix_diag_part(covariance))
        is_positive = assert_that(
            least >= 0.0,
            [f"The predicted observation covariance has a negative diagonal entry. {_UNSTABLE}", least],
        )
        with control_dependencies([is_positive]):
            factor = ops.cholesky(covariance)
        log_probability = mvn_tril_log_prob(loc=predicted_observation, scale_tril=factor, x=observation)
        mean, covariance = self.posterior_from_prior_state(
            prior_state=estimated_state,
            prior_state_var=estimated_state_covariance,
            observation=observation,
            observation_model=observation_model,
            predicted_observations=(predicted_observation, predicted_observation_covariance),
            observation_noise=observation_noise,
        )
        return mean, covariance, log_probability

    def predict_state_mean(self, prior_state, transition_matrices):
        """The mean [batch, state] after transitions [batch, state, state]."""
        return ops.squeeze(ops.matmul(transition_matrices, prior_state[..., None]), axis=[-1])

    def predict_state_var(self, prior_state_var, transition_matrices, transition_noise_sums):
        """The covariance after transitions, to which noise is added, each [batch, state, state]."""
        moved = ops.matmul(ops.matmul(transition_matrices, prior_state_var), transition_matrices, adjoint_b=True)
        return moved + transition_noise_sums

    def posterior_from_prior_state(
        self, prior_state, prior_state_var, observation, observation_model, predicted_observations, observation_noise
    ):
        """(the mean, the covariance) after an observation; see do_filter."""
        observed_mean, observed_var = predicted_observations
        residual = observation - observed_mean
        right = ops.matmul(observation_model, prior_state_var, adjoint_b=True)
        gain = ops.matrix_solve(matrix=observed_var, rhs=right, adjoint=True)
        change = ops.squeeze(ops.matmul(gain, ops.expand_dims(residual, -1), adjoint_a=True), axis=[-1])
        mean = prior_state + change
        gained = ops.matmul(gain, observation_model, adjoint_a=True)
        factor = ops.eye(ops.shape(gained)[1], dtype=gained.dtype)[None] - gained
        if self._is_simplified:
            return mean, ops.matmul(factor, prior_state_var)
        noise = convert_to_tensor(observation_noise)
        left = ops.matmul(factor, prior_state_var)
        unobserved = ops.matmul(factor, left, adjoint_b=True)

        def with_noises():
            return unobserved + ops.matmul(ops.matmul(gain, noise, adjoint_a=True), gain)

        def with_noise():
            return unobserved + ops.matmul(batch_times_matrix(gain, noise, adj_x=True), gain)

        rank = noise.shape.ndims
        if rank is None:
            return mean, cond(ops.equal(ops.rank(noise), 2), with_noise, with_noises)
        return mean, with_noise() if rank == 2 else with_noises()

    def observed_from_state(self, state_mean, state_var, observation_model, observation_noise):
        """(the mean [batch, features], the covariance [batch, features, features]) of an observation of a state."""
        mean = ops.squeeze(ops.matmul(ops.expand_dims(state_mean, 1), observation_model, adjoint_b=True), axis=[1])
        covariance = ops.matmul(ops.matmul(observation_model, state_var), observation_model, adjoint_b=True)
        covariance += observation_noise
        return mean, covariance
