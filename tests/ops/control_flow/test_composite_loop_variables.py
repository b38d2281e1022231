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


@pytest.mark.parametrize("invariant", [tf.TensorShape([None]), tf.TensorShape(None)])
def test_the_invariant_of_a_sparse_variable_is_the_shape_of_its_dense_shape(invariant):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.SparseTensor([[0], [3]], [1.0, 2.0], [4])
        row = tf.constant([[1], [1]], tf.int64)

        def longer(x):
            return tf.SparseTensor(tf.concat([x.indices, row], 1), x.values, tf.concat([x.dense_shape, [5]], 0))

        _, found = tf.while_loop(
            lambda i, _: i < 2, lambda i, x: (i + 1, longer(x)), [0, x], [tf.TensorShape([]), invariant]
        )
        assert found.indices.shape.as_list() == [None, None]
        assert session.run(found).dense_shape.tolist() == [4, 5, 5]


@pytest.mark.parametrize(("invariant", "text"), [([5], r"specified shape invariant is \(\?, 5\)"), ([1, 2], "1 dim")])
def test_wrong_invariants_of_a_sparse_variable_are_named(invariant, text):
    with tf.Graph().as_default():
        x = tf.SparseTensor([[0]], [1.0], [4])
        with pytest.raises(ValueError, match=text):
            tf.while_loop(
                lambda i, _: i < 2, lambda i, x: (i + 1, x), [0, x], [tf.TensorShape([]), tf.TensorShape(invariant)]
            )
