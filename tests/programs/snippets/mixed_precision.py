"""Layers that compute in float16 and keep variables in float32, and optimizers with a scaled loss."""

import numpy as np

VALUES = np.sin(np.arange(2 * 4 * 3)).reshape(2, 4, 3).astype(np.float16)


def _policy(tf, name="infer_float32_vars"):
    return tf.keras.mixed_precision.experimental.Policy(name)


def layers(tf):
    tf.set_random_seed(3)
    x = tf.keras.Input(tensor=tf.constant(VALUES))
    of_keras = tf.keras.layers
    dense = of_keras.Dense(2, "relu", dtype=_policy(tf), kernel_regularizer="l2")
    gru = of_keras.GRU(2, dtype=_policy(tf))
    normed = of_keras.BatchNormalization(dtype=_policy(tf))
    rows = of_keras.Embedding(5, 2, dtype=_policy(tf, "float16_with_float32_vars"))
    outputs = [dense(x[:, 0]), gru(x), normed(x), rows(tf.constant([[1, 4]]))]
    loss = tf.add_n([tf.reduce_sum(tf.cast(each, tf.float32)) for each in outputs])
    weights = dense.trainable_weights + gru.trainable_weights + normed.trainable_weights
    return outputs + tf.gradients(loss, weights) + dense.losses


def own_type(tf):
    tf.set_random_seed(3)
    dense = tf.keras.layers.Dense(2, dtype=_policy(tf, "infer"))
    with tf.variable_scope("scope", use_resource=True):
        cast = tf.layers.Dense(2, dtype=_policy(tf), name="cast")
        return [dense(tf.constant(VALUES[0])), cast(tf.constant(VALUES[0])), dense.kernel, cast.kernel]


def updates(tf):
    tf.set_random_seed(3)
    scaled = tf.keras.mixed_precision.experimental.LossScaleOptimizer
    x = tf.keras.Input(tensor=tf.constant(VALUES[0]))
    dense = tf.keras.layers.Dense(2, dtype=_policy(tf))
    loss = tf.reduce_sum(tf.square(tf.cast(dense(x), tf.float32)))
    fixed = scaled(tf.keras.optimizers.SGD(0.1), 128)
    with tf.control_dependencies(fixed.get_updates(loss, dense.trainable_weights)):
        after = tf.identity(dense.kernel)
    dynamic = scaled(tf.keras.optimizers.SGD(0.1), tf.train.experimental.DynamicLossScale(8.0, increment_period=1))
    return [after, *dynamic.get_gradients(loss, dense.trainable_weights)]
