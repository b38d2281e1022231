"""Estimators of time series: tf.contrib.timeseries.ARRegressor, StructuralEnsembleRegressor and their kin."""

from __future__ import annotations

import functools

from stillflow.canned.estimators.optimizers import optimizer_of
from stillflow.contrib.timeseries.autoregression.anomalies import AnomalyMixtureARModel
from stillflow.contrib.timeseries.autoregression.model import ARModel
from stillflow.contrib.timeseries.autoregression.networks import FlatPredictionModel, LSTMPredictionModel
from stillflow.contrib.timeseries.head import OneShotPredictionHead, TimeSeriesRegressionHead
from stillflow.contrib.timeseries.serving import parsing_receiver, raw_receiver
from stillflow.contrib.timeseries.state_managers import (
    ChainingStateManager,
    FilteringOnlyStateManager,
    PassthroughStateManager,
)
from stillflow.contrib.timeseries.state_space.anomalies import StateInterpolatingAnomalyDetector
from stillflow.contrib.timeseries.state_space.model import StateSpaceModel, StateSpaceModelConfiguration
from stillflow.contrib.timeseries.state_space.structural import MultiResolutionStructuralEnsemble
from stillflow.contrib.timeseries.statistics import InputStatisticsFromMiniBatch
from stillflow.estimator.estimator import Estimator
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.training.adagrad import AdagradOptimizer
from stillflow.training.adam import AdamOptimizer


@public("contrib.timeseries.TimeSeriesRegressor")
class TimeSeriesRegressor(Estimator):
    """An Estimator of a model of time series.

    Args:
      model: a TimeSeriesModel.
      state_manager: says with which state a batch begins; by default the one before a series.
      optimizer: a tf.train.Optimizer; by default Adam with a rate of 0.02.
      model_dir, config: as tf.estimator.Estimator has them.
      head_type: the class of the head.
    """

    def __init__(
        self, model, state_manager=None, optimizer=None, model_dir=None, config=None,
        head_type=TimeSeriesRegressionHead,
    ):  # fmt: skip
        statistics = InputStatisticsFromMiniBatch(dtype=model.dtype, num_features=model.num_features)
        if state_manager is None:
            is_autoregressive = isinstance(model, ARModel)
            state_manager = FilteringOnlyStateManager() if is_autoregressive else PassthroughStateManager()
        if optimizer is None:
            optimizer = AdamOptimizer(0.02)
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=optimizer,
            input_statistics_generator=statistics,
        )
        super().__init__(model_fn=head.create_estimator_spec, model_dir=model_dir, config=config)

    def build_raw_serving_input_receiver_fn(self, default_batch_size=None, default_series_length=None):
        """A function for exports that take times, values, other features and a state, each as a tensor.

        Args:
          default_batch_size, default_series_length: how many series, and steps, there are; None for any number.
        """
        return lambda: raw_receiver(self._model, default_batch_size, default_series_length)

    def build_one_shot_parsing_serving_input_receiver_fn(
        self, filtering_length, prediction_length, default_batch_size=None, values_input_dtype=None,
        truncate_values=False,
    ):  # fmt: skip
        """A function for exports that take serialized Examples, of which each is a series; see OneShotPredictionHead.

        Args:
          filtering_length: how many steps are known.
          prediction_length: how many steps are predicted behind them.
          default_batch_size: how many Examples there are; None for any number.
          values_input_dtype: the type of values in Examples, by default float32.
          truncate_values: whether Examples have values for all steps, of which the last ones are not looked at.

        The function raises ValueError for columns of lists of numbers.
        """
        return lambda: parsing_receiver(
            self._model, filtering_length, prediction_length, default_batch_size, values_input_dtype, truncate_values
        )


@public("contrib.timeseries.ARRegressor")
class ARRegressor(TimeSeriesRegressor):
    """An Estimator that predicts windows of steps from the windows before, by dense layers.

    Args:
      periodicities: a period in steps, or a list of them.
      input_window_size: how many steps it is given; may be 0 if there are periods.
      output_window_size: how many steps it predicts.
      num_features: how many values a step has.
      exogenous_feature_columns: columns of other features of steps.
      num_time_buckets: in how many parts each period is cut.
      loss: ARModel.NORMAL_LIKELIHOOD_LOSS or ARModel.SQUARED_LOSS.
      hidden_layer_sizes: the sizes of layers, or None.
      anomaly_prior_probability: how probable it is that a value is wrong, or None.
      anomaly_distribution: of wrong values; see AnomalyMixtureARModel.
      optimizer: a tf.train.Optimizer; by default Adagrad with a rate of 0.1.
      model_dir, config: as tf.estimator.Estimator has them.

    Raises ValueError for a distribution without a probability, and for another loss with one.
    """

    def __init__(
        self, periodicities, input_window_size, output_window_size, num_features, exogenous_feature_columns=None,
        num_time_buckets=10, loss=ARModel.NORMAL_LIKELIHOOD_LOSS, hidden_layer_sizes=None,
        anomaly_prior_probability=None, anomaly_distribution=None, optimizer=None, model_dir=None, config=None,
    ):  # fmt: skip
        if anomaly_prior_probability is None and anomaly_distribution is not None:
            raise ValueError("anomaly_prior_probability is required if anomaly_distribution is specified.")
        given = {
            "periodicities": periodicities,
            "num_features": num_features,
            "prediction_model_factory": functools.partial(FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes),
            "exogenous_feature_columns": exogenous_feature_columns,
            "num_time_buckets": num_time_buckets,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
        }
        if anomaly_prior_probability is None:
            model = ARModel(loss=loss, **given)
        elif loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
            raise ValueError(
                "AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for its loss argument."
            )
        else:
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution or AnomalyMixtureARModel.GAUSSIAN_ANOMALY,
                **given,
            )
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=AdagradOptimizer(0.1) if optimizer is None else optimizer,
            model_dir=model_dir,
            config=config,
        )


