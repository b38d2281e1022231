"""Layers of tf.keras that see sequences, images and volumes: convolutions, pooling, borders."""

import numpy as np

STEPS = np.sin(np.arange(2 * 6 * 3)).reshape(2, 6, 3).astype(np.float32)
IMAGES = np.sin(np.arange(2 * 6 * 5 * 3)).reshape(2, 6, 5, 3).astype(np.float32)
VOLUMES = np.sin(np.arange(4 * 5 * 4 * 2)).reshape(1, 4, 5, 4, 2).astype(np.float32)


def _of(tf, values, layers):
    """Outputs of layers, weights' gradients of one, losses."""
    x = tf.keras.Input(tensor=tf.constant(values))
    outputs = [layer(x) for layer in layers]
    weights = [weight for layer in layers for weight in layer.trainable_weights]
    losses = [loss for layer in layers for loss in layer.losses]
    gradients = tf.gradients(tf.add_n([tf.reduce_sum(tf.square(y)) for y in outputs]), weights) if weights else []
    return outputs + gradients + losses


def convolutions_of_sequences(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    return _of(
        tf, STEPS,
        [
            layers.Conv1D(4, 3, activation="relu", kernel_regularizer="l2"),
            layers.Conv1D(2, 2, dilation_rate=2, kernel_initializer="he_uniform"),
            layers.Conv1D(2, 2, padding="causal"),
            layers.Conv1D(2, 3, strides=2, padding="same", use_bias=False),
            layers.SeparableConv1D(4, 3, depth_multiplier=2, padding="same", activation="tanh"),
        ],
    )  # fmt: skip


def convolutions_of_images(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    return _of(
        tf, IMAGES,
        [
            layers.Conv2D(4, (3, 2), strides=(2, 1), activation="relu", bias_initializer="ones"),
            layers.Conv2D(2, 3, dilation_rate=2, padding="same", activity_regularizer="l1"),
            layers.SeparableConv2D(3, 3, depth_multiplier=2, pointwise_regularizer="l2"),
            layers.DepthwiseConv2D(3, strides=2, padding="same", depth_multiplier=2, activation="sigmoid"),
            layers.DepthwiseConv2D((2, 3), use_bias=False, depthwise_constraint="max_norm"),
            layers.Conv2DTranspose(3, 3, strides=2, padding="same", output_padding=1),
            layers.Conv2DTranspose(2, (3, 2)),
        ],
    )  # fmt: skip


def convolutions_of_volumes(tf):
    tf.set_random_seed(3)
    layers = tf.keras.layers
    return _of(
        tf, VOLUMES,
        [
            layers.Conv3D(3, 2, activation="elu"),
            layers.Conv3D(2, (3, 2, 1), padding="same", strides=2),
            layers.Conv3DTranspose(3, 2, strides=2, activation="relu"),
        ],
    )  # fmt: skip


def pooling_of_sequences(tf):
    layers = tf.keras.layers
    outputs = _of(
        tf, STEPS,
        [
            layers.MaxPooling1D(), layers.AveragePooling1D(3, 1, "same"), layers.GlobalMaxPooling1D(),
            layers.GlobalAveragePooling1D(), layers.MaxPool1D(2, data_format="channels_first"),
            layers.GlobalAvgPool1D("channels_first"), layers.UpSampling1D(3), layers.ZeroPadding1D((1, 2)),
            layers.Cropping1D((1, 0)), layers.Cropping1D(2),
        ],
    )  # fmt: skip
    zeroed = STEPS * (np.arange(6) > 2)[:, None]
    masked = layers.Masking()(tf.keras.Input(tensor=tf.constant(zeroed.astype(np.float32))))
    return [*outputs, layers.GlobalAveragePooling1D()(masked)]


def pooling_of_images(tf):
    layers = tf.keras.layers
    return _of(
        tf, IMAGES,
        [
            layers.MaxPooling2D(), layers.AveragePooling2D((3, 2), (1, 2), "same"), layers.GlobalMaxPooling2D(),
            layers.GlobalAveragePooling2D(), layers.GlobalMaxPool2D("channels_first"), layers.UpSampling2D((2, 3)),
            layers.UpSampling2D(2, interpolation="bilinear"), layers.UpSampling2D(2, "channels_first"),
            layers.ZeroPadding2D(2), layers.ZeroPadding2D(((1, 0), (0, 2)), "channels_first"),
            layers.Cropping2D(1), layers.Cropping2D(((1, 0), (0, 2))), layers.Cropping2D((1, 1), "channels_first"),
        ],
    )  # fmt: skip


def pooling_of_volumes(tf):
    layers = tf.keras.layers
    return _of(
        tf, VOLUMES,
        [
            layers.MaxPooling3D(), layers.AveragePooling3D((2, 2, 3), 1, "same"), layers.GlobalMaxPooling3D(),
            layers.GlobalAveragePooling3D("channels_first"), layers.UpSampling3D((1, 2, 1)),
            layers.ZeroPadding3D((1, 0, 2)), layers.Cropping3D(), layers.Cropping3D(((1, 0), (0, 2), (1, 1))),
        ],
    )  # fmt: skip
