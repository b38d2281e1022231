"""Sparse and ragged tensors, and values of them, one after the other."""

import numpy as np
import pytest
from stillflow.python.framework import composite_tensor_utils as utils

import stillflow as tf


def test_values_are_appended():
    first = tf.SparseTensorValue(np.array([[0, 1]]), np.array([5]), np.array([2, 3]))
    second = tf.SparseTensorValue(np.array([[0, 0], [1, 2]]), np.array([6, 7]), np.array([3, 3]))
    joined = utils.append_composite_tensor(first, second)
    np.testing.assert_array_equal(joined.indices, [[0, 1], [2, 0], [3, 2]])
    np.testing.assert_array_equal(joined.values, [5, 6, 7])
    np.testing.assert_array_equal(joined.dense_shape, [5, 3])
    np.testing.assert_array_equal(second.indices, [[0, 0], [1, 2]])
    with tf.Session() as session:
        rows = session.run(tf.ragged.constant([[[1], [2, 3]], []], ragged_rank=2))
        assert utils.append_composite_tensor(rows, rows).to_list() == [[[1], [2, 3]], []] * 2
        assert utils.get_shape(rows) == (2, None, None)


def test_tensors_are_appended():
    sparse = tf.SparseTensor([[0, 1]], [5], [2, 3])
    ragged = tf.ragged.constant([[1], [2, 3]])
    with tf.Session() as session:
        joined = session.run(utils.append_composite_tensor(sparse, sparse))
        np.testing.assert_array_equal(joined.indices, [[0, 1], [2, 1]])
        assert session.run(utils.append_composite_tensor(ragged, ragged)).to_list() == [[1], [2, 3]] * 2
    assert all(map(utils.is_composite_or_composite_value, (sparse, ragged, joined)))
    assert not utils.is_composite_or_composite_value(np.zeros(3))


def test_what_does_not_fit_is_refused():
    first = tf.SparseTensorValue(np.array([[0, 1]]), np.array([5]), np.array([2, 3]))
    with pytest.raises(RuntimeError, match="do not match inner dimensions"):
        utils.append_composite_tensor(first, first._replace(dense_shape=[2, 4]))
    with pytest.raises(RuntimeError, match="do not have the same number of dimensions"):
        utils.append_composite_tensor(first, first._replace(dense_shape=[2]))
    with pytest.raises(RuntimeError, match="Unable to concatenate"):
        utils.append_composite_tensor(first, tf.ragged.constant([[1]]))
    with pytest.raises(RuntimeError, match="unsupported object"):
        utils.append_composite_tensor(1, 2)
