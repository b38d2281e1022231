"""TensorStridedSliceUpdate. TensorFlow's kernel takes strings and crashes for numbers: numpy says what is right."""

import numpy as np
import pytest

import stillflow as tf


def updated(x, value, begin, end, strides=(1,), **masks):
    node = tf.raw_ops.TensorStridedSliceUpdate(
        input=x, begin=list(begin), end=list(end), strides=list(strides), value=value, **masks
    )
    with tf.Session() as session:
        return session.run(node)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_numbers(dtype, rng):
    x, value = (rng.integers(0, 9, shape).astype(dtype) for shape in ((4, 5), (2, 2)))
    expected = x.copy()
    expected[1:3, 4:0:-2] = value
    np.testing.assert_array_equal(updated(tf.constant(x), value, (1, 4), (3, 0), (1, -2)), expected)
    expected[:, 2] = x[:, 0]
    found = updated(
        tf.constant(expected), x[:, 0], (0, 2), (0, 3), (1, 1), begin_mask=1, end_mask=1, shrink_axis_mask=2
    )
    np.testing.assert_array_equal(found, expected)


def test_strings():
    assert updated(tf.constant(["a", "b", "c"]), ["x", "y"], [1], [3]).tolist() == [b"a", b"x", b"y"]
    assert updated(tf.constant(["a", "b"]), ["x"], [1], [1]).tolist() == [b"a", b"b"]  # no part, of any value


def test_what_came_in_stays():
    x = tf.placeholder_with_default(np.zeros(3), [3])
    node = tf.raw_ops.TensorStridedSliceUpdate(input=x, begin=[0], end=[2], strides=[1], value=[1.0, 2.0])
    with tf.Session() as session:
        before, after = session.run([x + 0.0, node])
    assert (before.tolist(), after.tolist()) == ([0, 0, 0], [1, 2, 0])


def test_values_do_not_broadcast():
    with pytest.raises(tf.errors.UnimplementedError, match="Automatic broadcasting not yet implemented"):
        updated(tf.constant([1, 2, 3]), [9], [0], [2])
