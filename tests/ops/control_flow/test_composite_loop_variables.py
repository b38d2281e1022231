"""tf.while_loop over sparse and ragged tensors: how many values there are may change from round to round."""

import numpy as np
import pytest

import stillflow as tf


def test_a_sparse_variable_may_grow():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.SparseTensor([[0]], [1.0], [4])
        one_more = lambda i, x: (i + 1, tf.sparse.add(x, tf.SparseTensor([[i + 1]], [2.0], x.dense_shape)))  # noqa: E731
        first = tf.constant(0, tf.int64)
        _, found = tf.while_loop(lambda i, _: i < 3, one_more, [first, x])
        assert found.values.shape.as_list() == [None]
        assert found.dense_shape.shape.as_list() == [1]
        np.testing.assert_array_equal(session.run(found).values, [1, 2, 2, 2])


def test_a_ragged_variable_may_get_longer_rows_but_not_more():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ragged.constant([[1, 2], [3]])
        _, found = tf.while_loop(lambda i, _: i < 1, lambda i, x: (i + 1, tf.concat([x, x], axis=1)), [0, x])
        assert session.run(found).to_list() == [[1, 2, 1, 2], [3, 3]]
        with pytest.raises(ValueError, match="after one iteration"):
            tf.while_loop(lambda i, _: i < 1, lambda i, x: (i + 1, tf.concat([x, x], axis=0)), [0, x])
