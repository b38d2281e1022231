"""Constants from Python values of which TensorFlow says that they are none."""

import numpy as np
import pytest

import stillflow as tf


def test_dimensions_are_integers_for_those_who_ask_for_integers(new_graph):
    size = tf.Dimension(3)
    assert tf.constant([size, 1], tf.int64).shape.as_list() == [2]
    for dtype in (None, tf.float32):
        with pytest.raises(TypeError):
            tf.constant([size, 1], dtype)
    with pytest.raises(TypeError):
        tf.constant(tf.Dimension(None), tf.int32)


def test_integers_of_more_than_64_bits(new_graph):
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(OverflowError):
            tf.constant(value, tf.int32)


def test_buffers_of_bytes_are_arrays():
    with tf.Session() as session:
        for value in (bytearray(b"ab"), memoryview(b"ab")):
            found = session.run(tf.convert_to_tensor(value))
            assert found.dtype == np.uint8
            assert found.tolist() == [97, 98]


def test_zeros_like_a_tensor_of_known_shape_take_any_false_value_for_no_type():
    """As TensorFlow 1.15, which asks for the type only where the shape is not known."""
    assert tf.zeros_like(tf.ones([2]), False).dtype is tf.float32
    assert tf.zeros_like(tf.ones([2]), "int32").dtype is tf.int32
    with pytest.raises(TypeError, match="Cannot convert value False to a TensorFlow DType"):
        tf.zeros_like(tf.placeholder(tf.float32, [None]), False)
