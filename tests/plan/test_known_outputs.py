"""Nodes of which some outputs are known when a plan is made, and others are not."""

import numpy as np
import pytest

import stillflow as tf


@pytest.mark.parametrize("first", [True, False])
def test_an_output_that_is_known_is_there_where_its_node_does_not_run(first):
    fed, is_first = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.bool, [])
    x = tf.boolean_mask(fed, tf.reduce_max(fed, 1) > 0)  # of a size that no plan knows

    def shapes(x):
        return tf.shape_n([x, tf.zeros([3, 4])])

    def with_both():
        one, other = shapes(x)
        return tf.reshape(x, other) + tf.cast(one[0], tf.float32)

    def with_known():
        scaled = x * 2
        return tf.reshape(tf.exp(scaled), shapes(scaled)[1])

    y = tf.cond(is_first, with_both, with_known)
    value = np.arange(12.0).reshape(2, 6) / 10
    expected = value.reshape(3, 4) + 2 if first else np.exp(2 * value).reshape(3, 4)
    with tf.Session() as session:
        for _ in range(2):
            np.testing.assert_allclose(session.run(y, {fed: value, is_first: first}), expected, rtol=1e-6)
