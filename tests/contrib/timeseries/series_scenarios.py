"""tf.contrib.timeseries: what TensorFlow 1.15.5 makes of it is in tests/golden/timeseries.json.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import functools
import os
import shutil
import tempfile

import numpy as np
from contrib.graph_hashes import count_and_hash

MODES = ("train", "eval", "infer")


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in sorted(value.items())}
    if isinstance(value, (tuple, list)):
        return [_rounded(each) for each in value]
    return np.asarray(value, np.float64).round(3).tolist()


def _series(length, features, batch=1):
    steps = np.arange(length * batch).reshape(batch, length)
    waves = [np.sin(2 * np.pi * steps / 8 + i) + 0.05 * steps for i in range(features)]
    return steps, np.stack(waves, axis=-1).astype(np.float32)


def _input(tf, length, features, batch=1, has_others=False):
    times, values = _series(length, features, batch)
    found = {"times": tf.constant(times), "values": tf.constant(values)}
    if has_others:
        found["other"] = tf.constant((times % 2).astype(np.float32)[..., None])
    return found, None


# ---- Models -------------------------------------------------------------------------------------------------


def _lstm_model(tf):
    """The model of TensorFlow's example, with fewer units."""
    from tensorflow.contrib.timeseries.python.timeseries import model as ts_model

    class Model(ts_model.SequentialTimeSeriesModel):
        def __init__(self, num_units, num_features):
            super(Model, self).__init__(
                train_output_names=["mean"], predict_output_names=["mean"], num_features=num_features
            )
            self._num_units = num_units

        def initialize_graph(self, input_statistics=None):
            super(Model, self).initialize_graph(input_statistics=input_statistics)
            with tf.variable_scope("", use_resource=True):
                self._cell = tf.nn.rnn_cell.LSTMCell(num_units=self._num_units)
                self._run = tf.make_template("lstm_cell", self._cell, create_scope_now_=True)
                dense = functools.partial(tf.layers.dense, units=self.num_features)
                self._predict = tf.make_template("predict_from_lstm_output", dense, create_scope_now_=True)

        def get_start_state(self):
            zeros = self._cell.zero_state(batch_size=1, dtype=self.dtype)
            return (
                tf.zeros([], dtype=tf.int64),
                tf.zeros([self.num_features], dtype=self.dtype),
                [tf.squeeze(part, axis=0) for part in zeros],
            )

        def _filtering_step(self, current_times, current_values, state, predictions):
            time, prediction, lstm_state = state
            with tf.control_dependencies([tf.assert_equal(current_times, time)]):
                values = self._scale_data(current_values)
                predictions["loss"] = tf.reduce_mean((prediction - values) ** 2, axis=-1)
                return (current_times, values, lstm_state), predictions

        def _prediction_step(self, current_times, state):
            _, before, lstm_state = state
            output, lstm_state = self._run(inputs=before, state=lstm_state)
            prediction = self._predict(output)
            state = (current_times, prediction, lstm_state)
            return state, {"mean": self._scale_back_data(prediction)}

        def _imputation_step(self, current_times, state):
            return state

        def _exogenous_input_step(self, current_times, current_exogenous_regressors, state):
            return state

    return Model(num_units=4, num_features=2)


