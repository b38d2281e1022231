"""Trainings whose losses show which random numbers were drawn: TensorFlow 1.15.5 and stillflow do the same."""

import numpy as np
from keras_cases import eager_scenarios, training_scenarios

_NUMBERS = np.random.RandomState(0)
X = _NUMBERS.rand(24, 6).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[_NUMBERS.randint(0, 3, 24)]


def _sequential(tf):
    layers = tf.keras.layers
    hidden = layers.Dense(5, "relu", input_shape=(6,))
    return tf.keras.Sequential([hidden, layers.Dropout(0.5), layers.Dense(3, "softmax")])


def _functional(tf):
    layers = tf.keras.layers
    inputs = tf.keras.Input((6,))
    dropped = layers.Dropout(0.3)(layers.Dense(5, "tanh")(inputs))
    joined = layers.Concatenate()([dropped, layers.GaussianNoise(0.2)(layers.Dense(5)(inputs))])
    return tf.keras.Model(inputs, layers.Dense(3, "softmax")(joined))


def _convolving(tf):
    layers = tf.keras.layers
    chain = [
        layers.Reshape((6, 1), input_shape=(6,)), layers.Conv1D(4, 3, activation="relu"),
        layers.SpatialDropout1D(0.3), layers.BatchNormalization(), layers.GlobalMaxPooling1D(),
        layers.AlphaDropout(0.1), layers.Dense(3, "softmax"),
    ]  # fmt: skip
    return tf.keras.Sequential(chain)


def _recurrent(tf):
    layers = tf.keras.layers
    lstm = layers.LSTM(4, dropout=0.2, recurrent_dropout=0.1)
    return tf.keras.Sequential([layers.Reshape((3, 2), input_shape=(6,)), lstm, layers.Dense(3, "softmax")])


def _subclassed(tf):
    layers = tf.keras.layers

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__(name="net")
            self.hidden = layers.Dense(5, "relu", kernel_regularizer=tf.keras.regularizers.l2(0.01))
            self.norm = layers.BatchNormalization()
            self.rest = tf.keras.Sequential([layers.Dropout(0.3), layers.Dense(3, "softmax")])

        def call(self, x, training=None):
            return self.rest(self.norm(self.hidden(x), training=training), training=training)

    return Net()


def _fit(model, tf, *args, **kwargs):
    losses = []
    note = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda _, logs: losses.append(logs["loss"]))
    model.fit(*args, epochs=2, verbose=0, callbacks=[note], **kwargs)
    return losses


def _batch_by_batch(model, tf):
    model.predict_on_batch(X[:8])
    found = [model.train_on_batch(X[:8], Y[:8])[0] for _ in range(2)]
    return [*found, model.test_on_batch(X[:8], Y[:8])[0], model.train_on_batch(X[:8], Y[:8])[0]]


def _odd_batches(model, tf):
    weights = np.linspace(0, 1, 24) if model.built else None  # in graphs one that is yet to be called takes none
    return _fit(model, tf, X, Y, batch_size=10, validation_data=(X[:7], Y[:7]), sample_weight=weights)


def _parts(model, tf):
    return _fit(model, tf, X, Y, batch_size=8, validation_split=0.25) + [model.train_on_batch(X[:8], Y[:8])[0]]


def _datasets(model, tf):
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(24, seed=2)
    return _fit(model, tf, dataset.batch(10), validation_data=dataset.batch(12))


def _generators(model, tf):
    def batches():
        while True:
            for first in (0, 8, 16):
                yield X[first : first + 8], Y[first : first + 8]

    losses = []
    note = tf.keras.callbacks.LambdaCallback(on_batch_end=lambda _, logs: losses.append(logs["loss"]))
    model.fit_generator(batches(), 3, epochs=2, verbose=0, callbacks=[note], validation_data=(X[:8], Y[:8]))
    return losses


def _sequences(model, tf):
    class Batches(tf.keras.utils.Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return X[index * 8 : index * 8 + 8], Y[index * 8 : index * 8 + 8]

    return _fit(model, tf, Batches())


_MODELS = (_sequential, _functional, _convolving, _recurrent, _subclassed)
_RUNS = (_batch_by_batch, _odd_batches, _parts, _datasets, _generators)


def _scenario(make, run):
    def scenario(tf, folder):
        model = make(tf)
        model.compile(tf.keras.optimizers.SGD(0.5), "categorical_crossentropy", metrics=["accuracy"])
        losses = run(model, tf)
        return [round(float(loss), 6) for loss in losses]

    return scenario


SCENARIOS = {make.__name__[1:] + run.__name__: _scenario(make, run) for make in _MODELS for run in _RUNS}
# In graphs Python's own random numbers, which have no seed here, shuffle the batches of a Sequence.
EAGERLY = {**SCENARIOS, "sequential_sequences": _scenario(_sequential, _sequences)}


def outcomes(tf):
    """{name: losses} in graphs and eagerly."""
    from tensorflow.python.eager import context

    found = {"graph": {name: training_scenarios.outcome(tf, each) for name, each in sorted(SCENARIOS.items())}}
    with context.eager_mode():
        found["eager"] = {name: eager_scenarios.outcome(tf, each) for name, each in sorted(EAGERLY.items())}
    return found
