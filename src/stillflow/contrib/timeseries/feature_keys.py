"""The names of features and results."""

from __future__ import annotations

from stillflow.names import public
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY


@public("contrib.timeseries.python.timeseries.feature_keys.State")
class State:
    """Of states: the tuple, and what names of its parts begin with."""

    STATE_TUPLE = "start_tuple"
    STATE_PREFIX = "model_state"


@public("contrib.timeseries.python.timeseries.feature_keys.Times")
class Times:
    """Of times."""

    TIMES = "times"


@public("contrib.timeseries.python.timeseries.feature_keys.Values")
class Values:
    """Of values."""

    VALUES = "values"


@public("contrib.timeseries.TrainEvalFeatures")
class TrainEvalFeatures(Times, Values):
    """What training and evaluation need: times [batch, window] and values [batch, window, features]."""


@public("contrib.timeseries.python.timeseries.feature_keys.PredictionFeatures")
class PredictionFeatures(Times, State):
    """What predictions need: times and a state."""


@public("contrib.timeseries.python.timeseries.feature_keys.FilteringFeatures")
class FilteringFeatures(Times, Values, State):
    """What states are moved on by: times, values and a state."""


@public("contrib.timeseries.python.timeseries.feature_keys.PredictionResults")
class PredictionResults(Times):
    """What predictions have besides those of the model."""


@public("contrib.timeseries.FilteringResults")
class FilteringResults(Times, State):
    """What evaluations have besides what the model says."""


@public("contrib.timeseries.python.timeseries.feature_keys.SavedModelLabels")
class SavedModelLabels:
    """The signatures of exports."""

    PREDICT = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"


def without(features, *keys):
    """The features whose names are none of these."""
    return {name: value for name, value in features.items() if name not in keys}
