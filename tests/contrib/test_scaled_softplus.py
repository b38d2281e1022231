"""tf.contrib.nn.scaled_softplus. Recorded values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest

import stillflow as tf

scaled_softplus = tf.contrib.nn.scaled_softplus
X = [[-3.0, -0.5, 0.0, 0.5], [1.0, 2.0, 6.0, 20.0]]


def test_values_and_gradients_with_an_alpha_for_each_row():
    x, alpha = tf.constant(X), tf.constant([[0.5], [0.1]])
    y = scaled_softplus(x, alpha)
    assert y.shape == [2, 4]
    with tf.Session() as session:
        y, by_x, by_alpha = session.run([y, *tf.gradients(y * y, [x, alpha])])
    expected = [[0.0012378259, 0.15663081, 0.34657359, 0.65663081], [1.00000465, 2.0, 6.0, 20.0]]
    np.testing.assert_allclose(y, expected, rtol=2e-5)
    slopes = [[6.1212463e-06, 0.08424902, 0.34657359, 0.96007121], [1.99991846, 4.0, 12.0, 40.0]]
    np.testing.assert_allclose(by_x, slopes, rtol=5e-5)
    np.testing.assert_allclose(by_alpha, [[1.4274627], [0.00099896523]], rtol=1e-5)


def test_clipped_values_have_no_gradient():
    x, clip = tf.constant(X), tf.constant(1.75)
    y = scaled_softplus(x, 0.5, clip=clip)
    with tf.Session() as session:
        y, by_x, by_clip = session.run([y, *tf.gradients(2.0 * y, [x, clip])])
    np.testing.assert_allclose(y[1], [1.06346405, 1.75, 1.75, 1.75], rtol=1e-6)
    np.testing.assert_allclose(by_x[1], [1.76159418, 0.0, 0.0, 0.0], rtol=1e-6)
    assert by_clip == pytest.approx(6.0)


def test_sizes_may_be_unknown():
    x = tf.placeholder(tf.float32)
    y = scaled_softplus(x, [0.5, 0.1])
    with tf.Session() as session:
        found = session.run(y, {x: np.zeros([3, 2])})
    np.testing.assert_allclose(found, np.log(2) * np.broadcast_to([0.5, 0.1], [3, 2]), rtol=1e-6)
