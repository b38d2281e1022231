"""Attention, layer normalization, locally connected layers, feature columns, and what of the backend they need."""

import numpy as np

STEPS = np.sin(np.arange(2 * 5 * 3)).reshape(2, 5, 3).astype(np.float32)
IMAGES = np.sin(np.arange(2 * 4 * 5 * 2)).reshape(2, 4, 5, 2).astype(np.float32)


def attention(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    q = tf.keras.Input(tensor=tf.constant(STEPS[:, :4]))
    v = tf.keras.Input(tensor=tf.constant(np.cos(np.arange(30.0)).reshape(2, 5, 3).astype(np.float32)))
    zeroed = (STEPS * (np.arange(10).reshape(2, 5, 1) % 3 > 0)).astype(np.float32)
    masked = layers.Masking()(tf.keras.Input(tensor=tf.constant(zeroed)))
    return [
        layers.Attention()([q, v]),
        layers.Attention(use_scale=True, causal=True)([v, v, tf.tanh(v)]),
        layers.AdditiveAttention()([q, masked]),
        layers.AdditiveAttention(use_scale=False)([masked, v]),
    ]


def layer_normalization(tf):
    layers = tf.keras.layers
    x = tf.keras.Input(tensor=tf.constant(IMAGES))
    weighted = layers.LayerNormalization([1, 2], gamma_initializer="ones", beta_regularizer="l2")
    outputs = [layers.LayerNormalization()(x), weighted(x), layers.LayerNormalization(3, 0.1, center=False)(x)]
    gradients = tf.gradients(tf.reduce_sum(tf.square(outputs[1])), weighted.trainable_weights)
    return outputs + gradients + [layers.LayerNormalization(scale=False)(outputs[0])]


def locally_connected(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    x, steps = (tf.keras.Input(tensor=tf.constant(values)) for values in (IMAGES, STEPS))
    return [
        layers.LocallyConnected1D(2, 3, strides=2)(steps),
        layers.LocallyConnected1D(2, 2, implementation=2, padding="same", activation="tanh")(steps),
        layers.LocallyConnected1D(2, 3, implementation=3, padding="same", strides=2)(steps),
        layers.LocallyConnected1D(2, 2, data_format="channels_first", use_bias=False)(steps),
        layers.LocallyConnected2D(3, 2, kernel_regularizer="l2")(x),
        layers.LocallyConnected2D(2, (3, 2), implementation=2, padding="same")(x),
        layers.LocallyConnected2D(2, 2, implementation=3, data_format="channels_first")(x),
    ]


def feature_columns(tf):
    tf.set_random_seed(3)
    words = tf.feature_column.categorical_column_with_identity("w", 3)
    columns = [tf.feature_column.numeric_column("n", (2,)), tf.feature_column.indicator_column(words)]
    layer = tf.keras.layers.DenseFeatures(columns)
    return [layer({"n": tf.constant([[1.0, 2.0], [3.0, 4.0]]), "w": tf.constant([[1], [2]])})]


def convolutions_of_the_backend(tf):
    K = tf.keras.backend
    x, steps = tf.constant(IMAGES), tf.constant(STEPS)
    volumes = tf.constant(np.sin(np.arange(4 * 3 * 3 * 2)).reshape(1, 4, 3, 3, 2).astype(np.float32))

    def kernel(*shape):
        return tf.constant(np.cos(np.arange(np.prod(shape))).reshape(shape).astype(np.float32))

    return [
        K.conv1d(steps, kernel(2, 3, 2), padding="causal", dilation_rate=2),
        K.conv1d(steps, kernel(3, 5, 2), strides=2, data_format="channels_first", padding="same"),
        K.conv2d(x, kernel(2, 2, 2, 3), strides=(2, 1), padding="same"),
        K.conv2d(x, kernel(2, 2, 4, 1), data_format="channels_first"),
        K.conv2d_transpose(x, kernel(3, 3, 2, 2), (None, 8, 10, 2), strides=(2, 2), padding="same"),
        K.conv3d(volumes, kernel(2, 2, 1, 2, 2)),
        K.separable_conv2d(x, kernel(2, 2, 2, 2), kernel(1, 1, 4, 3)),
        K.pool2d(x, (2, 2), padding="same", pool_mode="avg"),
        K.pool2d(x, (2, 2), data_format="channels_first"),
        K.pool3d(volumes, (2, 1, 2), strides=(1, 2, 1)),
        K.local_conv1d(steps, kernel(2, 9, 2), (3,), (2,)),
    ]


def normalizations_of_the_backend(tf):
    K = tf.keras.backend
    x, steps = tf.constant(IMAGES), tf.constant(STEPS)
    two, three = tf.constant([0.5, 2.0]), tf.constant([1.0, 2.0, 3.0])
    return [
        *K.normalize_batch_in_training(x, two, None, [0, 1, 2]),
        *K.normalize_batch_in_training(steps, three, three, [0, 1]),
        *K.normalize_batch_in_training(steps, None, None, [0, 2]),
        K.batch_normalization(x, two, two, None, None),
        K.batch_normalization(steps, three, three, three, None),
    ]
