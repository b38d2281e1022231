"""Ready-made Estimators from the first step to the SavedModel; tests/golden/canned_models.json is TensorFlow 1.15.5's.

Runs in Python 3.7, too, where tools/record_golden.py records it. Each is a function of tf and of an empty folder.
"""

import importlib
import os
import tempfile

import numpy as np

PRICES = np.linspace(-1.5, 7.5, 24, dtype=np.float32).reshape(24, 1)
COLORS = np.array([["red"], ["green"], ["blue"], ["black"]] * 6)
NAMES = np.array([["low"], ["high"]])[((PRICES > 2).astype(int) ^ (COLORS == "red")).ravel()]


def _columns(tf):
    fc = tf.feature_column
    price = fc.numeric_column("price")
    color = fc.categorical_column_with_vocabulary_list("color", ["red", "green", "blue"], num_oov_buckets=1)
    cross = fc.crossed_column([fc.bucketized_column(price, [0.5, 2.0, 4.0]), "color"], 16)
    return [price, color, cross], [price, fc.embedding_column(color, 4)]


def _data(tf):
    data = tf.data.Dataset.from_tensor_slices(({"price": PRICES, "color": COLORS}, NAMES))
    return data.repeat().batch(8)


def _config(tf):
    return tf.estimator.RunConfig(tf_random_seed=11, save_checkpoints_steps=3)


def _recorder(tf, losses):
    class Losses(tf.train.SessionRunHook):
        def begin(self):
            self.loss = tf.get_default_graph().get_collection(tf.GraphKeys.LOSSES)[0]

        def before_run(self, context):
            return tf.train.SessionRunArgs(self.loss)

        def after_run(self, context, values):
            losses.append(float(values.results))

    return Losses()


def _examples(tf):
    examples = []
    for price, color in zip(PRICES[:6], COLORS[:6]):  # noqa: B905
        example = tf.train.Example()
        example.features.feature["price"].float_list.value.extend(price)
        example.features.feature["color"].bytes_list.value.append(color[0].encode())
        examples.append(example.SerializeToString())
    return examples


def _served(tf, path):
    """{signature: its method and outputs} of a SavedModel of a classifier."""
    found = {}
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.loader.load(session, ["serve"], path)
        for name, signature in sorted(meta.signature_def.items()):
            (fed,) = signature.inputs.values()
            outputs = {key: info.name for key, info in sorted(signature.outputs.items())}
            values = session.run(outputs, {fed.name: _examples(tf)})
            found[name] = [signature.method_name, {key: _plain(value) for key, value in values.items()}]
    return found


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in sorted(value.items())}
    if isinstance(value, bytes):
        return value.decode()
    return (
        _plain(value.tolist())
        if hasattr(value, "tolist")
        else [_plain(v) for v in value]
        if isinstance(value, list)
        else value
    )


def _story(tf, folder, estimator):
    losses = []
    estimator.train(lambda: _data(tf), steps=4, hooks=[_recorder(tf, losses)])
    estimator.train(lambda: _data(tf), steps=4, hooks=[_recorder(tf, losses)])
    found = [losses, _plain(estimator.evaluate(lambda: _data(tf).take(3)))]
    found.append([_plain(p) for p in estimator.predict(lambda: _data(tf).take(1))][:3])
    found.append(estimator.get_variable_names())
    wide, deep = _columns(tf)
    spec = tf.feature_column.make_parse_example_spec(wide + deep)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    found.append(_served(tf, estimator.export_saved_model(os.path.join(folder, "export"), receiver)))
    return found


def wide_and_deep(tf, folder):
    wide, deep = _columns(tf)
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        os.path.join(folder, "model"), linear_feature_columns=wide, dnn_feature_columns=deep,
        dnn_hidden_units=[6, 4], label_vocabulary=["low", "high"], config=_config(tf),
    )  # fmt: skip
    return _story(tf, folder, estimator)


def linear_then_warm(tf, folder):
    """Another model begins with the weights of the first, but for its bias."""
    first = tf.estimator.LinearClassifier(
        _columns(tf)[0], os.path.join(folder, "model"), label_vocabulary=["low", "high"], config=_config(tf)
    )
    found = _story(tf, folder, first)
    settings = tf.estimator.WarmStartSettings(first.model_dir, vars_to_warm_start=".*price.*")
    losses = []
    second = tf.estimator.LinearClassifier(
        _columns(tf)[0], os.path.join(folder, "second"), label_vocabulary=["low", "high"], config=_config(tf),
        warm_start_from=settings,
    )  # fmt: skip
    second.train(lambda: _data(tf), steps=2, hooks=[_recorder(tf, losses)])
    return found + [losses]


def baseline(tf, folder):
    estimator = tf.estimator.BaselineClassifier(
        os.path.join(folder, "model"), label_vocabulary=["low", "high"], config=_config(tf)
    )
    return _story(tf, folder, estimator)


