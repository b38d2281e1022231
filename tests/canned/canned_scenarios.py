"""Ready-made Estimators from the first step to the SavedModel; tests/golden/canned_models.json is TensorFlow 1.15.5's.

Runs in Python 3.7, too, where tools/record_golden.py records it. Each is a function of tf and of an empty folder.
"""

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


def scenarios():
    """{name: function} of all."""
    return {function.__name__: function for function in (wide_and_deep, linear_then_warm, baseline, of_tensorflow_2)}


def outcome(tf, function):
    """What a scenario returns."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        return _plain(function(tf, folder))


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
