"""QuantizedReshape: another shape of the same integers, in the same range."""

import numpy as np
import pytest

import stillflow as tf

reshape = tf.raw_ops.QuantizedReshape


def integers():
    return tf.quantize(tf.constant([[0.0, 1, 2], [3, 4, 5]]), 0.0, 6.0, tf.quint8)[0]


def run(*fetches):
    with tf.Session() as session:
        return session.run(fetches)


def test_integers_keep_their_order_and_range():
    output, least, greatest = reshape(tensor=integers(), shape=[3, -1], input_min=-1.0, input_max=2.0)
    assert output.shape == [3, 2] and output.dtype == tf.quint8 and least.shape == greatest.shape == []
    values = run(tf.cast(output, tf.int32), least, greatest)
    assert [value.tolist() for value in values] == [[[0, 43], [85, 128], [170, 213]], -1, 2]


def test_shapes_that_do_not_fit_are_refused():
    sizes = tf.placeholder_with_default([4, -1], [2])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="6 values, but the requested shape requires a multiple of 4"
    ):
        run(*reshape(tensor=integers(), shape=sizes, input_min=0.0, input_max=1.0))
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        reshape(tensor=integers(), shape=[6], input_min=[0.0], input_max=1.0)
    nothing = tf.placeholder_with_default(np.zeros(0, np.float32), None)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be scalars, not of shape \[0\]"):
        run(*reshape(tensor=integers(), shape=[6], input_min=nothing, input_max=1.0))


def test_there_is_no_gradient():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(LookupError, match="No gradient defined for operation 'QuantizedReshape'"):
        tf.gradients(reshape(tensor=x, shape=[2, 1], input_min=0.0, input_max=1.0)[0], x)