def _estimators(tf):
    """{name: (makes an estimator, of how many features, of how many steps a window is, whether there are others)}."""
    from tensorflow.contrib.timeseries.python.timeseries import ar_model, estimators, state_management

    series = tf.contrib.timeseries
    config = tf.estimator.RunConfig(tf_random_seed=3)
    other = [tf.feature_column.numeric_column("other")]
    ar = functools.partial(series.ARRegressor, config=config)
    structural = functools.partial(series.StructuralEnsembleRegressor, num_features=1, config=config)
    return {
        "autoregression": (lambda: ar(8, 4, 2, 2, hidden_layer_sizes=[5]), 2, 6, False),
        "squares": (lambda: ar([8, 3], 2, 3, 1, other, loss=ar_model.ARModel.SQUARED_LOSS), 1, 5, True),
        "periods": (lambda: ar(8, 0, 3, 1), 1, 3, False),
        "anomalies": (
            lambda: ar(8, 3, 2, 1, anomaly_prior_probability=0.1, anomaly_distribution="gaussian"), 1, 5, False
        ),
        "cauchy": (
            lambda: ar(8, 3, 2, 1, anomaly_prior_probability=0.1, anomaly_distribution="cauchy"), 1, 5, False
        ),
        "recurrent": (
            lambda: estimators.LSTMAutoRegressor(8, 3, 2, num_features=1, num_units=3, config=config), 1, 5, False
        ),
        "structural": (
            lambda: structural([8], cycle_num_latent_values=3, moving_average_order=1), 1, 6, False
        ),
        "with_others": (
            lambda: structural(
                None, moving_average_order=0, autoregressive_order=1, exogenous_feature_columns=other,
                anomaly_prior_probability=0.1,
            ), 1, 6, True
        ),
        "chained": (
            lambda: estimators.TimeSeriesRegressor(
                model=_lstm_model(tf), state_manager=state_management.ChainingStateManager(), config=config
            ), 2, 6, False
        ),
    }  # fmt: skip


def _prediction_input(tf, evaluation, steps, has_others):
    others = {"other": np.ones([1, steps, 1], np.float32)} if has_others else None
    return tf.contrib.timeseries.predict_continuation_input_fn(evaluation, steps=steps, exogenous_features=others)


def _of_model(tf, name):
    """Graphs, an evaluation and predictions of a model that has been trained for some steps."""
    make, features, window, has_others = _estimators(tf)[name]
    estimator = make()
    found = []
    for mode in MODES[:2]:
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(3)
            tf.train.create_global_step()
            batch, _ = _input(tf, window, features, 3, has_others)
            spec = estimator._call_model_fn(batch, None, mode, estimator.config)
            found.append([mode, count_and_hash(graph), sorted(spec.eval_metric_ops or {})])
    estimator.train(lambda: _input(tf, window, features, 3, has_others), steps=4)
    whole = functools.partial(_input, tf, 14, features, 1, has_others)
    evaluation = estimator.evaluate(whole, steps=1)
    found.append(_rounded({key: evaluation[key] for key in evaluation if key != "start_tuple"}))
    if "start_tuple" not in evaluation:
        return found
    (predictions,) = estimator.predict(_prediction_input(tf, evaluation, 5, has_others))
    found.append(_rounded(predictions))
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        tf.train.create_global_step()
        batch, _ = _prediction_input(tf, evaluation, 5, has_others)()
        estimator._call_model_fn(batch, None, "infer", estimator.config)
        found.append(count_and_hash(graph))
    return found


# ---- Exports ------------------------------------------------------------------------------------------------


def exports(tf):
    """States and predictions of exported models."""
    found = []
    utils = tf.contrib.timeseries.saved_model_utils
    times, values = _series(14, 2)
    for name in ("autoregression", "chained"):
        make, features, window, _ = _estimators(tf)[name]
        estimator = make()
        estimator.train(functools.partial(_input, tf, window, features, 3), steps=2)
        folder = estimator.export_saved_model("export", estimator.build_raw_serving_input_receiver_fn())
        with tf.Graph().as_default(), tf.Session() as session:
            signatures = tf.saved_model.loader.load(session, ["serve"], folder)
            found.append(sorted([key, sorted(s.inputs)] for key, s in signatures.signature_def.items()))
            given = {"signatures": signatures, "session": session}
            state = utils.cold_start_filter(features={"times": times[0, :9], "values": values[0, :9]}, **given)
            later = {"times": times[0, 9:], "values": values[0, 9:]}
            state = utils.filter_continuation(continue_from=state, features=later, **given)
            found.append(_rounded(state))
            found.append(_rounded(utils.predict_continuation(continue_from=state, steps=3, **given)))
    make, *_ = _estimators(tf)["recurrent"]
    estimator = make()
    estimator.train(functools.partial(_input, tf, 5, 1, 3), steps=1)
    receiver = estimator.build_one_shot_parsing_serving_input_receiver_fn(6, 3)
    folder = estimator.export_saved_model("one_shot", receiver)
    example = tf.train.Example()
    example.features.feature["times"].int64_list.value.extend(range(9))
    example.features.feature["values"].float_list.value.extend(values[0, :6, 0])
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.loader.load(session, ["serve"], folder).signature_def["serving_default"]
        fed = {signature.inputs["examples"].name: [example.SerializeToString()]}
        found.append(_rounded(session.run(signature.outputs["mean"].name, fed)))
    return found


