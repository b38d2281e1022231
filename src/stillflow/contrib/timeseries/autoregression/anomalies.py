"""AnomalyMixtureARModel: an ARModel for series in which some values are wrong."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.timeseries.autoregression.model import LEAST_VARIANCE, ARModel
from stillflow.contrib.timeseries.autoregression.networks import FlatPredictionModel
from stillflow.contrib.timeseries.densities import cauchy_log_prob, normal_log_prob
from stillflow.names import public
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros


@public("contrib.timeseries.python.timeseries.ar_model.AnomalyMixtureARModel")
class AnomalyMixtureARModel(ARModel):
    """An ARModel whose values are those that it predicts or, with a probability, of a wider distribution.

    Args:
      anomaly_prior_probability: the probability, between 0 and 1.
      anomaly_distribution: GAUSSIAN_ANOMALY or CAUCHY_ANOMALY.
      The others are as ARModel has them.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self, periodicities, anomaly_prior_probability, input_window_size, output_window_size, num_features,
        prediction_model_factory=FlatPredictionModel, anomaly_distribution=GAUSSIAN_ANOMALY, num_time_buckets=10,
        exogenous_feature_columns=None,
    ):  # fmt: skip
        assert 0.0 < anomaly_prior_probability < 1.0
        assert anomaly_distribution in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY)
        self._anomaly_prior_probability = anomaly_prior_probability
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities=periodicities,
            num_features=num_features,
            num_time_buckets=num_time_buckets,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            loss=ARModel.NORMAL_LIKELIHOOD_LOSS,
            prediction_model_factory=prediction_model_factory,
            exogenous_feature_columns=exogenous_feature_columns,
        )

    def prediction_ops(self, times, values, exogenous_regressors):
        """As ARModel has it, with "anomaly_params", the variance or the scale of wrong values."""
        found = super().prediction_ops(times, values, exogenous_regressors)
        scale = get_variable("anomaly_log_param", shape=[], dtype=self.dtype, initializer=Zeros())
        found["anomaly_params"] = ops.exp(scale)
        return found

    def _anomaly_log_prob(self, targets, prediction_ops):
        mean, scale = prediction_ops["mean"], prediction_ops["anomaly_params"]
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            return normal_log_prob(targets, ops.sqrt(ops.maximum(scale, LEAST_VARIANCE)), mean)
        return cauchy_log_prob(targets, scale, mean)

    def loss_op(self, targets, prediction_ops):
        sigma = ops.sqrt(ops.maximum(prediction_ops["covariance"], LEAST_VARIANCE))
        usual = normal_log_prob(targets, sigma, prediction_ops["mean"])
        usual += ops.log(1 - self._anomaly_prior_probability)
        wrong = self._anomaly_log_prob(targets, prediction_ops)
        wrong += ops.log(self._anomaly_prior_probability)
        less = ops.minimum(usual, wrong)
        more = ops.maximum(usual, wrong)
        loss = -ops.reduce_sum(more + ops.log(1 + ops.exp(less - more)))
        loss /= ops.cast(ops.reduce_prod(ops.shape(targets)), self.dtype)
        return loss
