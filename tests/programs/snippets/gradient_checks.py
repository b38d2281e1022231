"""tf.test.compute_gradient: the nodes that it adds, and both Jacobians."""

import numpy as np


def _constants(tf, jacobians):
    """Jacobians without the digits in which differences vary."""
    return [tf.constant(np.round(jacobian, 6) + 0.0) for jacobian in jacobians]


def of_a_product(tf):
    x = tf.placeholder(tf.float64, [2, 2], name="x")
    y = tf.square(tf.matmul(x, tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)), name="y")
    with tf.Session():
        found = tf.test.compute_gradient(x, [2, 2], y, [2, 2], np.array([[1.0, 2.0], [-1.0, 0.5]]))
    return _constants(tf, found)


def of_a_list(tf):
    a = tf.placeholder(tf.float64, [2], name="a")
    b = tf.placeholder(tf.float64, [2], name="b")
    y = tf.multiply(a, tf.sin(b))
    values = [np.array([1.0, 2.0]), np.array([0.5, -0.5])]
    with tf.Session():
        feeds = dict(zip([a, b], values))
        found = tf.test.compute_gradient([a, b], [[2], [2]], y, [2], values, extra_feed_dict=feeds)
    return _constants(tf, [jacobian for pair in found for jacobian in pair])


def of_some_rows(tf):
    table = tf.Variable(np.arange(6.0).reshape(3, 2), name="table")
    rows = tf.gather(table.value(), [2, 0, 2], name="rows")
    with tf.Session():
        found = tf.test.compute_gradient(
            table.value(), [3, 2], tf.square(rows), [3, 2], np.ones([3, 2]), init_targets=[table.initializer]
        )
    return _constants(tf, found)


def error_of_a_wrong_gradient(tf):
    x = tf.placeholder(tf.float64, [3], name="x")
    y = tf.stop_gradient(x) * x
    with tf.Session():
        error = tf.test.compute_gradient_error(x, [3], y, [3], np.array([1.0, 2.0, 3.0]))
    return _constants(tf, [error])
