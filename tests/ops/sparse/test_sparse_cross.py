"""sparse.cross and cross_hashed: combinations, hashes, bad input. Their graphs and values are in the snippets too."""

import itertools

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits


def run(*tensors):
    with tf.Session() as session:
        return session.run(tensors)


def rows_of(sparse):
    """The values of a SparseTensorValue by row."""
    rows = [[] for _ in range(sparse.dense_shape[0])]
    for (row, column), value in zip(sparse.indices, sparse.values, strict=True):
        assert column == len(rows[row])
        rows[row].append(value)
    return rows


def ragged(rows, dtype):
    indices = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    shape = [len(rows), max(map(len, rows))]
    return tf.SparseTensor(
        np.array(indices, np.int64).reshape(-1, 2), tf.constant([v for row in rows for v in row], dtype), shape
    )


def test_all_combinations_in_order(rng):
    texts = [["a", "b"], [], ["", "c", "d"], ["e"]]
    numbers = [[1, -2, 3], [4], [5], []]
    dense = np.array([["x", "y"], ["z", "w"], ["u", "v"], ["s", "t"]])
    crossed = tf.sparse.cross([ragged(texts, tf.string), ragged(numbers, tf.int64), tf.constant(dense)])
    (found,) = run(crossed)
    expected = [
        ["_X_".join(map(str, parts)).encode() for parts in itertools.product(*columns)]
        for columns in zip(texts, numbers, dense.tolist(), strict=True)
    ]
    assert rows_of(found) == expected
    assert found.dense_shape.tolist() == [4, max(map(len, expected))]


def test_hashes_are_those_of_tensorflow():
    words = tf.constant([["batch1-FC1-F1"], ["batch2"]])
    others = tf.constant([["batch1-FC2-F1"], ["x"]])
    found = run(
        tf.sparse.cross_hashed([words, others], num_buckets=1000).values,
        tf.sparse.cross_hashed([words, others]).values,
        tf.sparse.cross_hashed([words, tf.constant([[1], [2]])], 100, hash_key=5).values,
    )
    assert [item.tolist() for item in found] == EXPECTED


# Recorded from TensorFlow 1.15.5.
EXPECTED = [[197, 486], [8318102788159600197, 6979647959797781679], [11, 95]]


def test_nothing_to_cross():
    empty = tf.SparseTensor(np.zeros([0, 2], np.int64), tf.constant([], tf.string), [3, 0])
    found = run(tf.sparse.cross([empty, tf.constant([["a"], ["b"], ["c"]])]), tf.sparse.cross_hashed([]))
    assert [item.dense_shape.tolist() for item in found] == [[3, 0], [0, 0]]
    assert [item.indices.shape for item in found] == [(0, 2), (0, 2)]


def _cross(indices, values, shape):
    return ops.sparse_cross_op(
        [indices], [values], [shape], [], hashed_output=True, num_buckets=5, hash_key=1, out_type=tf.int64,
        internal_type=tf.string,
    )[1]  # fmt: skip


@pytest.mark.parametrize(
    ("indices", "values", "shape", "message"),
    [
        ([0, 1], ["a"], [1, 1], "Input indices should be a matrix but received shape \\[2\\] at position 0"),
        ([[0, 1, 2]], ["a"], [1, 1], "Expected D2 of index to be 2 got 3 at position 0"),
        (
            [[0, 1]],
            [["a"]],
            [1, 1],
            "Input values should be a std::vector but received shape \\[1,1\\] at position 0",
        ),
        ([[0, 1]], ["a", "b"], [1, 1], "Expected size of values to be 1 got 2 at position 0"),
        (
            [[0, 1]],
            ["a"],
            [[1, 1]],
            "Input shapes should be a std::vector but received shape \\[1,2\\] at position 0",
        ),
        ([[0, 1]], ["a"], [1, 1, 1], "shape should imply a 2D tensor, but got \\[3\\] at position 0"),
        ([[0, 1]], ["a"], [-1, 1], "Expected a batch size of at least 0 got -1"),
    ],
)
def test_bad_input(indices, values, shape, message):
    parts = [tf.placeholder(dtype) for dtype in (tf.int64, tf.string, tf.int64)]
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(_cross(*parts), dict(zip(parts, (indices, values, shape), strict=True)))


def test_batches_of_different_sizes():
    words = ragged([["a"], ["b"]], tf.string)
    for other in (ragged([["a"]], tf.string), tf.placeholder_with_default([["c"]], None)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected batch size 2 got 1 at"):
            run(tf.sparse.cross_hashed([words, other]).values)


def test_rows_without_order_and_too_many_combinations():
    mixed = tf.SparseTensor([[1, 0], [0, 0], [5, 0]], ["a", "b", "c"], [2, 1])
    assert run(tf.sparse.cross([mixed, tf.constant([["x"], ["y"]])]).values)[0].tolist() == [b"a_X_y"]
    wide = tf.constant([["a"] * 3000])
    with pytest.raises(tf.errors.ResourceExhaustedError):
        run(tf.sparse.cross_hashed([wide] * 6).values)


def test_what_is_no_list_of_tensors():
    with pytest.raises(TypeError, match="Inputs must be a list"):
        tf.sparse.cross(tf.constant([["a"]]))
    with pytest.raises(TypeError, match="All inputs must be SparseTensors"):
        tf.sparse.cross([1])


def test_same_bits(rng):
    numbers = rng.integers(0, 50, [2000, 3])
    assert_same_bits(lambda t: ops.sparse_cross_hashed([t, t], 1000).values, numbers)
