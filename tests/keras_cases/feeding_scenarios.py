"""Trainings with data of all kinds, with what comes of them: TensorFlow 1.15.5 and stillflow do the same."""

import contextlib
import io
import re

import numpy as np
from keras_cases.training_scenarios import CLASSES, X, _classifier, _plain, outcome

Y = (X[:, :1] * 2 + 0.5).astype(np.float32)


def _regression(tf, **kwargs):
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(3, activation="tanh", input_shape=(4,)), tf.keras.layers.Dense(1)]
    )
    model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"], **kwargs)
    return model


def _pairs(size=5, weights=False):
    while True:
        for start in range(0, 20, size):
            rows = slice(start, start + size)
            yield (X[rows], Y[rows], np.arange(size) / 3.0) if weights else (X[rows], Y[rows])


def generators(tf, folder):
    model = _regression(tf)
    kept = {"steps_per_epoch": 3, "epochs": 3, "initial_epoch": 1, "verbose": 0}
    fits = [
        model.fit(_pairs(), validation_data=(X, Y), **kept).history,
        model.fit_generator(
            _pairs(4), validation_data=((X[:5], Y[:5]) for _ in range(99)), validation_steps=2, **kept
        ).history,
        model.fit(_pairs(2), workers=0, validation_data=(X, Y), validation_freq=2, **kept).history,
    ]
    weighted = _regression(tf)
    fits.append(
        weighted.fit_generator(
            _pairs(weights=True), validation_data=_pairs(10, True), validation_steps=2, **kept
        ).history
    )
    asked = [
        model.evaluate_generator(_pairs(), steps=3),
        model.evaluate(_pairs(2), steps=2, verbose=0),
        model.predict_generator(_pairs(), steps=2),
        model.predict((x for x, _ in _pairs()), steps=1),
    ]
    return {"values": _plain([fits, asked])}


def sequences(tf, folder):
    ends = []

    class Batches(tf.keras.utils.Sequence):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            rows = slice(5 * index, 5 * index + 5)
            return X[rows], CLASSES[rows]

        def on_epoch_end(self):
            ends.append(1)

    model = _classifier(tf)
    fits = [
        model.fit(Batches(), epochs=2, verbose=0, shuffle=False, class_weight={0: 1, 1: 2, 2: 3}).history,
        model.fit_generator(
            Batches(), epochs=2, verbose=0, shuffle=False, workers=3, validation_data=Batches()
        ).history,
        model.fit(Batches(), steps_per_epoch=2, verbose=0, shuffle=False, workers=0).history,
    ]
    asked = [model.evaluate(Batches(), verbose=0), model.predict(Batches(), workers=2)]
    return {"values": _plain([fits, asked]), "ends": len(ends) > 0}


def datasets(tf, folder):
    model = _regression(tf)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y))
    weighted = tf.data.Dataset.from_tensor_slices((X, Y, np.arange(20, dtype=np.float32))).batch(5)
    other = _regression(tf)
    fits = [
        other.fit(weighted, verbose=0, epochs=2, validation_data=weighted).history,
        model.fit(dataset.batch(6), epochs=3, verbose=0).history,
        model.fit(
            dataset.repeat().batch(5), steps_per_epoch=3, epochs=2, verbose=0, validation_data=dataset.batch(4)
        ).history,
        model.fit(dataset.filter(lambda x, y: x[0] > -0.5).batch(4), epochs=3, verbose=0, initial_epoch=1).history,
        model.fit(
            X, Y, verbose=0, epochs=2, shuffle=False, validation_data=dataset.batch(5), validation_steps=2
        ).history,
    ]
    asked = [
        model.evaluate(dataset.repeat().batch(2), steps=3, verbose=0),
        model.predict(dataset.batch(7)), model.predict(dataset.map(lambda x, y: x).batch(4), steps=2),
    ]  # fmt: skip
    iterator = tf.compat.v1.data.make_one_shot_iterator(dataset.batch(4))
    asked += [model.train_on_batch(iterator), model.test_on_batch(iterator)]
    return {"values": _plain([fits, asked]), "names": [each.name for each in model.weights]}


def subclassed_models_of_datasets(tf, folder):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden, self.outcome = tf.keras.layers.Dense(3, "relu"), tf.keras.layers.Dense(1)

        def call(self, x, training=None):
            return self.outcome(self.hidden(x))

    net = Net()
    net.compile("adam", "mse", metrics=["mae"])
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5)
    first = net.fit(dataset, epochs=2, verbose=0).history
    later = Net()
    later.compile("sgd", "mae")
    second = later.fit(_pairs(), steps_per_epoch=2, epochs=2, verbose=0, validation_data=(X, Y)).history
    return {"values": _plain([first, second, net.predict(dataset, steps=1)])}


def added_losses_and_metrics(tf, folder):
    class Penalty(tf.keras.layers.Layer):
        def call(self, x):
            self.add_loss(0.1 * tf.reduce_mean(x * x))
            self.add_metric(tf.reduce_max(x), aggregation="mean", name="largest")
            return x

    x = tf.keras.Input((4,))
    hidden = Penalty()(tf.keras.layers.Dense(3, kernel_regularizer=tf.keras.regularizers.l2(0.01))(x))
    model = tf.keras.Model(x, tf.keras.layers.Dense(1)(hidden))
    model.add_loss(tf.reduce_mean(tf.abs(hidden)))
    model.add_metric(tf.reduce_sum(hidden), aggregation="mean", name="total")
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(X, Y, epochs=2, batch_size=7, verbose=0, shuffle=False).history
    kept = [model.train_on_batch(X[:5], Y[:5], reset_metrics=False) for _ in range(2)]
    kept.append(model.test_on_batch(X[5:], Y[5:], reset_metrics=False))
    model.reset_metrics()
    kept.append(model.test_on_batch(X[5:], Y[5:]))
    only = tf.keras.Model(x, hidden)
    only.add_loss(tf.reduce_mean(hidden))
    only.compile("sgd")
    return {
        "values": _plain([history, kept, only.fit(X, epochs=2, verbose=0).history]),
        "metrics": model.metrics_names,
    }