# ---- Input --------------------------------------------------------------------------------------------------


def _run(tf, make):
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        features = make()
        features = features[0] if isinstance(features, tuple) else features
        nodes = count_and_hash(graph)
        with tf.train.MonitoredSession() as session:
            run = session.run(features)
    return nodes, {key: list(np.asarray(value).shape) for key, value in sorted(run.items())}, run


def readers(tf):
    """Series out of arrays, text and Examples."""
    series, found = tf.contrib.timeseries, []
    from tensorflow.contrib.timeseries.python.timeseries import input_pipeline

    times, values = _series(7, 2)
    with open("data.csv", "w") as file:
        file.write("time,a,b,name\n")
        for row in zip(times[0], *values[0].T):
            file.write("{},{:.3f},{:.3f},x\n".format(*row))
    with tf.python_io.TFRecordWriter("data.tfrecord") as writer:
        for time, value in zip(times[0], values[0]):
            example = tf.train.Example()
            example.features.feature["times"].int64_list.value.append(time)
            example.features.feature["values"].float_list.value.extend(value)
            writer.write(example.SerializeToString())
    names = ["times", "values", "values", "name"]
    types = [tf.int64, tf.float32, tf.float32, tf.string]
    spec = {"times": tf.FixedLenFeature([], tf.int64), "values": tf.FixedLenFeature([2], tf.float32)}
    for reader in (
        series.NumpyReader({"times": times[0], "values": values[0]}, read_num_records_hint=5),
        series.CSVReader("data.csv", names, types, skip_header_lines=1, read_num_records_hint=5),
        input_pipeline.TFExampleReader("data.tfrecord", spec),
    ):
        for make in (reader.read, reader.read_full, series.WholeDatasetInputFn(reader)):
            nodes, shapes, run = _run(tf, make)
            found.append([nodes, shapes, run["times"].tolist(), _rounded(run["values"])])
    return found


def windows(tf):
    """Windows of a series: each is in order, and of steps that follow each other."""
    found = []
    times, values = _series(40, 1)
    reader = tf.contrib.timeseries.NumpyReader({"times": times[0], "values": values[0]})
    for given in ({}, {"jitter": False}):
        make = tf.contrib.timeseries.RandomWindowInputFn(
            reader, window_size=5, batch_size=3, num_threads=1, shuffle_seed=2, **given
        )
        nodes, shapes, run = _run(tf, make)
        found.append([nodes, shapes, bool((np.diff(run["times"], axis=1) == 1).all())])
    return found


def outcomes(tf):
    """{name: what TensorFlow, or stillflow, makes of it}."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    cases = {name: functools.partial(_of_model, name=name) for name in _estimators(tf)}
    cases.update(exports=exports, readers=readers, windows=windows)
    return {name: outcome(tf, case) for name, case in cases.items()}


def outcome(tf, case):
    """What a case returns, in a folder of its own."""
    folder, before = tempfile.mkdtemp(), os.getcwd()
    os.chdir(folder)
    try:
        return case(tf)
    finally:
        os.chdir(before)
        shutil.rmtree(folder)


def of_name(name):
    """The case of a name."""
    cases = {"exports": exports, "readers": readers, "windows": windows}
    return cases.get(name) or functools.partial(_of_model, name=name)
