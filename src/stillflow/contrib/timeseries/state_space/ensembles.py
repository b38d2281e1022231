"""Models that are made of several, whose states lie side by side."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.timeseries.matrices import block_diagonal
from stillflow.contrib.timeseries.state_space.model import StateSpaceModel
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.scope import variable_scope


@public("contrib.timeseries.python.timeseries.state_space_models.state_space_model.StateSpaceEnsemble")
class StateSpaceEnsemble(StateSpaceModel):
    """A model whose observations are the sums of those of its members.

    Args:
      ensemble_members: a list of StateSpaceModels.
      configuration: a StateSpaceModelConfiguration.
    """

    def __init__(self, ensemble_members, configuration):
        self._ensemble_members = ensemble_members
        super().__init__(configuration=configuration)

    def _set_input_statistics(self, input_statistics=None):
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _loss_additions(self, times, values, mode):
        own = super()._loss_additions(times, values, mode)
        return own + ops.add_n([member._loss_additions(times, values, mode) for member in self._ensemble_members])

    def _compute_blocked(self, member_fn, name):
        """A matrix with those of the members along its diagonal."""
        with variable_scope(self._variable_scope):
            matrices = [member_fn(member) for member in self._ensemble_members]
            return block_diagonal(matrices, dtype=self.dtype, name=name)

    def _define_parameters(self, observation_transition_tradeoff_log=None):
        with variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = self._variable_observation_transition_tradeoff_log()
            for member in self._ensemble_members:
                member._define_parameters(observation_transition_tradeoff_log)
            super()._define_parameters(observation_transition_tradeoff_log)

    def random_model_parameters(self, seed=None):
        found = {}
        for number, member in enumerate(self._ensemble_members):
            found.update(member.random_model_parameters(seed=seed + number if seed else None))
        found.update(super().random_model_parameters(seed=seed))
        return found

    def transition_to_powers(self, powers):
        return self._compute_blocked(
            lambda member: member.transition_to_powers(powers), "ensemble_transition_to_powers"
        )

    def get_prior_mean(self):
        means = [member.get_prior_mean() for member in self._ensemble_members]
        return ops.concat(means, axis=0, name="ensemble_prior_state_mean")

    def get_state_transition(self):
        return self._compute_blocked(lambda member: member.get_state_transition(), "ensemble_state_transition")

    def get_noise_transform(self):
        return self._compute_blocked(lambda member: member.get_noise_transform(), "ensemble_noise_transform")

    def get_observation_model(self, times):
        """Raises NotImplementedError: there is one only for each row of a batch."""
        raise NotImplementedError("No un-broadcasted observation model defined for ensembles.")

    def get_broadcasted_observation_model(self, times):
        models = [
            convert_to_tensor(member.get_broadcasted_observation_model(times), dtype=self.dtype)
            for member in self._ensemble_members
        ]
        return ops.concat(models, axis=2)


@public("contrib.timeseries.python.timeseries.state_space_models.state_space_model.StateSpaceIndependentEnsemble")
class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """An ensemble whose members have noise that has nothing to do with that of the others."""

    def transition_power_noise_accumulator(self, num_steps):
        return self._compute_blocked(
            lambda member: member.transition_power_noise_accumulator(num_steps), "ensemble_power_noise_accumulator"
        )

    def get_prior_covariance(self):
        return self._compute_blocked(lambda member: member.get_prior_covariance(), "ensemble_prior_state_covariance")

    def get_state_transition_noise_covariance(self, minimum_initial_variance=1e-5):
        return self._compute_blocked(
            lambda member: member.state_transition_noise_covariance, "ensemble_state_transition_noise"
        )


@public(
    "contrib.timeseries.python.timeseries.state_space_models.state_space_model.StateSpaceCorrelatedFeaturesEnsemble"
)
class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """An ensemble with a member for each feature, whose noise goes together.

    Raises ValueError for members of several features, and another number of them.
    """

    def __init__(self, ensemble_members, configuration):
        if len(ensemble_members) != configuration.num_features:
            raise ValueError(
                "The number of members in a StateSpaceCorrelatedFeaturesEnsemble must equal the number of features "
                "in the time series."
            )
        if any(member.num_features != 1 for member in ensemble_members):
            raise ValueError("StateSpaceCorrelatedFeaturesEnsemble components must be univariate.")
        super().__init__(ensemble_members=ensemble_members, configuration=configuration)

    def transition_power_noise_accumulator(self, num_steps):
        if len(self._ensemble_members) == 1:
            return self._ensemble_members[0].transition_power_noise_accumulator(num_steps=num_steps)
        return super().transition_power_noise_accumulator(num_steps=num_steps)

    def get_broadcasted_observation_model(self, times):
        def of_member(member):
            return convert_to_tensor(member.get_broadcasted_observation_model(times), dtype=self.dtype)

        return self._compute_blocked(of_member, "feature_ensemble_observation_model")
