"""Recurrent layers of tf.keras: graphs, values and gradients."""

import numpy as np

STEPS = np.sin(np.arange(2 * 4 * 3)).reshape(2, 4, 3).astype(np.float32)
ZEROED = (STEPS * (np.arange(8).reshape(2, 4, 1) % 3 > 0)).astype(np.float32)


def _of(tf, layers, values=STEPS):
    x = tf.keras.Input(tensor=tf.constant(values))
    outputs = []
    for layer in layers:
        found = layer(x)
        outputs += found if isinstance(found, list) else [found]
    weights = [weight for layer in layers for weight in layer.trainable_weights]
    gradients = tf.gradients(tf.add_n([tf.reduce_sum(tf.square(y)) for y in outputs]), weights)
    return outputs + gradients + [loss for layer in layers for loss in layer.losses]


def simple(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    return _of(
        tf,
        [
            layers.SimpleRNN(2),
            layers.SimpleRNN(3, "relu", use_bias=False, return_sequences=True, go_backwards=True),
            layers.SimpleRNN(2, return_state=True, unroll=True, kernel_regularizer="l2"),
        ],
    )


def gru(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    return _of(
        tf,
        [
            layers.GRU(2),
            layers.GRU(2, reset_after=True, return_sequences=True, recurrent_activation="sigmoid"),
            layers.GRU(3, implementation=2, return_state=True),
            layers.GRU(2, implementation=2, reset_after=True, use_bias=False, unroll=True),
        ],
    )


def lstm(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    return _of(
        tf,
        [
            layers.LSTM(2),
            layers.LSTM(2, implementation=2, return_sequences=True, return_state=True, go_backwards=True),
            layers.LSTM(3, unit_forget_bias=False, unroll=True, recurrent_activation="sigmoid", dtype="float32"),
            layers.RNN(tf.keras.experimental.PeepholeLSTMCell(2)),
        ],
    )


def with_masks(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    x = layers.Masking()(tf.keras.Input(tensor=tf.constant(ZEROED)))
    return [
        layers.LSTM(2)(x),
        layers.GRU(2, return_sequences=True, go_backwards=True)(x),
        layers.SimpleRNN(2, unroll=True, return_sequences=True)(x),
        layers.SimpleRNN(2, unroll=True, zero_output_for_mask=True, return_sequences=True)(x),
        layers.LSTM(2, return_sequences=True, zero_output_for_mask=True)(x),
        layers.LSTM(2)(layers.LSTM(2, return_sequences=True)(x)),
    ]


def with_dropout(tf):
    tf.set_random_seed(3)
    np.random.seed(3)
    tf.keras.backend.set_learning_phase(1)
    layers = tf.keras.layers
    x = tf.keras.Input(tensor=tf.constant(STEPS))
    outputs = [
        layers.SimpleRNN(2, dropout=0.3, recurrent_dropout=0.2)(x),
        layers.GRU(2, dropout=0.3, recurrent_dropout=0.2, unroll=True)(x),
        layers.LSTM(2, dropout=0.3)(x),
        layers.LSTM(2, dropout=0.3, recurrent_dropout=0.4, implementation=2)(x, training=True),
    ]
    tf.keras.backend.set_learning_phase(0)
    return outputs


def with_initial_states_and_stacks(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    x = tf.keras.Input(tensor=tf.constant(STEPS))
    encoded, h, c = layers.LSTM(3, return_state=True)(x)
    stack = layers.RNN([layers.LSTMCell(2), layers.GRUCell(3), layers.SimpleRNNCell(2)], return_state=True)
    return [
        layers.LSTM(3)(x, initial_state=[h, c]),
        layers.GRU(3)(x, initial_state=encoded),
        layers.SimpleRNN(2)(x, initial_state=layers.Dense(2)(h)),
        *stack(x),
        layers.RNN(tf.nn.rnn_cell.LSTMCell(2))(x),
        layers.LSTM(2, time_major=True)(x),
    ]


def stateful(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    layer = layers.LSTM(2, stateful=True, batch_input_shape=(2, 4, 3))
    output = layer(tf.keras.Input(tensor=tf.constant(STEPS)))
    return [output], [*layer.updates], [output]


def convolutional(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    images = np.sin(np.arange(2 * 3 * 4 * 4 * 2)).reshape(2, 3, 4, 4, 2).astype(np.float32)
    return _of(
        tf,
        [
            layers.ConvLSTM2D(2, 2),
            layers.ConvLSTM2D(2, 3, padding="same", return_sequences=True, use_bias=False, return_state=True),
        ],
        images,
    )
