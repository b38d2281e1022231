"""Heads of models of time series: training steps, evaluations, predictions and what is exported."""

from __future__ import annotations

import re

from stillflow import ops
from stillflow.canned.graph_heads.base import GraphHead
from stillflow.canned.keys import MetricKeys, summary_key
from stillflow.composites.summaries import scalar
from stillflow.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from stillflow.estimator.spec import EstimatorSpec
from stillflow.graph import dtypes, nest
from stillflow.graph.collections import GraphKeys
from stillflow.graph.name_scope import name_scope
from stillflow.metrics.means import mean
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.sparse_tensor import convert_to_tensor_or_sparse_tensor
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.saver.saved_model.modes import EstimatorModeKeys
from stillflow.training.global_step import get_global_step
from stillflow.variables.assignments import assign
from stillflow.variables.scope import variable_scope
from stillflow.variables.variable import Variable

_TIMES, _VALUES, _STATE = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES, State.STATE_TUPLE


class _NoStatePredictOutput(PredictOutput):
    """Outputs of a signature that takes no state."""

    def as_signature_def(self, receiver_tensors):
        inputs = {name: value for name, value in receiver_tensors.items() if not name.startswith(State.STATE_PREFIX)}
        return super().as_signature_def(inputs)


@public("contrib.timeseries.python.timeseries.head.TimeSeriesRegressionHead")
class TimeSeriesRegressionHead(GraphHead):
    """What trains, evaluates and uses a model of time series.

    Args:
      model: a TimeSeriesModel.
      state_manager: says with which state a batch begins.
      optimizer: a tf.train.Optimizer.
      input_statistics_generator: an InputStatisticsFromMiniBatch, or None.
      name: the name.
    """

    def __init__(self, model, state_manager, optimizer, input_statistics_generator=None, name=None):
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self):
        """The name."""
        return self._name

    @property
    def logits_dimension(self):
        """1: there are no logits."""
        return 1

    def create_loss(self, features, mode, logits=None, labels=None):
        """The ModelOutputs of a batch, with a summary of the loss."""
        found = self.state_manager.define_loss(self.model, features, mode)
        scalar(summary_key(self._name, MetricKeys.LOSS), found.loss)
        return found

    # ---- Modes ----------------------------------------------------------------------------------------------

    def create_estimator_spec(self, features, mode, labels=None):
        """The EstimatorSpec of a mode: the model function of an Estimator.

        Args:
          features: {name: tensor}; predictions have a state as a tuple, or by the names of its parts.
          mode: one of tf.estimator.ModeKeys.
          labels: None.

        Raises ValueError for labels, features that are not there or do not fit, and another mode.
        """
        with name_scope(self._name, "head"):
            if labels is not None and labels != {}:
                raise ValueError(
                    "The model received a `labels`, which is not supported. "
                    f"Pass '{_TIMES}' and '{_VALUES}' as features."
                )
            features = {name: self._converted(name, value) for name, value in features.items()}
            statistics = None
            if self.input_statistics_generator is not None:
                is_training = mode == EstimatorModeKeys.TRAIN
                statistics = self.input_statistics_generator.initialize_graph(features, update_statistics=is_training)
            self.model.initialize_graph(input_statistics=statistics)
            features, is_served = self._gather_state(features)
            if mode in (EstimatorModeKeys.TRAIN, EstimatorModeKeys.EVAL):
                _check_train_eval_features(features, self.model)
            elif mode == EstimatorModeKeys.PREDICT:
                self._check_predict_features(features)
            else:
                raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            if mode == EstimatorModeKeys.TRAIN:
                return self._train_ops(features)
            if mode == EstimatorModeKeys.EVAL:
                return self._evaluate_ops(features)
            return self._serving_ops(features) if is_served else self._predict_ops(features)

    def _train_ops(self, features):
        mode = EstimatorModeKeys.TRAIN
        with variable_scope("model", use_resource=True):
            found = self.create_loss(features, mode)
        train_op = self.optimizer.minimize(found.loss, global_step=get_global_step())
        return EstimatorSpec(loss=found.loss, mode=mode, train_op=train_op)

    def _evaluate_ops(self, features):
        mode = EstimatorModeKeys.EVAL
        with variable_scope("model", use_resource=True):
            found = self.create_loss(features, mode)
        metrics = {name: _last_value(name, value) for name, value in found.predictions.items()}
        metrics[FilteringResults.TIMES] = _last_value(FilteringResults.TIMES, found.prediction_times)
        metrics[_STATE] = _last_values(_STATE, found.end_state)
        metrics[MetricKeys.LOSS_MEAN] = mean(found.loss, name="average_loss")
        return EstimatorSpec(loss=found.loss, mode=mode, eval_metric_ops=metrics, predictions=found.predictions)

    def _predict_ops(self, features):
        with variable_scope("model", use_resource=True):
            found = self.model.predict(features=features)
        found[PredictionResults.TIMES] = features[PredictionFeatures.TIMES]
        return EstimatorSpec(predictions=found, mode=EstimatorModeKeys.PREDICT)

    def _serving_ops(self, features):
        """What is exported: predictions, and the states behind a series, with and without a state before."""
        with variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        with variable_scope("model", reuse=True):
            filtered = self.create_loss(features, EstimatorModeKeys.EVAL)
        with variable_scope("model", reuse=True):
            others = {name: value for name, value in features.items() if not name.startswith(State.STATE_PREFIX)}
            cold = self.model.define_loss(features=others, mode=EstimatorModeKeys.EVAL)
        return EstimatorSpec(
            mode=EstimatorModeKeys.PREDICT,
            export_outputs={
                SavedModelLabels.PREDICT: PredictOutput(predictions),
                SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
                SavedModelLabels.COLD_START_FILTER: _NoStatePredictOutput(state_to_dictionary(cold.end_state)),
            },
            predictions={},
        )

    # ---- Features -------------------------------------------------------------------------------------------

    def _converted(self, name, value):
        if name == _TIMES:
            return ops.cast(value, dtypes.int64)
        if name == _VALUES:
            return ops.cast(value, self.model.dtype)
        return value if name == _STATE else convert_to_tensor_or_sparse_tensor(value)

    def _gather_state(self, features):
        """(the features, with a state as a tuple of the parts of one; whether there were such)."""
        numbered = []
        for name in features:
            found = re.search(rf"^{State.STATE_PREFIX}_(\d+)$", name)
            if found:
                numbered.append((int(found.group(1)), name))
        if not numbered:
            return features, False
        features = dict(features)
        parts = [features.pop(name) for _, name in sorted(numbered)]
        features[_STATE] = nest.pack_sequence_as(self.model.get_start_state(), parts)
        return features, True

    def _check_predict_features(self, features, *others):
        """Raises ValueError for features of predictions that are not there, or do not fit."""
        for name in (_TIMES, *others, _STATE):
            if name not in features:
                raise ValueError(f"Expected a '{name}' feature for prediction.")
        _check_times(features[_TIMES])
        _check_shapes(features, {_STATE, *others})


