"""EditDistance: numpy's values for random sequences, every type, bad input. The snippets have TensorFlow's values."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import new_session


def distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1))
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1, j + 1] = min(table[i, j] + (x != y), table[i, j + 1] + 1, table[i + 1, j] + 1)
    return table[-1, -1]


def sparse(rows, dtype, length=20):
    indices = np.array([[i, j] for i, row in enumerate(rows) for j in range(len(row))], np.int64).reshape(-1, 2)
    values = [value for row in rows for value in row]
    if dtype is not tf.string:
        return tf.SparseTensor(indices, tf.cast(tf.constant(values, tf.int32), dtype), [len(rows), length])
    return tf.SparseTensor(indices, tf.constant([str(value) for value in values], dtype), [len(rows), length])


@pytest.mark.parametrize(
    "dtype", [tf.string, tf.int64, tf.int32, tf.float32, tf.float64, tf.uint8, tf.float16, tf.bool]
)
def test_distances_of_random_sequences(rng, dtype):
    first, second = ([rng.integers(0, 2, rng.integers(0, 20)).tolist() for _ in range(30)] for _ in range(2))
    with new_session() as session:
        plain = tf.edit_distance(sparse(first, dtype), sparse(second, dtype), normalize=False)
        found = session.run(plain)
    assert found.tolist() == [distance(a, b) for a, b in zip(first, second, strict=True)]


def test_last_indices_do_not_matter():
    """As in TensorFlow, whose tutorials have shapes of [1, 1, 1] around words."""
    with new_session() as session:
        hypothesis = tf.SparseTensor([[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3]], list("bear"), [1, 1, 1])
        truth = tf.SparseTensor([[0, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 3], [0, 0, -4]], list("beers"), [1, 1, 1])
        assert session.run(tf.edit_distance(hypothesis, truth, normalize=False)).tolist() == [[2]]


@pytest.mark.parametrize(
    ("hypothesis", "message"),
    [
        (([[1, 0]], ["a"], [1, 3]), "out of bounds"),
        (([[1, 0], [0, 0]], ["a", "b"], [2, 3]), "out of order"),
        (([[0, 0]], ["a", "b"], [1, 3]), "must match"),
        (([[0, 0]], ["a"], [1, 3, 3]), "should have 2 values"),
        (([[0, 0, 0]], ["a"], [1, 1, 3]), "same number of elements"),
        (([[-1, 0]], ["a"], [1, 3]), "out of bounds"),
        (([0], ["a"], [1, 3]), "matrix"),
    ],
)
def test_wrong_tensors_are_refused(hypothesis, message):
    with new_session() as session:
        dtypes = (tf.int64, tf.string, tf.int64)
        parts = [tf.placeholder(dtype) for dtype in dtypes]
        truth = tf.SparseTensor([[0, 0]], ["a"], [1, 3])
        result = ops.edit_distance_op(*parts, truth.indices, truth.values, truth.dense_shape)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(result, dict(zip(parts, hypothesis, strict=True)))


def test_dense_tensors_are_refused():
    with tf.Graph().as_default(), pytest.raises(TypeError, match="must be a SparseTensor"):
        tf.edit_distance([1], [2])
