"""Trainings of models with convolutions and recurrent layers: losses step by step, and what comes of them."""

import numpy as np
from keras_cases.training_scenarios import _plain, outcome

STEPS = np.sin(np.arange(8 * 6 * 3)).reshape(8, 6, 3).astype(np.float32)
STEPS[2:4, 4:] = 0
IMAGES = np.sin(np.arange(8 * 8 * 8 * 2)).reshape(8, 8, 8, 2).astype(np.float32)
CLASSES = np.arange(8) % 3


def _trained(tf, layers, x):
    model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(3, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    y = CLASSES[: len(x)]
    history = model.fit(x, y, batch_size=4, epochs=3, shuffle=False, verbose=0)
    evaluated = model.evaluate(x, y, batch_size=4, verbose=0)
    model.reset_states()
    names = [weight.name for weight in model.weights]
    predicted = model.predict(x, batch_size=4)[:2]
    return {"names": names, "values": _plain([history.history, evaluated, predicted])}


def masked_and_both_ways(tf, folder):
    layers = tf.keras.layers
    first = [layers.Masking(input_shape=(6, 3)), layers.LSTM(4, return_sequences=True)]
    return _trained(tf, [*first, layers.Bidirectional(layers.GRU(3))], STEPS)


def convolved_steps(tf, folder):
    layers = tf.keras.layers
    first = [layers.Conv1D(4, 2, activation="relu", input_shape=(6, 3)), layers.SimpleRNN(3, return_sequences=True)]
    rest = [layers.TimeDistributed(layers.Dense(2)), layers.LayerNormalization(), layers.GlobalMaxPooling1D()]
    return _trained(tf, first + rest, STEPS)


def convolved_images(tf, folder):
    layers = tf.keras.layers
    first = [layers.Conv2D(4, 3, activation="relu", input_shape=(8, 8, 2)), layers.MaxPooling2D()]
    rest = [
        layers.SeparableConv2D(3, 2),
        layers.DepthwiseConv2D(2, activation="relu"),
        layers.GlobalAveragePooling2D(),
    ]
    return _trained(tf, first + rest, IMAGES)


def embedded_and_unrolled(tf, folder):
    layers = tf.keras.layers
    numbers = np.arange(8 * 5).reshape(8, 5) % 7
    return _trained(
        tf, [layers.Embedding(7, 4, mask_zero=True, input_length=5), layers.LSTM(3, unroll=True)], numbers
    )


def stateful(tf, folder):
    return _trained(tf, [tf.keras.layers.LSTM(3, stateful=True, batch_input_shape=(4, 6, 3))], STEPS[:4])


SCENARIOS = (masked_and_both_ways, convolved_steps, convolved_images, embedded_and_unrolled, stateful)


def outcomes(tf):
    return {scenario.__name__: outcome(tf, scenario) for scenario in SCENARIOS}
