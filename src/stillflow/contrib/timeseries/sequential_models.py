"""SequentialTimeSeriesModel: models that go through a series step by step."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures, without
from stillflow.contrib.timeseries.models import ModelOutputs, TimeSeriesModel
from stillflow.graph import dtypes, nest
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.scope import variable_scope


@public("contrib.timeseries.python.timeseries.model.SequentialTimeSeriesModel")
class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model that moves a state on from step to step, and predicts each step from it.

    Args:
      train_output_names: the names of what is predicted for each step of training and evaluation.
      predict_output_names: those of predictions.
      num_features: how many values a step has.
      normalize_features: whether values are scaled before; then _scale_back_predictions scales predictions back.
      dtype: the type of values.
      exogenous_feature_columns: columns of other features of steps.
      exogenous_update_condition: a function of times and features, [batch], whether these features count for a step;
        None for always.
      static_unrolling_window_size_threshold: windows of at most that many steps make no loop; None for none.
    """

    def __init__(
        self, train_output_names, predict_output_names, num_features, normalize_features=False, dtype=dtypes.float32,
        exogenous_feature_columns=None, exogenous_update_condition=None, static_unrolling_window_size_threshold=None,
    ):  # fmt: skip
        super().__init__(num_features, exogenous_feature_columns, dtype)
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold

    # ---- What a model is ------------------------------------------------------------------------------------

    def _scale_back_predictions(self, predictions):
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features=True), but no method was provided "
            "to transform the predictions back to the input scale."
        )

    @abc.abstractmethod
    def _filtering_step(self, current_times, current_values, state, predictions):
        """(the state that has seen the values [batch, features] of a step, predictions with their "loss" [batch])."""

    @abc.abstractmethod
    def _prediction_step(self, current_times, state):
        """(the state, {name: prediction}) of a step, before its values are seen."""

    @abc.abstractmethod
    def _imputation_step(self, current_times, state):
        """The state at a time [batch], if steps are missing before."""

    @abc.abstractmethod
    def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
        """The state that has seen the other features [batch, size] of a step."""

    def _loss_additions(self, times, values, mode):
        """What is added to the loss."""
        return 0.0

    def _window_initializer(self, times, state):
        """Is called before the steps of a window."""

    # ---- What it makes of windows ---------------------------------------------------------------------------

    def get_batch_loss(self, features, mode, state):
        loss, state, outputs = self.per_step_batch_loss(features, mode, state)
        last = nest.pack_sequence_as(state, [part[:, -1] for part in nest.flatten(state)])
        outputs["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(loss, last, outputs, features[TrainEvalFeatures.TIMES])

    def per_step_batch_loss(self, features, mode, state):
        """(the loss of a step on average, the states of all steps, {name: predictions of all steps}).

        Args:
          features: {name: tensor [batch, window, ...]}.
          mode: one of tf.estimator.ModeKeys.
          state: the first state, for each row of the batch.
        """
        self._check_graph_initialized()
        times = ops.cast(features[TrainEvalFeatures.TIMES], dtype=dtypes.int64)
        values = ops.cast(features[TrainEvalFeatures.VALUES], dtype=self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        others = without(features, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES)
        regressors = self._process_exogenous_features(times=times, features=others)

        def step(step_number, current_times, state):
            current_values = values[:, step_number, :]
            state = self._apply_exogenous_update(current_times, step_number, state, features, regressors)
            state, predictions = self._prediction_step(current_times=current_times, state=state)
            return self._filtering_step(
                current_times=current_times, current_values=current_values, state=state, predictions=predictions
            )

        state, outputs = self._state_update_loop(times, state, step, ["loss", *self._train_output_names])
        outputs["loss"].set_shape(times.shape)
        total = ops.reduce_sum(outputs["loss"])
        loss = total / ops.cast(ops.reduce_prod(ops.shape(times)), dtype=self.dtype)
        loss += self._loss_additions(times, values, mode)
        del outputs["loss"]
        return loss, state, self._scale_back_predictions(outputs) if self._normalize_features else outputs

    def predict(self, features):
        times = convert_to_tensor(features[PredictionFeatures.TIMES], dtypes.int64)
        state = features[PredictionFeatures.STATE_TUPLE]
        others = without(features, PredictionFeatures.TIMES, PredictionFeatures.STATE_TUPLE)
        regressors = self._process_exogenous_features(times=times, features=others)

        def step(step_number, current_times, state):
            state = self._apply_exogenous_update(current_times, step_number, state, features, regressors)
            return self._prediction_step(current_times=current_times, state=state)

        _, predictions = self._state_update_loop(times, state, step, self._predict_output_names)
        return self._scale_back_predictions(predictions) if self._normalize_features else predictions

    def _apply_exogenous_update(self, current_times, step_number, state, raw_features, regressors):
        """The state that has seen the other features of a step, where they count."""
        if regressors is None:
            return state
        updated = self._exogenous_input_step(
            current_times=current_times,
            current_exogenous_regressors=regressors[:, step_number, :],
            state=state,
        )
        if self._exogenous_update_condition is None:
            return updated
        others = without(
            raw_features, PredictionFeatures.STATE_TUPLE, TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
        )
        current = {name: value[:, step_number] for name, value in others.items()}
        parts = [
            ops.where(self._exogenous_update_condition(times=current_times, features=current), new, old)
            for new, old in zip(nest.flatten(updated), nest.flatten(state), strict=True)
        ]
        return nest.pack_sequence_as(state, parts)

    def _is_unrolled(self, window):
        limit = self._static_unrolling_window_size_threshold
        return limit is not None and window is not None and window <= limit

    def _state_update_loop(self, times, state, state_update_fn, outputs):
        """(the states of all steps, [batch, window, ...]; {name: the outputs of all steps}).

        Args:
          times: [batch, window].
          state: the first state.
          state_update_fn: a function of step_number, current_times and state to (the state, {name: output}).
          outputs: the names.
        """
        times = convert_to_tensor(times, dtype=dtypes.int64)
        window = dimension_value(times.shape[1])
        is_unrolled = self._is_unrolled(window)
        self._window_initializer(times, state)

        def step(step_number, state, state_arrays, output_arrays, reuse=False):
            with variable_scope("state_update_step", reuse=reuse):
                current_times = times[:, step_number]
                state = self._imputation_step(current_times=current_times, state=state)
                new_state, values = state_update_fn(step_number=step_number, current_times=current_times, state=state)
                assert set(values) == set(outputs)
                output_arrays = [
                    array.write(step_number, values[name]) for name, array in zip(outputs, output_arrays, strict=True)
                ]
                parts, arrays = [], []
                for part, array, before in zip(
                    nest.flatten(new_state), state_arrays, nest.flatten(state), strict=True
                ):
                    part.set_shape(before.shape)
                    parts.append(part)
                    arrays.append(array.write(step_number, part))
                return step_number + 1, nest.pack_sequence_as(state, parts), arrays, output_arrays

        size = ops.shape(times)[1]

        def new_array(dtype):
            return _Steps() if is_unrolled else TensorArray(dtype=dtype, size=size, dynamic_size=False)

        arguments = (
            ops.zeros([], dtypes.int32),
            state,
            [new_array(part.dtype) for part in nest.flatten(state)],
            [new_array(self.dtype) for _ in outputs],
        )
        if is_unrolled:
            for number in range(window):
                arguments = step(constant(number, dtypes.int32), *arguments[1:], reuse=number > 0)
        else:
            arguments = while_loop(lambda number, *_: ops.less(number, size), step, list(arguments))
        _, _, state_arrays, output_arrays = arguments
        found = {name: _batch_first(array) for name, array in zip(outputs, output_arrays, strict=True)}
        return nest.pack_sequence_as(state, [_batch_first(array) for array in state_arrays]), found


class _Steps:
    """Stands for a TensorArray where there is no loop."""

    def __init__(self):
        self._values = []

    def write(self, _position, value):
        self._values.append(value)
        return self

    def stack_columns(self):
        return ops.stack(self._values, axis=1)


def _batch_first(array):
    if isinstance(array, _Steps):
        return array.stack_columns()
    stacked = array.stack()
    return ops.transpose(stacked, perm=ops.concat([[1, 0], ops.range(2, ops.rank(stacked))], 0))
