"""Use of exported models of time series: states behind a series, and predictions from them."""

from __future__ import annotations

from stillflow.contrib.timeseries.continuations import canonicalize_times_or_steps_from_output
from stillflow.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
)
from stillflow.contrib.timeseries.head import state_to_dictionary
from stillflow.contrib.timeseries.readers import canonicalize_numpy_data
from stillflow.names import public


def _run(session, signatures, label, features, continue_from=None):
    """{name: array} that a signature makes of features and of the state that something has ended with."""
    signature = signatures.signature_def[label]
    graph = session.graph
    inputs = {name: graph.as_graph_element(info.name) for name, info in signature.inputs.items()}
    outputs = {name: graph.as_graph_element(info.name) for name, info in signature.outputs.items()}
    given = {**_state_of(continue_from or {}), **features}
    return session.run(outputs, feed_dict={inputs[name]: value for name, value in given.items()})


def _state_of(result):
    """{name: part} of the state of an evaluation, or of what a signature has returned."""
    if FilteringResults.STATE_TUPLE in result:
        return state_to_dictionary(result[FilteringResults.STATE_TUPLE])
    return {name: value for name, value in result.items() if name != FilteringResults.TIMES}


@public("contrib.timeseries.saved_model_utils.predict_continuation")
def predict_continuation(continue_from, signatures, session, steps=None, times=None, exogenous_features=None):
    """{name: prediction [batch, steps, ...]} behind a series, with their times.

    Args:
      continue_from: an evaluation, or what `cold_start_filter` or `filter_continuation` returned.
      signatures: the MetaGraphDef of the export.
      session: a session with it.
      steps: how many steps to predict, or
      times: their times, [steps] or [batch, steps].
      exogenous_features: {name: array [batch, steps, ...]} of other features.

    Raises ValueError for both times and steps or none, and for times that are not after the series.
    """
    times = canonicalize_times_or_steps_from_output(times, steps, continue_from)
    features = {PredictionFeatures.TIMES: times, **(exogenous_features or {})}
    found = _run(session, signatures, SavedModelLabels.PREDICT, features, continue_from)
    found[PredictionResults.TIMES] = times
    return found


def _filter(session, signatures, label, features, continue_from=None):
    features = canonicalize_numpy_data(features, require_single_batch=False)
    found = _run(session, signatures, label, features, continue_from)
    found[FilteringResults.TIMES] = features[FilteringFeatures.TIMES]
    return found


@public("contrib.timeseries.saved_model_utils.cold_start_filter")
def cold_start_filter(signatures, session, features):
    """{name: part of the state} behind a series, with its times.

    Args:
      signatures: the MetaGraphDef of the export.
      session: a session with it.
      features: {name: array}, as NumpyReader has them, but of any number of series.
    """
    return _filter(session, signatures, SavedModelLabels.COLD_START_FILTER, features)


@public("contrib.timeseries.saved_model_utils.filter_continuation")
def filter_continuation(continue_from, signatures, session, features):
    """{name: part of the state} behind a series that goes on where another has ended, with its times.

    Args:
      continue_from: an evaluation, or what `cold_start_filter` or this function returned.
      The others are as cold_start_filter has them.
    """
    return _filter(session, signatures, SavedModelLabels.FILTER, features, continue_from)
