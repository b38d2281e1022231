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
