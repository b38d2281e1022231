"""ARModel: predicts windows of a series, one after the other, each from the one before."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_equal, assert_greater_equal
from stillflow.contrib.timeseries.autoregression.networks import FlatPredictionModel
from stillflow.contrib.timeseries.autoregression.windows import PredictedWindows
from stillflow.contrib.timeseries.densities import normal_log_prob
from stillflow.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures, without
from stillflow.contrib.timeseries.models import ModelOutputs, TimeSeriesModel
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.math.comparison import where_v2
from stillflow.saver.saved_model.modes import EstimatorModeKeys
from stillflow.variables.scope import variable_scope

LEAST_VARIANCE = 1e-5
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


@public("contrib.timeseries.ARModel")
class ARModel(TimeSeriesModel):
    """A model of a window of steps, given the values of the window before.

    Args:
      periodicities: a period in steps, or a list of them: where a step is in each is among the features.
      input_window_size: how many steps it is given; may be 0 if there are periods.
      output_window_size: how many steps it predicts.
      num_features: how many values a step has.
      prediction_model_factory: makes the network; it gets num_features, input_window_size and output_window_size.
      num_time_buckets: in how many parts each period is cut.
      loss: ARModel.NORMAL_LIKELIHOOD_LOSS or ARModel.SQUARED_LOSS.
      exogenous_feature_columns: columns of other features of steps.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self, periodicities, input_window_size, output_window_size, num_features,
        prediction_model_factory=FlatPredictionModel, num_time_buckets=10, loss=NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns=None,
    ):  # fmt: skip
        self._model_factory = prediction_model_factory
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        super().__init__(num_features=num_features, exogenous_feature_columns=exogenous_feature_columns)
        self.exogenous_size = 0
        if exogenous_feature_columns is not None:
            self.exogenous_size = self._get_exogenous_embedding_shape()[-1]
        assert num_time_buckets > 0
        self._buckets = int(num_time_buckets)
        periods = periodicities or []
        self._periodicities = [int(p) for p in (periods if isinstance(periods, (list, tuple)) else [periods])]
        assert all(period > 0 for period in self._periodicities)
        assert self._periodicities or input_window_size
        assert output_window_size > 0

    def initialize_graph(self, input_statistics=None):
        super().initialize_graph(input_statistics=input_statistics)
        self._model_scope = variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self):
        """(times, values, other features) of an input window, all zeros."""
        size = self.input_window_size
        return (
            ops.zeros([size], dtype=dtypes.int64),
            ops.zeros([size, self.num_features], dtype=self.dtype),
            ops.zeros([size, self.exogenous_size], dtype=self.dtype),
        )

    # ---- One window -----------------------------------------------------------------------------------------

    def prediction_ops(self, times, values, exogenous_regressors):
        """{"mean": [batch, output window, features], "covariance": the variances}.

        Args:
          times: [batch, both windows].
          values: of the input window, [batch, input window, features].
          exogenous_regressors: other features, [batch, both windows, size].
        """
        times.shape.assert_is_compatible_with([None, self.window_size])
        batch = ops.shape(times)[0]
        if self.input_window_size:
            values.shape.assert_is_compatible_with([None, self.input_window_size, self.num_features])
        if exogenous_regressors is not None:
            exogenous_regressors.shape.assert_is_compatible_with([None, self.window_size, self.exogenous_size])
        sizes = (self.input_window_size, self.output_window_size)
        inputs, outputs = [], []
        if self._periodicities:
            _, positions = self._compute_time_features(times)
            positions = ops.reshape(positions, [batch, self.window_size, self._buckets * len(self._periodicities)])
            before, now = ops.split(positions, sizes, axis=1)
            inputs.append(before)
            outputs.append(now)
        if self.input_window_size:
            given = ops.slice(values, [0, 0, 0], [-1, self.input_window_size, -1])
            inputs.append(ops.reshape(given, [batch, self.input_window_size, self.num_features]))
        if self.exogenous_size:
            before, now = ops.split(exogenous_regressors, sizes, axis=1)
            inputs.append(before)
            outputs.append(now)
        known = self._buckets * len(self._periodicities) + self.exogenous_size
        found = ops.concat(inputs, axis=2)
        if outputs:
            expected = ops.concat(outputs, axis=2)
        else:
            expected = ops.zeros([batch, self.output_window_size, 0], dtype=self.dtype)
        count = times.shape.dims[0].value
        given_size = known + (self.num_features if self.input_window_size else 0)
        found.set_shape([count, self.input_window_size, given_size])
        expected.set_shape([count, self.output_window_size, known])
        return self._output_window_predictions(found, expected)

    def _output_window_predictions(self, input_window_features, output_window_features):
        with self._model_scope:
            predictions = self._model_instance(input_window_features, output_window_features)
            for value in predictions.values():
                value.set_shape([None, self.output_window_size, self.num_features])
            return predictions

    def _compute_time_features(self, time):
        """(how many periods have passed, [batch, window, periods, 1]; where in them steps are, [..., buckets])."""
        batch = ops.shape(time)[0]
        count = len(self._periodicities)
        periods = constant(self._periodicities, shape=[1, 1, count, 1], dtype=time.dtype)
        time = ops.reshape(time, [batch, -1, 1, 1])
        passed = time / self._periodicities
        rest = ops.cast(time % periods, self.dtype) * self._buckets / ops.cast(periods, self.dtype)
        starts = ops.reshape(ops.range(self._buckets, dtype=self.dtype), [1, 1, 1, self._buckets])
        inside = ops.relu(rest - starts)
        return passed, where_v2(inside < 1.0, inside, ops.zeros_like(inside))

    def loss_op(self, targets, prediction_ops):
        """The loss of a step on average, of values [batch, output window, features] and predictions."""
        mean = prediction_ops["mean"]
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            sigma = ops.sqrt(ops.maximum(prediction_ops["covariance"], LEAST_VARIANCE))
            loss = -ops.reduce_sum(normal_log_prob(targets, sigma, mean))
        else:
            assert self.loss == ARModel.SQUARED_LOSS, self.loss
            loss = ops.reduce_sum(ops.squared_difference(mean, targets))
        loss /= ops.cast(ops.reduce_prod(ops.shape(targets)), loss.dtype)
        return loss

    def _process_exogenous_features(self, times, features):
        embedded = super()._process_exogenous_features(times=times, features=features)
        if embedded is None:
            return ops.zeros(ops.concat([ops.shape(times), constant([0])], axis=0))
        return embedded

    def _others(self, times, features):
        """Other features of steps, [batch, window, size]."""
        others = without(features, _TIMES, _VALUES, PredictionFeatures.STATE_TUPLE)
        return self._process_exogenous_features(times=times, features=others)

    # ---- Predictions ----------------------------------------------------------------------------------------

    def predict(self, features):
        """{"mean": [batch, steps, features], "covariance": the variances} of times [batch, steps]."""
        if not self._graph_initialized:
            self.initialize_graph()
        times = ops.cast(convert_to_tensor(features[PredictionFeatures.TIMES]), dtypes.int32)
        regressors = self._others(times, features)
        with control_dependencies([assert_equal(ops.shape(times)[1], ops.shape(regressors)[1])]):
            regressors = ops.identity(regressors)
        windows = PredictedWindows(self, times, regressors)
        state_times, state_values, state_regressors = features[PredictionFeatures.STATE_TUPLE]
        state_times = ops.cast(convert_to_tensor(state_times), dtypes.int32)
        state_values = convert_to_tensor(state_values, dtype=self.dtype)
        state_regressors = convert_to_tensor(state_regressors, dtype=self.dtype)
        mean, covariance = windows.predict(*self._first_input(windows, state_times, state_values, state_regressors))
        return {"mean": self._scale_back_data(mean), "covariance": self._scale_back_variance(covariance)}

    def _first_input(self, windows, state_times, state_values, state_regressors):
        """(times, values, other features) that the first window is predicted of."""
        size, output = self.input_window_size, self.output_window_size
        times = windows.times[:, :output]
        regressors = windows.regressors[:, :output, :]
        if size == 0:
            return times, 0, regressors
        times = ops.concat([state_times[:, -size:], times], 1)
        values_size = ops.shape(state_values)[1]
        times_size = ops.shape(state_times)[1]
        checks = [assert_greater_equal(values_size, size), assert_equal(values_size, times_size)]
        with control_dependencies(checks):
            values = state_values[:, -size:, :]
            regressors = ops.concat([state_regressors[:, -size:, :], regressors[:, :output, :]], axis=1)
        return times, values, regressors

    # ---- Training and evaluation ----------------------------------------------------------------------------

    def _process_window(self, features, mode, exogenous_regressors):
        """The ModelOutputs of one window. Raises ValueError for one of another size."""
        times = ops.cast(features[_TIMES], dtypes.int64)
        values = ops.cast(features[_VALUES], dtype=self.dtype)
        exogenous_regressors = ops.cast(exogenous_regressors, dtype=self.dtype)
        observed = values
        if not times.shape.is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and output_window_size="
                f"{self.output_window_size} expects feature '{_TIMES}' to have shape (batch_size, "
                f"{self.window_size}) (for any batch_size), but got shape {times.shape}. If you are using "
                f"RandomWindowInputFn, set window_size={self.window_size} or adjust the input_window_size and "
                "output_window_size arguments to ARModel."
            )
        size, output = self.input_window_size, self.output_window_size
        values = self._scale_data(values)
        predictions = self.prediction_ops(times, values[:, :size, :] if size > 0 else None, exogenous_regressors)
        targets = ops.slice(values, [0, size, 0], [-1, -1, -1])
        targets.shape.assert_is_compatible_with(predictions["mean"].shape)
        if mode == EstimatorModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:
            unscaled = self._scale_back_data(targets)
            loss = self.loss_op(unscaled, {"mean": self._scale_back_data(predictions["mean"])})
        else:
            loss = self.loss_op(targets, predictions)
        mean = self._scale_back_data(predictions["mean"])
        covariance = self._scale_back_variance(predictions["covariance"])
        state = (times[:, -size:], values[:, -size:, :], exogenous_regressors[:, -size:, :])
        found = {"mean": mean, "covariance": covariance, "observed": observed[:, -output:]}
        return ModelOutputs(loss, state, found, times[:, -output:])

    def get_batch_loss(self, features, mode, state):
        features = {name: convert_to_tensor(value) for name, value in features.items()}
        times = features[_TIMES]
        regressors = self._others(times, features)
        if mode == EstimatorModeKeys.TRAIN:
            return self._process_window(features, mode=mode, exogenous_regressors=regressors)
        if mode == EstimatorModeKeys.EVAL:
            return self._evaluate(features, regressors, state)
        raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")

    def _evaluate(self, features, regressors, state):
        """The ModelOutputs of as many windows as a series has, from its end."""
        times = features[_TIMES]
        self._check_length(times)
        size, output = self.input_window_size, self.output_window_size
        count = (ops.shape(times)[1] - size) // output
        total = count * output
        cropped = total + size
        features = {name: value[:, -cropped:] for name, value in features.items()}

        def window(number, losses, means, covariances):
            offset = number * output
            found = self._process_window(
                {name: value[:, offset : offset + self.window_size] for name, value in features.items()},
                mode=EstimatorModeKeys.EVAL,
                exogenous_regressors=regressors[:, offset : offset + self.window_size],
            )
            return (
                number + 1,
                losses.write(number, found.loss),
                means.write(number, found.predictions["mean"]),
                covariances.write(number, found.predictions["covariance"]),
            )

        arrays = [TensorArray(dtype=self.dtype, size=count) for _ in range(3)]
        _, losses, means, covariances = while_loop(lambda number, *_: number < count, window, [0, *arrays])
        values = ops.cast(features[_VALUES], dtype=self.dtype)
        shape = [ops.shape(times)[0], output * count, self.num_features]
        end_state = self._end_state(state, times, values, regressors) if size > 0 else state
        loss = ops.reduce_mean(losses.stack(), axis=0)

        def in_order(array):
            return ops.reshape(ops.transpose(array.stack(), [1, 0, 2, 3]), shape)

        predictions = {"mean": in_order(means), "covariance": in_order(covariances), "observed": values[:, -total:]}
        return ModelOutputs(loss, end_state, predictions, times[:, -total:])

    def _check_length(self, times):
        times.shape.assert_has_rank(2)
        size = times.shape.dims[1].value
        if size is not None and size < self.window_size:
            raise ValueError(
                "ARModel requires a window of at least input_window_size + output_window_size to evaluate on "
                f"(input_window_size={self.input_window_size}, output_window_size={self.output_window_size}, and got "
                f"shape {times.shape} for feature '{_TIMES}' (batch size, window size))."
            )

    def _end_state(self, state, times, values, regressors):
        """The last input window of a state and a series behind it."""
        size = self.input_window_size
        state_times, state_values, state_regressors = state
        times = ops.concat([state_times, ops.cast(times, dtype=dtypes.int64)], axis=1)[:, -size:]
        times.set_shape((None, size))
        values = ops.concat([state_values, self._scale_data(values)], axis=1)[:, -size:, :]
        values.set_shape((None, size, self.num_features))
        regressors = ops.concat([state_regressors, regressors], axis=1)[:, -size:, :]
        regressors.set_shape((None, size, self.exogenous_size))
        return times, values, regressors