@public("contrib.timeseries.python.timeseries.estimators.LSTMAutoRegressor")
class LSTMAutoRegressor(TimeSeriesRegressor):
    """An Estimator that predicts windows of steps from the windows before, by an LSTM.

    Args:
      periodicities, input_window_size, output_window_size, num_features, loss: as ARRegressor has them.
      extra_feature_columns: columns of other features of steps.
      num_timesteps: in how many parts each period is cut.
      num_units: the size of cells.
      optimizer: a tf.train.Optimizer, or the name of one with a rate of 0.01.
      model_dir, config: as tf.estimator.Estimator has them.
    """

    def __init__(
        self, periodicities, input_window_size, output_window_size, model_dir=None, num_features=1,
        extra_feature_columns=None, num_timesteps=10, loss=ARModel.NORMAL_LIKELIHOOD_LOSS, num_units=128,
        optimizer="Adam", config=None,
    ):  # fmt: skip
        optimizer = optimizer_of(optimizer, learning_rate=0.01)
        model = ARModel(
            periodicities=periodicities,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            num_features=num_features,
            exogenous_feature_columns=extra_feature_columns,
            num_time_buckets=num_timesteps,
            loss=loss,
            prediction_model_factory=functools.partial(LSTMPredictionModel, num_units=num_units),
        )
        super().__init__(
            model=model,
            state_manager=FilteringOnlyStateManager(),
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=OneShotPredictionHead,
        )


@public("contrib.timeseries.python.timeseries.estimators.StateSpaceRegressor")
class StateSpaceRegressor(TimeSeriesRegressor):
    """An Estimator of a state space model.

    Args: as TimeSeriesRegressor has them; windows begin with the states that training has left before them.

    Raises ValueError for another model.
    """

    def __init__(
        self, model, state_manager=None, optimizer=None, model_dir=None, config=None,
        head_type=TimeSeriesRegressionHead,
    ):  # fmt: skip
        if not isinstance(model, StateSpaceModel):
            raise ValueError(
                "StateSpaceRegressor only supports state space models (children of StateSpaceModel) in its `model` "
                f"argument, got {model}."
            )
        super().__init__(
            model=model,
            state_manager=ChainingStateManager() if state_manager is None else state_manager,
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )


@public("contrib.timeseries.StructuralEnsembleRegressor")
class StructuralEnsembleRegressor(StateSpaceRegressor):
    """An Estimator of a level with a trend, periods, and noise that goes on for some steps.

    Args:
      periodicities: a period in steps, or a list of them; need not be integers.
      num_features: how many values a step has.
      cycle_num_latent_values: how many numbers a period is made of, odd; a number, or a list for each period.
      moving_average_order, autoregressive_order: over how many steps noise, and values, go on.
      exogenous_feature_columns, exogenous_update_condition: see SequentialTimeSeriesModel.
      dtype: the type of values.
      anomaly_prior_probability: how probable it is that a value is wrong, or None.
      optimizer, model_dir, config, head_type: as TimeSeriesRegressor has them.
    """

    def __init__(
        self, periodicities, num_features, cycle_num_latent_values=11, moving_average_order=4,
        autoregressive_order=0, exogenous_feature_columns=None, exogenous_update_condition=None,
        dtype=dtypes.float64, anomaly_prior_probability=None, optimizer=None, model_dir=None, config=None,
        head_type=TimeSeriesRegressionHead,
    ):  # fmt: skip
        detector = None
        if anomaly_prior_probability is not None:
            detector = StateInterpolatingAnomalyDetector(anomaly_prior_probability=anomaly_prior_probability)
        model = MultiResolutionStructuralEnsemble(
            cycle_num_latent_values=cycle_num_latent_values,
            moving_average_order=moving_average_order,
            autoregressive_order=autoregressive_order,
            periodicities=periodicities,
            configuration=StateSpaceModelConfiguration(
                num_features=num_features,
                dtype=dtype,
                filtering_postprocessor=detector,
                exogenous_feature_columns=exogenous_feature_columns,
                exogenous_update_condition=exogenous_update_condition,
            ),
        )
        super().__init__(model=model, optimizer=optimizer, model_dir=model_dir, config=config, head_type=head_type)