@public("contrib.timeseries.OneShotPredictionHead")
class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head whose exports see a series and predict what follows at once."""

    def _check_predict_features(self, features, *others):
        super()._check_predict_features(features, _VALUES, *others)

    def _evaluate_ops(self, features):
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[_STATE]
        return spec

    def _serving_ops(self, features):
        with variable_scope("model", use_resource=True):
            seen, expected = {}, {}
            length = ops.shape(features[FilteringFeatures.VALUES])[1]
            for name, value in features.items():
                if name == _VALUES:
                    seen[name] = value
                elif name != _STATE:
                    seen[name] = value[:, :length]
                    expected[name] = value[:, length:]
            cold = self.model.define_loss(features=seen, mode=EstimatorModeKeys.EVAL)
            expected[_STATE] = cold.end_state
        with variable_scope("model", reuse=True):
            predictions = self.model.predict(features=expected)
        return EstimatorSpec(
            mode=EstimatorModeKeys.PREDICT,
            export_outputs={SavedModelLabels.PREDICT: _NoStatePredictOutput(predictions)},
            predictions={},
        )


def _check_times(times):
    if not times.shape.is_compatible_with([None, None]):
        raise ValueError(
            f"Expected shape (batch dimension, window size) for feature '{_TIMES}' (got shape {times.shape})"
        )


def _check_shapes(features, left_out):
    """Raises ValueError for features that have not the batch and the window of the times."""
    times = features[_TIMES]
    for name, value in features.items():
        shape = None if name in left_out else value.shape
        if shape is None or shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) "
                f"(got rank {shape.ndims} for feature '{name}')"
            )
        if not shape[:2].is_compatible_with(times.shape):
            raise ValueError(
                "Features must have shape (batch dimension, window size, ...) where batch dimension and window size "
                f"match the '{_TIMES}' feature (got shape {shape} for feature '{name}' but shape {times.shape} for "
                f"feature '{_TIMES}')"
            )


def _check_train_eval_features(features, model):
    for name in (_TIMES, _VALUES):
        if name not in features:
            raise ValueError(f"Expected a '{name}' feature for training/evaluation.")
    _check_times(features[_TIMES])
    values = features[_VALUES]
    if not values.shape.is_compatible_with([None, None, model.num_features]):
        raise ValueError(
            f"Expected shape (batch dimension, window size, {model.num_features}) for feature '{_VALUES}', since the "
            f"model was configured with num_features={model.num_features} (got shape {values.shape})"
        )
    _check_shapes(features, {_STATE})


# ---- Evaluations --------------------------------------------------------------------------------------------


def _last_value(name, tensor):
    """(value, update) of a metric that is a tensor as it was in the last batch."""
    variable = Variable(
        ops.zeros([], dtype=tensor.dtype),
        name=f"{name}_identity_metric",
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
    )
    update = assign(variable, tensor, validate_shape=False)
    variable.set_shape(tensor.shape)
    return variable.value(), update


def _last_values(name, tensors):
    """(values, update) of a nested tuple."""
    found = [_last_value(f"{name}_{number}", tensor) for number, tensor in enumerate(nest.flatten(tensors))]
    values = nest.pack_sequence_as(tensors, [value for value, _ in found])
    return values, group(*[update for _, update in found])


@public("contrib.timeseries.python.timeseries.head.state_to_dictionary")
def state_to_dictionary(state_tuple):
    """{name: part} of a state."""
    return {f"{State.STATE_PREFIX}_{number:02d}": part for number, part in enumerate(nest.flatten(state_tuple))}
