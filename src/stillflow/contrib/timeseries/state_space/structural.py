"""Ensembles of a level with a trend, periods, and noise that goes on for some steps."""

from __future__ import annotations

from stillflow.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from stillflow.contrib.timeseries.state_space.ensembles import (
    StateSpaceCorrelatedFeaturesEnsemble,
    StateSpaceIndependentEnsemble,
)
from stillflow.contrib.timeseries.state_space.level_trend import AdderStateSpaceModel
from stillflow.contrib.timeseries.state_space.periodic import CycleStateSpaceModel
from stillflow.contrib.timeseries.state_space.resolutions import ResolutionCycleModel
from stillflow.contrib.timeseries.state_space.varma import VARMA
from stillflow.graph import nest
from stillflow.names import public
from stillflow.variables.scope import variable_scope


def _for_each_feature(configuration, make):
    """An ensemble with what `make` makes, of a configuration of one feature, for each feature."""
    members = []
    for feature in range(configuration.num_features):
        with variable_scope(f"feature{feature}"):
            members.append(make(configuration._replace(num_features=1)))
    return StateSpaceCorrelatedFeaturesEnsemble(ensemble_members=members, configuration=configuration)


def _members(configuration, moving_average_order, autoregressive_order, cycles):
    """The members of an ensemble: a level with a trend, VARMA, and periods, whose constructors are in `cycles`."""
    configuration = configuration._replace(use_observation_noise=False)
    with variable_scope("adder"):
        found = [_for_each_feature(configuration, lambda each: AdderStateSpaceModel(configuration=each))]
    with variable_scope("varma"):
        found.append(VARMA(autoregressive_order, moving_average_order, configuration=configuration))
    for number, make in enumerate(cycles):
        with variable_scope(f"cycle{number}"):
            found.append(_for_each_feature(configuration, make))
    return found


@public("contrib.timeseries.python.timeseries.state_space_models.structural_ensemble.StructuralEnsemble")
class StructuralEnsemble(StateSpaceIndependentEnsemble):
    """A level with a trend, periods of whole steps, and noise that goes on for some steps.

    Args:
      periodicities: a period in steps, or a list of them.
      moving_average_order, autoregressive_order: see VARMA.
      use_level_noise: not used, as in TensorFlow.
      configuration: a StateSpaceModelConfiguration.
    """

    def __init__(
        self,
        periodicities,
        moving_average_order,
        autoregressive_order,
        use_level_noise=True,
        configuration=StateSpaceModelConfiguration(),  # noqa: B008  a constant
    ):
        def cycle(period):
            return lambda each: CycleStateSpaceModel(periodicity=period, configuration=each)

        cycles = [cycle(period) for period in nest.flatten(periodicities)]
        members = _members(configuration, moving_average_order, autoregressive_order, cycles)
        super().__init__(ensemble_members=members, configuration=configuration)


@public(
    "contrib.timeseries.python.timeseries.state_space_models.structural_ensemble.MultiResolutionStructuralEnsemble"
)
class MultiResolutionStructuralEnsemble(StateSpaceIndependentEnsemble):
    """A level with a trend, periods of any length, and noise that goes on for some steps.

    Args:
      cycle_num_latent_values: how many numbers a period is made of, odd; a number, or a list for each period.
      moving_average_order, autoregressive_order: see VARMA.
      periodicities: a period in steps, a list of them, or None.
      use_level_noise: not used, as in TensorFlow.
      configuration: a StateSpaceModelConfiguration.

    Raises ValueError for a list of another length.
    """

    def __init__(
        self,
        cycle_num_latent_values,
        moving_average_order,
        autoregressive_order,
        periodicities,
        use_level_noise=True,
        configuration=StateSpaceModelConfiguration(),  # noqa: B008  a constant
    ):
        periods = nest.flatten([] if periodicities is None else periodicities)
        counts = nest.flatten(cycle_num_latent_values)
        if len(counts) != len(periods):
            if len(counts) != 1:
                raise ValueError(
                    "`cycle_num_latent_values` must either be a list with the same size as `periodicity` or a scalar."
                    f" Received length {len(counts)} `cycle_num_latent_values`, while `periodicities` has length "
                    f"{len(periods)}."
                )
            counts = counts * len(periods)

        def cycle(period, count):
            return lambda each: ResolutionCycleModel(num_latent_values=count, periodicity=period, configuration=each)

        cycles = [cycle(*each) for each in zip(periods, counts, strict=True)]
        members = _members(configuration, moving_average_order, autoregressive_order, cycles)
        super().__init__(ensemble_members=members, configuration=configuration)
