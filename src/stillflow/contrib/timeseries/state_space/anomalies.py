"""What changes states after observations: StateInterpolatingAnomalyDetector, which trusts odd values less."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.composites.checks import assert_equal
from stillflow.contrib.timeseries.densities import cauchy_log_prob, entropy_matched_cauchy_scale
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public_module
from stillflow.ops.convert import convert_to_tensor

public_module("contrib.timeseries.python.timeseries.state_space_models.filtering_postprocessor")


class FilteringStepPostprocessor(abc.ABC):
    """Changes what an observation has made of a state."""

    @abc.abstractmethod
    def process_filtering_step(self, current_times, current_values, predicted_state, filtered_state, outputs):
        """(the state, {name: output} with those of `output_names`) of a step.

        Args:
          current_times, current_values: of the step, [batch] and [batch, features].
          predicted_state, filtered_state: the states before and after the observation.
          outputs: what was predicted.
        """

    @property
    @abc.abstractmethod
    def output_names(self):
        """The names of outputs that it adds."""


def cauchy_alternative_to_gaussian(current_times, current_values, outputs):
    """The logarithm of the probability [batch] of values under Cauchy's distribution around what was predicted."""
    scale = entropy_matched_cauchy_scale(outputs["covariance"])
    return ops.reduce_sum(cauchy_log_prob(loc=outputs["mean"], scale=scale, x=current_values), axis=1)


def _interpolate_state_linear(first_state, second_state, first_responsibility):
    """A state between two, as much of the first one as [batch] says; what is no real number is the same in both."""
    parts = []
    for first, second in zip(nest.flatten(first_state), nest.flatten(second_state), strict=True):
        assert first.dtype == second.dtype
        if first.dtype.is_floating:
            shape = ops.shape(first_responsibility)
            ones = ops.ones([ops.rank(first) - 1], dtype=dtypes.int32)
            share = ops.reshape(first_responsibility, shape=ops.concat([shape, ones], 0))
            found = share * first + (1.0 - share) * second
            found.set_shape(first.shape)
            parts.append(found)
        else:
            with control_dependencies([assert_equal(first, second)]):
                parts.append(ops.identity(first))
    return nest.pack_sequence_as(first_state, parts)


class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """Takes the less of an observation the more probable it is that it is wrong.

    Args:
      anomaly_log_likelihood: a function of times, values and outputs to the logarithm of the probability of wrong
        values, [batch].
      anomaly_prior_probability: how probable it is that values are wrong.
      responsibility_scaling: how sharply it decides.
    """

    output_names = ["anomaly_score"]

    def __init__(
        self, anomaly_log_likelihood=cauchy_alternative_to_gaussian, anomaly_prior_probability=0.01,
        responsibility_scaling=1.0,
    ):  # fmt: skip
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._responsibility_scaling = responsibility_scaling
        self._anomaly_prior_probability = anomaly_prior_probability

    def process_filtering_step(self, current_times, current_values, predicted_state, filtered_state, outputs):
        wrong = self._anomaly_log_likelihood(
            current_times=current_times, current_values=current_values, outputs=outputs
        )
        prior = convert_to_tensor(self._anomaly_prior_probability, dtype=current_values.dtype)
        wrong += ops.log(prior)
        usual = outputs["log_likelihood"] + ops.log(1.0 - prior)
        odds = wrong - usual
        share = ops.sigmoid(-self._responsibility_scaling * odds)
        state = _interpolate_state_linear(filtered_state, predicted_state, share)
        outputs["loss"] = -(share * usual + (1.0 - share) * wrong)
        outputs["anomaly_score"] = odds
        return state, outputs
