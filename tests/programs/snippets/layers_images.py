"""tf.layers of images: convolutions, pools, fused batch normalization; and those of tf.contrib.layers."""

import numpy as np


def _images(tf, *shape):
    size = int(np.prod(shape))
    return tf.constant((np.arange(size).reshape(shape) * 7 % 11 / 5.0 - 1.0).astype(np.float32))


def _ones(tf):
    return {"kernel_initializer": tf.constant_initializer(0.1), "bias_initializer": tf.constant_initializer(0.5)}


def _with_gradients(tf, *outputs):
    return [*outputs, *tf.gradients([tf.reduce_sum(tf.square(x)) for x in outputs], tf.trainable_variables())]


def convolutions(tf):
    tf.set_random_seed(1)
    layers, ones = tf.layers, _ones(tf)
    images = _images(tf, 2, 5, 6, 3)
    return _with_gradients(
        tf,
        layers.conv2d(images, 4, 3, activation=tf.nn.relu, **ones),
        layers.conv2d(images, 2, (2, 3), (2, 1), "same", use_bias=False, name="narrow", kernel_initializer=None),
        layers.conv2d(images, 2, 2, dilation_rate=2, **ones),
        layers.conv1d(_images(tf, 2, 7, 3), 4, 3, 2, "same", **ones),
        layers.conv1d(_images(tf, 2, 7, 3), 4, 2, padding="valid", dilation_rate=2, **ones),
        layers.conv3d(_images(tf, 1, 3, 4, 5, 2), 3, 2, 2, "same", **ones),
    )


def transposed(tf):
    layers, ones = tf.layers, _ones(tf)
    images = _images(tf, 2, 4, 3, 3)
    return _with_gradients(
        tf,
        layers.conv2d_transpose(images, 2, 3, 2, "same", **ones),
        layers.conv2d_transpose(images, 2, 3, **ones),
        layers.conv3d_transpose(_images(tf, 1, 2, 3, 2, 2), 3, 2, 2, "same", **ones),
    )


def separable(tf):
    layers = tf.layers
    options = {"depthwise_initializer": tf.constant_initializer(0.2), "pointwise_initializer": tf.ones_initializer()}
    return _with_gradients(
        tf,
        layers.separable_conv2d(_images(tf, 2, 5, 6, 3), 4, 3, **options),
        layers.separable_conv2d(_images(tf, 2, 5, 6, 3), 4, 3, 2, "same", depth_multiplier=2, **options),
        layers.separable_conv1d(_images(tf, 2, 6, 3), 4, 3, padding="same", **options),
    )


def pools(tf):
    layers = tf.layers
    images, rows, rooms = _images(tf, 2, 5, 6, 3), _images(tf, 2, 7, 3), _images(tf, 1, 4, 4, 4, 2)
    return [
        layers.max_pooling2d(images, 2, 2),
        layers.average_pooling2d(images, (3, 2), 1, "same", name="mean"),
        layers.max_pooling1d(rows, 3, 2),
        layers.average_pooling1d(rows, 2, 2, "same"),
        layers.max_pooling3d(rooms, 2, 2),
        layers.average_pooling3d(rooms, 2, 1),
    ]


def fused_batch_norm(tf):
    images = _images(tf, 2, 5, 6, 3)
    training = tf.layers.batch_normalization(images, training=True)
    inference = tf.layers.batch_normalization(images, training=False, momentum=0.5, scale=False)
    chosen = tf.layers.batch_normalization(images, training=tf.placeholder_with_default(True, []))
    return _with_gradients(tf, training, inference, chosen), tf.get_collection(tf.GraphKeys.UPDATE_OPS)[:2]


def convnet(tf):
    images = tf.placeholder_with_default(np.ones((2, 8, 8, 1), np.float32), [None, 8, 8, 1])
    net = tf.layers.conv2d(images, 4, 5, padding="same", activation=tf.nn.relu, **_ones(tf))
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.flatten(net)
    return _with_gradients(tf, tf.layers.dense(net, 3, kernel_initializer=tf.constant_initializer(0.1)))


def contrib_convolutions(tf):
    tf.set_random_seed(1)
    layers = tf.contrib.layers
    images = _images(tf, 2, 5, 6, 3)
    ones = {"weights_initializer": tf.constant_initializer(0.1)}
    return _with_gradients(
        tf,
        layers.conv2d(images, 4, 3, **ones),
        layers.conv2d(images, 4, [3, 3], 2, "VALID", activation_fn=None, normalizer_fn=layers.batch_norm, **ones),
        layers.conv2d(images, 2, 2, rate=2, scope="gaps", **ones),
        layers.conv2d_transpose(images, 2, 3, 2, **ones),
        layers.separable_conv2d(images, 4, 3, 1, **ones),
        layers.separable_conv2d(images, None, 3, 1, **ones),
        layers.conv2d_in_plane(images, 3, **ones),
    )


def contrib_pools(tf):
    layers = tf.contrib.layers
    images = _images(tf, 2, 5, 6, 3)
    return [
        layers.max_pool2d(images, 2),
        layers.avg_pool2d(images, [2, 2], 1, "SAME"),
        layers.max_pool2d(images, 3, 1),
    ]


def contrib_batch_norm(tf):
    layers = tf.contrib.layers
    images = _images(tf, 2, 5, 6, 3)
    outputs = [
        layers.batch_norm(images),
        layers.batch_norm(images, scale=True, is_training=False, updates_collections=None),
        layers.batch_norm(images, updates_collections=None, decay=0.9),
        layers.batch_norm(_images(tf, 4, 3), scope="rows"),
    ]
    return _with_gradients(tf, *outputs)


def channels_first(tf):
    images = _images(tf, 2, 3, 5, 6)
    first = {"data_format": "channels_first"}
    tf.layers.conv2d(images, 4, 3, dilation_rate=2, **first)
    tf.layers.conv2d(images, 4, 3, 2, "same", **first)
    tf.layers.max_pooling2d(images, 2, 2, **first)
    tf.layers.separable_conv2d(images, 2, 3, **first)
    tf.layers.batch_normalization(images, axis=1, training=True)
    tf.layers.conv1d(_images(tf, 2, 3, 7), 4, 3, **first)
    tf.layers.conv3d(_images(tf, 1, 2, 3, 4, 5), 3, 2, **first)
    tf.layers.max_pooling3d(_images(tf, 1, 2, 3, 4, 5), 2, 2, **first)
    tf.contrib.layers.conv2d(images, 4, 3, data_format="NCHW", normalizer_fn=tf.contrib.layers.batch_norm)
    tf.contrib.layers.max_pool2d(images, 2, data_format="NCHW")
