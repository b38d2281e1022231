"""Trainings of small models, with what comes of them step by step: TensorFlow 1.15.5 and stillflow do the same."""

import json
import shutil
import tempfile

import numpy as np

X = np.linspace(-1, 1, 80).reshape(20, 4).astype(np.float32)
CLASSES = np.arange(20) % 3


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return np.asarray(value, np.float64).round(6).tolist()


def _classifier(tf, optimizer="adam"):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Dense(6, activation="relu", input_shape=(4,)),
            layers.Dropout(0.25),
            layers.BatchNormalization(),
            layers.Dense(3, activation="softmax"),
        ]
    )
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def fit_with_validation(tf, folder):
    model = _classifier(tf)
    history = model.fit(X, CLASSES, batch_size=6, epochs=3, verbose=0, validation_split=0.2)
    names = [variable.name for variable in model.weights + model.optimizer.weights]
    found = [history.history, model.evaluate(X, CLASSES, verbose=0), model.predict(X[:2]), model.get_weights()]
    return {"names": names, "values": _plain(found), "metrics": model.metrics_names}


def several_outputs_with_weights(tf, folder):
    layers = tf.keras.layers
    x = tf.keras.Input((4,))
    hidden = layers.Dense(3, activation="tanh")(x)
    joined = layers.concatenate([hidden, hidden * 0.5])
    model = tf.keras.Model(x, [layers.Dense(1, name="a")(joined), layers.Dense(3, name="b")(joined)])
    model.compile(
        tf.keras.optimizers.SGD(0.05, momentum=0.9), {"a": "mse", "b": "mae"}, loss_weights=[1.0, 0.5],
        metrics={"a": "mae"}, weighted_metrics={"b": ["mse"]},
    )  # fmt: skip
    targets = {"a": X[:, :1], "b": X[:, 1:]}
    weights = {"a": np.arange(20.0), "b": np.ones(20)}
    history = model.fit(X, targets, batch_size=8, epochs=2, verbose=0, sample_weight=weights, shuffle=False)
    return {"metrics": model.metrics_names, "values": _plain([history.history, model.predict_on_batch(X[:2])])}


def batch_by_batch(tf, folder):
    model = _classifier(tf, tf.train.AdamOptimizer(0.01))
    found = [model.train_on_batch(X[i : i + 5], CLASSES[i : i + 5], class_weight={0: 1, 1: 2, 2: 3}) for i in (0, 5)]
    found.append(model.test_on_batch(X, CLASSES))
    return {"values": _plain(found), "names": [variable.name for variable in tf.global_variables()]}


def callbacks_that_change_the_training(tf, folder):
    model = _classifier(tf, "sgd")
    rates = []
    callbacks = [
        tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)),
        tf.keras.callbacks.ReduceLROnPlateau("loss", patience=1, factor=0.5, min_delta=10.0),
        tf.keras.callbacks.EarlyStopping("loss", patience=2, min_delta=5.0, restore_best_weights=True),
        tf.keras.callbacks.CSVLogger(folder + "/log.csv"),
        tf.keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: rates.append(float(logs["loss"]))),
    ]
    history = model.fit(X, CLASSES, epochs=6, verbose=0, callbacks=callbacks)
    with open(folder + "/log.csv") as file:
        header = file.readline()
    return {"values": _plain([history.history, history.epoch, rates, model.get_weights()]), "header": header}


def model_that_is_built_by_its_data(tf, folder):
    model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])
    model.compile("rmsprop", "mse")
    history = model.fit(X, X[:, :1], epochs=2, verbose=0)
    return {"values": _plain([history.history, model.get_weights()]), "names": [each.name for each in model.weights]}


def configs(tf, folder):
    model = _classifier(tf)
    again = tf.keras.models.model_from_json(model.to_json())
    lines = []
    again.summary(print_fn=lines.append)
    return {"json": json.loads(model.to_json()), "again": json.loads(again.to_json()), "summary": lines}


SCENARIOS = {
    function.__name__: function
    for function in (
        fit_with_validation, several_outputs_with_weights, batch_by_batch, callbacks_that_change_the_training,
        model_that_is_built_by_its_data, configs,
    )
}  # fmt: skip


def in_folder(function):
    """What a function returns for a folder that is there meanwhile."""
    folder = tempfile.mkdtemp()
    try:
        return function(folder)
    finally:
        shutil.rmtree(folder)


def outcome(tf, function):
    """What comes of one, in a graph and a session of its own."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        tf.set_random_seed(11)
        np.random.seed(5)
        return in_folder(lambda folder: function(tf, folder))


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(SCENARIOS.items())}
