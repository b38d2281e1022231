"""Ragged tensors: values as TensorFlow 1.15.5 has them."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.ragged import conversions

DIGITS = [[3, 1, 4], [], [1, 5], [9]]
NESTED = [[[1, 2], [3]], [], [[4, 5, 6], []]]


def lists(value):
    with tf.Session() as session:
        value = session.run(value)
    return value.to_list() if isinstance(value, tf.compat.v1.ragged.RaggedTensorValue) else value.tolist()


PARTITIONS = {
    "from_value_rowids": [0, 0, 0, 2, 2, 3],
    "from_row_splits": [0, 3, 3, 5, 6],
    "from_row_lengths": [3, 0, 2, 1],
    "from_row_starts": [0, 3, 3, 5],
    "from_row_limits": [3, 3, 5, 6],
}


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions_say_the_same(name):
    ragged = getattr(tf.RaggedTensor, name)([3, 1, 4, 1, 5, 9], PARTITIONS[name])
    assert lists(ragged) == DIGITS
    assert lists(ragged.value_rowids()) == PARTITIONS["from_value_rowids"]
    assert lists(ragged.row_lengths()) == PARTITIONS["from_row_lengths"]
    assert ragged.shape.as_list() == [4, None]


@pytest.mark.parametrize("name", PARTITIONS)
def test_partitions_that_do_not_fit_are_refused(name):
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        lists(getattr(tf.RaggedTensor, name)([3, 1], PARTITIONS[name]))


# Expressions of `r`, a ragged tensor of DIGITS, or `n`, of NESTED, and their values.
EXPRESSIONS = {
    "r + 1": [[4, 2, 5], [], [2, 6], [10]],
    "10 - r": [[7, 9, 6], [], [9, 5], [1]],
    "r * tf.constant([[1], [2], [3], [4]])": [[3, 1, 4], [], [3, 15], [36]],
    "-r": [[-3, -1, -4], [], [-1, -5], [-9]],
    "r > 3": [[False, False, True], [], [False, True], [True]],
    "tf.square(r)": [[9, 1, 16], [], [1, 25], [81]],
    "tf.add_n([r, r])": [[6, 2, 8], [], [2, 10], [18]],
    "tf.reduce_sum(r, axis=1)": [8, 0, 6, 9],
    "tf.reduce_sum(r, axis=0)": [13, 6, 4],
    "tf.reduce_sum(n, axis=[1, 2])": [6, 0, 15],
    "tf.reduce_max(n, axis=2)": [[2, 3], [], [6, -2147483648]],
    "tf.reduce_mean(tf.cast(r, tf.float32), axis=0)": [float(np.float32(13 / 3)), 3.0, 4.0],
    "tf.reduce_any(r > 4, axis=1)": [False, False, True, True],
    "tf.reduce_all(r > 0, axis=1)": [True, True, True, True],
    "tf.concat([r, r], axis=0)": DIGITS + DIGITS,
    "tf.concat([r, r], axis=1)": [row + row for row in DIGITS],
    "tf.stack([r, r], axis=1)": [[row, row] for row in DIGITS],
    "tf.ragged.stack([r, [[7]]])": [DIGITS, [[7]]],
    "tf.gather(r, [3, 0, 3])": [[9], [3, 1, 4], [9]],
    "tf.gather(r, tf.ragged.constant([[0], [2, 3]]))": [[[3, 1, 4]], [[1, 5], [9]]],
    "tf.gather_nd(n, [[0, 1], [2, 0]])": [[3], [4, 5, 6]],
    "tf.gather_nd(n, [[0, 1, 0], [2, 0, 2]])": [3, 6],
    "tf.batch_gather(r, tf.ragged.constant([[1], [], [0, 1], [0]]))": [[1], [], [1, 5], [9]],
    "tf.tile(r, [1, 2])": [row + row for row in DIGITS],
    "tf.expand_dims(r, 1)": [[row] for row in DIGITS],
    "tf.squeeze(tf.expand_dims(r, 1), [1])": DIGITS,
    "tf.where(r > 3)": [[0, 2], [2, 1], [3, 0]],
    "tf.where(r > 3, r, -r)": [[-3, -1, 4], [], [-1, 5], [9]],
    "tf.where([True, False, True, False], r, r + 1)": [[3, 1, 4], [], [1, 5], [10]],
    "tf.size(r)": 6,
    "tf.rank(n)": 3,
    "tf.one_hot(tf.ragged.constant([[1], [0, 1]]), 2)": [[[0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]],
    "tf.math.unsorted_segment_sum(r, [0, 1, 0, 1], 2)": [[4, 6, 4], [9]],
    "tf.strings.join([tf.ragged.constant([['a'], ['b', 'c']]), '!'])": [[b"a!"], [b"b!", b"c!"]],
    "tf.strings.reduce_join(tf.ragged.constant([['a'], ['b', 'c']]), axis=1)": [b"a", b"bc"],
    "r.to_tensor()": [[3, 1, 4], [0, 0, 0], [1, 5, 0], [9, 0, 0]],
    "r.to_tensor(-1)": [[3, 1, 4], [-1, -1, -1], [1, 5, -1], [9, -1, -1]],
    "n.bounding_shape()": [3, 2, 3],
    "n.row_lengths(axis=2)": [[2, 1], [], [3, 0]],
    "tf.RaggedTensor.from_sparse(r.to_sparse())": DIGITS,
    "tf.RaggedTensor.from_tensor([[1, 2, 0], [0, 0, 0], [3, 0, 0]], padding=0)": [[1, 2], [], [3]],
    "tf.RaggedTensor.from_tensor([[1, 2], [3, 4]], lengths=[1, 2])": [[1], [3, 4]],
    "r[0]": [3, 1, 4],
    "r[1:3]": [[], [1, 5]],
    "r[::2]": [[3, 1, 4], [1, 5]],
    "r[:, 1:]": [[1, 4], [], [5], []],
    "r[:, :-1]": [[3, 1], [], [1], []],
    "r[..., ::2]": [[3, 4], [], [1], [9]],
    "n[2, 0, 1]": 5,
    "r[tf.newaxis, :2]": [[[3, 1, 4], []]],
    "tf.ragged.boolean_mask(r, [True, False, False, True])": [[3, 1, 4], [9]],
    "tf.ragged.boolean_mask(r, r > 3)": [[4], [], [5], [9]],
    "tf.ragged.boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]])": [[1], [3, 4]],
    "tf.ragged.range([3, 5, 2], [5, 5, 8], [1, 1, 3])": [[3, 4], [], [2, 5]],
    "tf.ragged.map_flat_values(tf.add, r, r)": [[6, 2, 8], [], [2, 10], [18]],
    "tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5])": [0, 0, 0, 2, 2],
    "tf.ragged.segment_ids_to_row_splits([0, 0, 0, 2, 2])": [0, 3, 3, 5],
    "tf.ragged.stack_dynamic_partitions(['a', 'b', 'c'], [1, 0, 1], 3)": [[b"b"], [b"a", b"c"], []],
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression):
    r, n = tf.ragged.constant(DIGITS), tf.ragged.constant(NESTED)
    assert lists(eval(expression, {"tf": tf, "r": r, "n": n})) == EXPRESSIONS[expression]


def test_constant_takes_dense_inner_values():
    ragged = tf.ragged.constant([[[1, 2]], [[3, 4], [5, 6]]], ragged_rank=1)
    assert ragged.shape.as_list() == [2, None, 2]
    assert ragged.flat_values.shape.as_list() == [3, 2]
    with pytest.raises(ValueError, match="all scalar values must have the same nesting depth"):
        tf.ragged.constant([1, [2]])


def test_sessions_fetch_and_feed_them():
    ragged = tf.compat.v1.ragged.placeholder(tf.int32, 1)
    value = tf.compat.v1.ragged.constant_value(DIGITS, np.int32)
    with tf.Session() as session:
        result = session.run({"x": ragged + 1}, {ragged: value})["x"]
    assert result.to_list() == [[4, 2, 5], [], [2, 6], [10]]
    assert result.row_splits.dtype == np.int64


def test_gradients_go_through_rows():
    values = tf.constant([1.0, 2.0, 3.0])
    ragged = tf.RaggedTensor.from_row_splits(values, [0, 2, 3])
    loss = tf.reduce_sum(tf.gather(ragged, [0, 0, 1]).flat_values ** 2)
    with tf.Session() as session:
        assert session.run(loss) == 19.0
        (slices,) = tf.gradients(loss, values)
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor(slices)), [4.0, 8.0, 6.0])


def test_they_are_no_tensors():
    ragged = tf.ragged.constant(DIGITS)
    with pytest.raises(TypeError, match="Failed to convert object of type"):
        tf.convert_to_tensor(ragged)
    with pytest.raises(TypeError, match="may not be used as a boolean"):
        bool(ragged)
    with pytest.raises(ValueError, match="Cannot index into an inner ragged dimension"):
        ragged[:, 0]
    with pytest.raises(ValueError, match="keepdims=True is not supported"):
        tf.reduce_sum(ragged, axis=1, keepdims=True)


def test_conversions_leave_what_is_right_as_it_is():
    dense = tf.constant([[1, 0], [2, 3]])
    ragged = conversions.from_tensor(dense, padding=0)
    assert conversions.from_tensor(ragged) is ragged and conversions.to_tensor(dense) is dense
    with tf.compat.v1.Session() as session:
        assert session.run(ragged).to_list() == [[1], [2, 3]]
        assert session.run(conversions.to_tensor(ragged, 7)).tolist() == [[1, 7], [2, 3]]