def several_inputs_by_name(tf, folder):
    a, b = tf.keras.Input((2,), name="a"), tf.keras.Input((2,), name="b")
    joined = tf.keras.layers.concatenate([a, b])
    dense = tf.keras.layers.Dense
    model = tf.keras.Model({"a": a, "b": b}, [dense(1, name="u")(joined), dense(2, name="v")(joined)])
    model.compile("sgd", ["mse", "mae"], metrics=[["mae"], []], loss_weights={"u": 1.0, "v": 2.0})
    inputs, targets = {"a": X[:, :2], "b": X[:, 2:]}, {"u": Y, "v": X[:, :2]}
    dataset = tf.data.Dataset.from_tensor_slices((inputs, targets)).batch(5)
    fits = [
        model.fit(inputs, targets, epochs=2, verbose=0, shuffle=False, validation_data=(inputs, targets)).history,
        model.fit(dataset, epochs=2, verbose=0, validation_data=dataset).history,
        model.fit(((inputs, targets) for _ in range(9)), steps_per_epoch=3, verbose=0).history,
    ]
    return {"values": _plain([fits, model.evaluate(dataset, verbose=0)]), "metrics": model.metrics_names}


def weights_of_samples_in_validation(tf, folder):
    model = _regression(tf)
    kept = {"epochs": 2, "verbose": 0, "shuffle": False, "batch_size": 6}
    fits = [
        model.fit(X, Y, sample_weight=np.arange(20.0), validation_split=0.25, **kept).history,
        model.fit(X, Y, validation_data=(X, Y, np.ones(20)), **kept).history,
        model.fit([X], [Y], validation_data=([X], [Y]), validation_freq=[2], **kept).history,
        model.fit(X, Y, shuffle="batch", epochs=2, verbose=0, batch_size=5).history,
    ]
    return {"values": _plain(fits)}


def _times_removed(text):
    text = re.sub(r"[\x08\r]+", "\n", text)
    lines = [re.sub(r"(ETA: )?\d+(:\d+)*(us|ms|s)\b(/(step|sample))?", "T", line) for line in text.split("\n")]
    return [line.rstrip() for line in lines if line.strip()]


def printed(tf, folder):
    model = _regression(tf)
    dataset = tf.data.Dataset.from_tensor_slices((1.1 * X, Y)).batch(10)
    texts = []
    for run in (
        lambda: model.fit(X, Y, epochs=2, batch_size=20, shuffle=False, validation_split=0.2),
        lambda: model.fit(dataset, verbose=2, epochs=2, validation_data=dataset, validation_steps=1),
        lambda: model.fit(X, Y, verbose=2, shuffle=False),
        lambda: model.fit(_pairs(), steps_per_epoch=1, epochs=2, verbose=2, validation_data=(X, Y)),
        lambda: model.fit(_pairs(), steps_per_epoch=1, verbose=1),
        lambda: model.evaluate(X, Y),
        lambda: model.evaluate(X, Y, verbose=2),
        lambda: model.predict(X, verbose=1),
    ):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            run()
        texts.append(_times_removed(out.getvalue()))
    return {"texts": texts}


def clones(tf, folder):
    layers = tf.keras.layers
    a, b = tf.keras.Input((4,), name="a"), tf.keras.Input((4,), name="b")
    shared = layers.Dense(3, name="shared")
    model = tf.keras.Model([a, b], layers.Dense(1, name="end")(layers.add([shared(a), shared(b)])))
    model.add_loss(tf.reduce_mean(model.output) * 2.0)
    model.add_metric(tf.reduce_sum(model.output), aggregation="mean", name="total")
    names = []

    def clone_function(layer):
        names.append(layer.name)
        return type(layer).from_config(layer.get_config())

    clone = tf.keras.models.clone_model(model, clone_function=clone_function)
    clone.compile("sgd", "mse")
    chain = tf.keras.models.clone_model(_regression(tf), input_tensors=tf.keras.Input((4,)))
    penalized = _regression(tf)
    penalized.add_loss(tf.reduce_mean(penalized.output) * 0.5)
    again = tf.keras.models.clone_model(penalized)
    again.compile("sgd", "mse")
    found = [
        again.fit(X, Y, verbose=0, shuffle=False).history,
        clone.fit([X, X], Y, verbose=0, shuffle=False).history,
    ]
    found += [chain.predict(X[:2]), clone.get_weights()]
    return {"values": _plain(found), "names": names, "layers": [each.name for each in clone.layers + chain.layers]}


SCENARIOS = {
    function.__name__: function
    for function in (
        generators, sequences, datasets, subclassed_models_of_datasets, added_losses_and_metrics,
        several_inputs_by_name, weights_of_samples_in_validation, printed, clones,
    )
}  # fmt: skip


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(SCENARIOS.items())}
