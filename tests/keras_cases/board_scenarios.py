"""Trainings that are watched by the TensorBoard callbacks, and the events that these write.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

from pathlib import Path

import numpy as np
from keras_cases import eager_scenarios, training_scenarios

X = np.random.RandomState(3).randint(0, 5, (8, 2))
Y = np.random.RandomState(4).randn(8, 3).astype(np.float32)


def _model(tf):
    return tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(5, 4, input_length=2, name="words"),
            tf.keras.layers.Flatten(name="flat"),
            tf.keras.layers.Dense(3, name="dense"),
        ]
    )


def _events(tf, folder):
    """[folder, step, {tag: kind or number}] of each event, and all other files."""
    found, files = [], []
    for path in sorted(Path(folder).glob("**/*.*")):
        place = str(path.parent.relative_to(folder))
        if path.suffix == ".trace":  # there is no profile here
            continue
        if "tfevents" not in path.name:
            files.append(place + "/" + path.name.partition(".data")[0])
            continue
        for event in tf.train.summary_iterator(str(path)):
            values = {value.tag: _shown(tf, value) for value in event.summary.value}
            what = event.WhichOneof("what")
            if what != "file_version":  # TensorFlow opens another file in the end
                found.append([place, event.step, values or what])
    return [found, sorted(set(files))]


def _shown(tf, value):
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return value.simple_value
    if kind == "histo":
        return [value.histo.num, value.histo.min, value.histo.max]
    if kind == "image":
        return [value.image.height, value.image.width, value.image.colorspace]
    return [kind, value.metadata.plugin_data.plugin_name]


def _fit(tf, folder, callback, **options):
    model = _model(tf)
    model.compile("sgd", "mse", metrics=["mae"], **options)
    model.fit(
        X, Y, batch_size=4, epochs=2, validation_data=(X[:4], Y[:4]), shuffle=False, verbose=0, callbacks=[callback]
    )
    return _events(tf, folder)


def results_of_epochs(tf, folder):
    return _fit(tf, folder, tf.keras.callbacks.TensorBoard(folder))


def results_of_batches(tf, folder):
    return _fit(tf, folder, tf.keras.callbacks.TensorBoard(folder, write_graph=False, update_freq="batch"))


def results_of_samples(tf, folder):
    return _fit(tf, folder, tf.keras.callbacks.TensorBoard(folder, write_graph=False, update_freq=6))


def histograms_and_images(tf, folder):
    callback = tf.keras.callbacks.TensorBoard(folder, histogram_freq=1, write_images=True, write_grads=True)
    return _fit(tf, folder, callback)


def folders_of_epochs(tf, folder):
    return _fit(tf, folder, tf.compat.v2.keras.callbacks.TensorBoard(folder, profile_batch=0))


def folders_of_batches(tf, folder):
    callback = tf.compat.v2.keras.callbacks.TensorBoard(
        folder, write_graph=False, update_freq="batch", profile_batch=0
    )
    return _fit(tf, folder, callback)


def folders_of_histograms(tf, folder):
    callback = tf.compat.v2.keras.callbacks.TensorBoard(
        folder, write_graph=False, histogram_freq=2, write_images=True, profile_batch=0, embeddings_freq=2
    )
    found = _fit(tf, folder, callback)
    return [found, Path(folder, "projector_config.pbtxt").read_text()]


def folders_eagerly(tf, folder):
    callback = tf.compat.v2.keras.callbacks.TensorBoard(folder, update_freq=2, profile_batch=0, histogram_freq=1)
    return _fit(tf, folder, callback, run_eagerly=True)


def former_callback_eagerly(tf, folder):
    return _fit(tf, folder, tf.keras.callbacks.TensorBoard(folder, histogram_freq=1, update_freq="batch"))


IN_GRAPHS = (results_of_epochs, results_of_batches, results_of_samples, histograms_and_images)
EAGER = (folders_of_epochs, folders_of_batches, folders_of_histograms, folders_eagerly, former_callback_eagerly)
SCENARIOS = {function.__name__: function for function in IN_GRAPHS}
EAGERLY = {function.__name__: function for function in EAGER}


def outcomes(tf):
    """{name: outcome} of all."""
    from tensorflow.python.eager import context

    found = {name: training_scenarios.outcome(tf, function) for name, function in sorted(SCENARIOS.items())}
    with context.eager_mode():
        for name, function in sorted(EAGERLY.items()):
            found[name] = eager_scenarios.outcome(tf, function)
    return found
