"""tf.fingerprint: the bytes that TensorFlow 1.15.5 gives."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits


def _run(*args):
    with tf.Session() as session:
        return session.run(tf.fingerprint(*args)).tolist()


def test_values_are_those_of_tensorflow():
    assert _run(["a", "b"]) == [[227, 117, 223, 182, 101, 66, 69, 179], [22, 241, 200, 94, 33, 96, 178, 163]]
    of_rows = [[122, 64, 59, 169, 136, 60, 55, 83], [52, 252, 224, 38, 64, 226, 155, 60]]
    assert _run([["a", "b"], ["c", "d"]]) == of_rows
    of_numbers = [[105, 190, 92, 80, 114, 177, 247, 12], [153, 104, 7, 255, 187, 151, 158, 5]]
    assert _run(np.arange(6).reshape(2, 3)) == of_numbers
    assert _run(np.arange(6).reshape(2, 3, 1)) == of_numbers
    assert _run([True]) == [[62, 88, 126, 177, 19, 76, 162, 71]]
    assert _run(np.zeros((0, 2))) == []


def test_shapes_and_errors():
    assert tf.fingerprint(tf.zeros([3, 2])).shape == (3, 8)
    assert tf.fingerprint(tf.placeholder(tf.float32, [None])).shape.as_list() == [None, 8]
    with pytest.raises(ValueError, match="Shape must be at least rank 1"):
        tf.fingerprint(1.0)
    with pytest.raises(ValueError, match="Unsupported method: md5"):
        tf.fingerprint([1.0], "md5")
    method, data = tf.placeholder(tf.string, []), tf.placeholder(tf.float32)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported fingerprint method: md5"):
            session.run(tf.fingerprint([1.0], method), {method: "md5"})
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least one dimension"):
            session.run(tf.fingerprint(data), {data: 1.0})


def test_bits_do_not_depend_on_threads():
    assert_same_bits(lambda: tf.fingerprint(np.arange(30000, dtype=np.float32).reshape(10000, 3)))