def of_tensorflow_2(tf, folder):
    """The classes of tf.compat.v2, whose optimizers and heads are those of tf.keras."""
    models, wide_and_deep = tf.compat.v2.estimator, _columns(tf)
    labels = {"label_vocabulary": ["low", "high"], "config": _config(tf)}
    deep = models.DNNClassifier(
        [5, 3], wide_and_deep[1], os.path.join(folder, "deep"), dropout=0.2, batch_norm=True, **labels
    )
    both = models.DNNLinearCombinedClassifier(
        os.path.join(folder, "both"), linear_feature_columns=wide_and_deep[0], dnn_feature_columns=wide_and_deep[1],
        dnn_hidden_units=[4], **labels,
    )  # fmt: skip
    linear = models.LinearClassifier(wide_and_deep[0], os.path.join(folder, "linear"), **labels)
    found = [_story(tf, os.path.join(folder, str(n)), model) for n, model in enumerate([deep, both, linear])]
    losses = []
    baseline = models.BaselineClassifier(os.path.join(folder, "baseline"), **labels)
    baseline.train(
        lambda: _data(tf).map(lambda x, y: ({"price": x["price"]}, y)), steps=4, hooks=[_recorder(tf, losses)]
    )
    return [*sum(found, []), losses]


def recurrent(tf, folder):
    """Classes of tf.compat.v2 and of tf.contrib.estimator over columns of sequences."""

    def data():
        places = [[0, 0], [0, 1], [1, 0], [2, 0], [2, 1], [2, 2]]
        price = tf.SparseTensor(places, [1.0, 2.0, 3.0, 4.0, 0.5, -1.0], [3, 3])
        return {"price": price, "size": tf.constant([[1.0], [2.0], [-1.0]])}, tf.constant([[0], [1], [1]])

    size = tf.feature_column.numeric_column("size")
    new = tf.compat.v2.estimator.experimental.RNNClassifier(
        [tf.feature_column.sequence_numeric_column("price")], [size], units=[4, 3], cell_type="gru", n_classes=3,
        model_dir=os.path.join(folder, "new"), config=_config(tf),
    )  # fmt: skip
    old = tf.contrib.estimator.RNNClassifier(
        [tf.contrib.feature_column.sequence_numeric_column("price")], [size], num_units=[4, 3], cell_type="lstm",
        model_dir=os.path.join(folder, "old"), config=_config(tf),
    )  # fmt: skip
    found = []
    for model in (new, old):
        model.train(data, steps=4)
        found += [_plain(model.evaluate(data, steps=1)), model.get_variable_names()]
    return found


def _saved_model_estimator(tf):
    """SavedModelEstimator, which has no public name in TensorFlow 1.15."""
    if tf.__name__ == "stillflow":
        return importlib.import_module("stillflow.canned.estimators.saved_model").SavedModelEstimator
    inner = importlib.import_module("tensorflow_estimator.python.estimator.canned.saved_model_estimator")
    return inner.SavedModelEstimator


def exported_model_goes_on(tf, folder):
    """A SavedModel of all modes is an Estimator again."""

    def model_fn(features, labels, mode):
        weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
        logits = features["price"] * weight
        loss = None if labels is None else tf.reduce_mean(tf.square(logits - labels))
        train = None
        if mode == tf.estimator.ModeKeys.TRAIN:
            train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
        metrics = None if labels is None else {"mean": tf.metrics.mean(logits)}
        return tf.estimator.EstimatorSpec(mode, {"logits": logits}, loss, train, metrics)

    def data():
        return {"price": tf.constant([1.0, 2.0])}, tf.constant([3.0, 5.0])

    first = tf.estimator.Estimator(model_fn, os.path.join(folder, "model"), _config(tf))
    first.train(data, steps=3)
    from_data = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn(data)
    serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"price": tf.placeholder(tf.float32, [None])})
    modes = tf.estimator.ModeKeys
    path = first.experimental_export_all_saved_models(
        os.path.join(folder, "export"), {modes.TRAIN: from_data, modes.EVAL: from_data, modes.PREDICT: serving}
    )
    second = _saved_model_estimator(tf)(path, os.path.join(folder, "second"))
    found = [_plain(second.evaluate(data, steps=1))]
    second.train(data, steps=3)
    return found + [_plain(second.evaluate(data, steps=1)), _plain(next(second.predict(data)))]


def scenarios():
    """{name: function} of all."""
    functions = wide_and_deep, linear_then_warm, baseline, of_tensorflow_2, recurrent, exported_model_goes_on
    return {function.__name__: function for function in functions}


def outcome(tf, function):
    """What a scenario returns."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        return _plain(function(tf, folder))


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
