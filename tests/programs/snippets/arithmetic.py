"""Operators, elementwise functions of two arguments, and their gradients."""


def operators(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.constant([5.0, 6.0], name="y")
    return [x + y, x - 1, 2 * x, 1 - y, x * y, x + [1.0, 2.0]]


def reductions(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return [tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.reduce_max(x, axis=1, keepdims=True)]


def gradient_of_products(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="x")
    y = tf.constant([5.0, 6.0], name="y")
    with tf.name_scope("model"):
        z = tf.reduce_sum(x * y + x)
    return tf.gradients(z, [x, y])
