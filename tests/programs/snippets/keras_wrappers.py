"""Layers of tf.keras that wrap others."""

import numpy as np

STEPS = np.sin(np.arange(2 * 4 * 3)).reshape(2, 4, 3).astype(np.float32)
ZEROED = (STEPS * (np.arange(8).reshape(2, 4, 1) % 3 > 0)).astype(np.float32)
IMAGES = np.sin(np.arange(2 * 3 * 4 * 4 * 2)).reshape(2, 3, 4, 4, 2).astype(np.float32)


def bidirectional(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    x = tf.keras.Input(tensor=tf.constant(STEPS))
    masked = layers.Masking()(tf.keras.Input(tensor=tf.constant(ZEROED)))
    both = layers.Bidirectional(layers.GRU(2), merge_mode=None)
    stacked = layers.Bidirectional(layers.RNN([layers.LSTMCell(2), layers.SimpleRNNCell(3)]), "ave")
    first = layers.Bidirectional(layers.LSTM(2, activity_regularizer="l2"))
    return [
        first(x),
        *both(x),
        stacked(x),
        *layers.Bidirectional(layers.LSTM(2, return_state=True), "sum")(x),
        layers.Bidirectional(layers.SimpleRNN(3, return_sequences=True), "mul")(masked),
        layers.Bidirectional(layers.GRU(2), backward_layer=layers.GRU(2, go_backwards=True, use_bias=False))(masked),
        layers.Bidirectional(layers.SimpleRNN(2))(
            x, initial_state=[layers.Dense(2)(first(x)), layers.Dense(2)(first(x))]
        ),
    ]


def time_distributed(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    x = tf.keras.Input(tensor=tf.constant(IMAGES))
    steps = layers.TimeDistributed(layers.Conv2D(3, 2, activation="relu"))(x)
    flat = layers.TimeDistributed(layers.Flatten())(steps)
    masked = layers.Masking()(tf.keras.Input((None, 3)))
    layers.TimeDistributed(layers.Dense(2))(masked)
    return [flat, layers.TimeDistributed(layers.Dense(2, activity_regularizer="l2"))(flat)]


def configs_of_wrapped_layers(tf):
    tf.set_random_seed(3)
    np.random.seed(3)
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Bidirectional(layers.LSTM(2, return_sequences=True, dropout=0.2), input_shape=(4, 3)),
            layers.TimeDistributed(layers.Dense(2)),
            layers.RNN([layers.GRUCell(2), layers.LSTMCell(3)]),
        ]
    )
    again = tf.keras.Sequential.from_config(model.get_config())
    return [again(tf.constant(STEPS))]
