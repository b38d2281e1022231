"""tf.contrib.layers.scale_gradient, and the global step of optimize_loss."""

import numpy as np
import pytest

import stillflow as tf


def test_gradients_are_scaled():
    x = tf.constant([1.0, 2.0])
    y = tf.contrib.layers.scale_gradient(x, tf.constant([3.0]))
    (gradient,) = tf.gradients(y**2, x)
    assert y.shape == x.shape
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(y), [1, 2])
        np.testing.assert_array_equal(session.run(gradient), [6, 12])


def test_a_constant_counts_no_steps():
    loss = tf.square(tf.get_variable("v", initializer=1.0))
    with pytest.raises(AttributeError, match="assign_add"):
        tf.contrib.layers.optimize_loss(loss, tf.constant(3, tf.int64), 0.1, "SGD")
