"""Where the state comes from that a model sees a batch with: tf.contrib.timeseries' state managers."""

from __future__ import annotations

import abc
from typing import Any

from stillflow import ops
from stillflow.contrib.timeseries.feature_keys import FilteringFeatures, State, TrainEvalFeatures
from stillflow.contrib.timeseries.models import ModelOutputs
from stillflow.contrib.timeseries.state_tables import TupleOfTensorsLookup, replicate_state
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public_module
from stillflow.saver.saved_model.modes import EstimatorModeKeys

public_module("contrib.timeseries.python.timeseries.state_management")


class PassthroughStateManager:
    """Each batch begins with the state before a series."""

    def __init__(self):
        self._input_statistics: Any = None
        self._graph_initialized = False

    def initialize_graph(self, model, input_statistics=None):
        """Makes what it needs in the default graph, after that of the model."""
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(self, model, features, mode):
        """The ModelOutputs of a batch. Raises ValueError for a state among the features."""
        if State.STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return model.define_loss(features, mode)


class _OverridableStateManager(PassthroughStateManager):
    @abc.abstractmethod
    def _define_loss_with_saved_state(self, model, features, mode):
        """The ModelOutputs of a batch without a state among its features."""

    def define_loss(self, model, features, mode):
        """The ModelOutputs of a batch, from the state among the features, if there is one.

        Raises ValueError if there is one in training.
        """
        key = FilteringFeatures.STATE_TUPLE
        if key not in features:
            return self._define_loss_with_saved_state(model=model, features=features, mode=mode)
        if mode == EstimatorModeKeys.TRAIN:
            raise ValueError(
                f"Overriding saved state for training is not supported (but a value for feature {key} was specified)."
            )
        state = features.pop(key)
        return model.get_batch_loss(features=features, mode=mode, state=state)


class FilteringOnlyStateManager(_OverridableStateManager):
    """Batches begin with the state before a series, or the one that evaluations are given."""

    def _define_loss_with_saved_state(self, model, features, mode):
        return model.define_loss(features, mode)


class ChainingStateManager(_OverridableStateManager):
    """A window begins with the state that training has left at the chunk of steps before.

    Args:
      state_saving_interval: how many steps a chunk has.
      checkpoint_state: whether checkpoints have the states.
    """

    def __init__(self, state_saving_interval=20, checkpoint_state=False):
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Any = None
        self._cached_states: Any = None

    def initialize_graph(self, model, input_statistics=None):
        super().initialize_graph(model=model, input_statistics=input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = TupleOfTensorsLookup(
            key_dtype=dtypes.int64,
            default_values=self._start_state,
            empty_key=-1,
            deleted_key=-2,
            name="cached_states",
            checkpoint=self._checkpoint_state,
        )

    def _define_loss_with_saved_state(self, model, features, mode):
        if not self._graph_initialized:
            raise ValueError("ChainingStateManager requires initialize_graph() to be called before use.")
        loss, end_state, predictions = self._update_cached_states(model, features, mode)
        last = [part[-1][None] for part in nest.flatten(end_state)]
        predictions["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(
            loss, nest.pack_sequence_as(end_state, last), predictions, features[TrainEvalFeatures.TIMES]
        )

    def _get_chunk_number(self, time):
        return time // self._state_saving_interval

    def _get_cached_states(self, times):
        """The states for windows that begin at times [batch]."""
        numbers = self._get_chunk_number(times)
        found = tuple(self._cached_states.lookup(ops.cast(numbers, dtypes.int64)))
        start_time = 0 if self._input_statistics is None else self._input_statistics.start_time
        is_first = ops.equal(numbers, self._get_chunk_number(start_time))
        starts = replicate_state(self._start_state, ops.shape(times)[0])
        states = [
            ops.where(is_first, start, cached)
            for start, cached in zip(nest.flatten(starts), nest.flatten(found), strict=True)
        ]
        return nest.pack_sequence_as(found, states)

    def _update_cached_states(self, model, features, mode):
        times = features[TrainEvalFeatures.TIMES]
        state = self._get_cached_states(times[:, 0])
        loss, states, predictions = model.per_step_batch_loss(features=features, mode=mode, state=state)
        least = self._get_chunk_number(times) + 1
        later = ops.concat([times[:, 1:], times[:, -1:] + 1], axis=1)
        numbers = ops.maximum(self._get_chunk_number(later), least)
        save = self._cached_states.insert(keys=numbers, values=states)
        end_state = nest.pack_sequence_as(states, [part[:, -1] for part in nest.flatten(states)])
        with control_dependencies([save]):
            return ops.identity(loss), end_state, predictions
