"""tf.contrib.timeseries against what TensorFlow 1.15.5 made of the same programs."""

import json
from pathlib import Path

import numpy as np
import pytest
from contrib.timeseries import series_scenarios

import stillflow as tf
from stillflow.runner import tensorflow_modules

series = tf.contrib.timeseries
RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "timeseries.json").read_text())
_TOLERANCE = 2e-3


def _are_equal(found, recorded):
    if isinstance(recorded, dict):
        return found.keys() == recorded.keys() and all(_are_equal(found[key], recorded[key]) for key in recorded)
    if isinstance(recorded, list):
        return len(found) == len(recorded) and all(map(_are_equal, found, recorded))
    return found == pytest.approx(recorded, abs=_TOLERANCE) if isinstance(recorded, float) else found == recorded


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")  # as TensorFlow warns
@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow_does(name):
    tensorflow_modules.install()
    found = json.loads(json.dumps(series_scenarios.outcome(tf, series_scenarios.of_name(name))))
    for number, (each, recorded) in enumerate(zip(found, RECORDED[name], strict=True)):
        assert _are_equal(each, recorded), number


@pytest.mark.parametrize(
    "data, words",
    [
        ({"times": [1, 2]}, "times and values are required features"),
        (
            {"times": [1, 2], "values": [1.0]},
            "All features must have their shapes prefixed by the shape of the times",
        ),
        ({"times": [[[1]]], "values": [[[1.0]]]}, "Got an unexpected number of dimensions for times"),
        ({"times": [1], "values": [[[1.0]]]}, "Was expecting at most 2 dimensions"),
        ({"times": [[1], [2]], "values": [[1.0], [2.0]]}, "Got batch input, was expecting unbatched input"),
    ],
)
def test_arrays_that_are_no_series(data, words):
    with pytest.raises(ValueError, match=words):
        series.NumpyReader(data)


def test_readers_say_what_they_need():
    with pytest.raises(ValueError, match="'values' is a required column"):
        series.CSVReader("x", column_names=["times"])
    with pytest.raises(ValueError, match="more than one times column"):
        series.CSVReader("x", column_names=["times", "times", "values"])
    with pytest.raises(ValueError, match="must match the length of column_names"):
        series.CSVReader("x", column_dtypes=[tf.int64])
    reader = series.NumpyReader({"times": np.arange(3), "values": np.arange(3.0)})
    with pytest.raises(ValueError, match="but only 3 records were available"):
        series.RandomWindowInputFn(reader, window_size=4, batch_size=1)


def test_predictions_come_after_the_evaluation():
    evaluation = {"times": np.array([[3, 4]]), "start_tuple": ()}
    for given, words in (
        ({}, "One of `steps` and `times` must be specified"),
        ({"steps": 1, "times": [5]}, "Only one of"),
        ({"times": [4]}, "Prediction times must be after"),
        ({"times": [[5], [6]]}, "`times` must have a batch dimension matching"),
    ):
        with pytest.raises(ValueError, match=words):
            series.predict_continuation_input_fn(evaluation, **given)


def test_estimators_say_what_they_need():
    with pytest.raises(ValueError, match="anomaly_prior_probability is required"):
        series.ARRegressor(1, 1, 1, 1, anomaly_distribution="cauchy")
    with pytest.raises(ValueError, match="only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS"):
        series.ARRegressor(1, 1, 1, 1, anomaly_prior_probability=0.1, loss="squared_loss")
    with pytest.raises(ValueError, match="must either be a list with the same size"):
        series.StructuralEnsembleRegressor([2, 3], 1, cycle_num_latent_values=[3, 3, 3])
    model = series.ARRegressor(periodicities=4, input_window_size=2, output_window_size=2, num_features=1)
    times = tf.constant([[0, 1, 2]])
    features = {"times": times, "values": tf.zeros([1, 3, 1])}
    with pytest.raises(ValueError, match="expects feature 'times' to have shape"):
        model.train(lambda: ({"times": tf.constant([[0, 1, 2]]), "values": tf.zeros([1, 3, 1])}, None), steps=1)
    with pytest.raises(ValueError, match="The model received a `labels`"):
        model._call_model_fn(features, times, "train", model.config)


def test_a_model_that_has_learned_predicts_what_follows():
    times = np.arange(160)
    values = np.sin(2 * np.pi * times / 8)
    reader = series.NumpyReader({"times": times[:150], "values": values[:150]})
    model = series.ARRegressor(
        periodicities=8, input_window_size=8, output_window_size=4, num_features=1, loss=series.ARModel.SQUARED_LOSS
    )
    model.train(series.RandomWindowInputFn(reader, window_size=12, batch_size=8, shuffle_seed=1), steps=120)
    evaluation = model.evaluate(series.WholeDatasetInputFn(reader), steps=1)
    (found,) = model.predict(series.predict_continuation_input_fn(evaluation, steps=10))
    assert found["times"].tolist() == list(range(150, 160))
    np.testing.assert_allclose(found["mean"][:, 0], values[150:], atol=0.15)
