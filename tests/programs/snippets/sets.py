"""tf.sets."""

import numpy as np


def _sparse(tf, rows, shape, dtype=None):
    """A sparse tensor of {(row, ...): elements}."""
    indices = [key + (i,) for key, values in sorted(rows.items()) for i in range(len(values))]
    values = [value for _, values in sorted(rows.items()) for value in values]
    return tf.SparseTensor(
        np.array(indices, np.int64).reshape(-1, len(shape)), tf.constant(values, dtype or tf.int32), shape
    )


def _results(tf, a, b):
    results = [
        tf.sets.set_intersection(a, b), tf.sets.set_difference(a, b), tf.sets.set_difference(a, b, aminusb=False),
        tf.sets.set_union(a, b),
    ]  # fmt: skip
    return [part for each in results for part in (each.indices, each.values, each.dense_shape)]


def of_dense(tf):
    return _results(tf, [[3, 1, 1], [5, -2, 7]], [[1, 4, 3], [2, 2, 7]])


def of_dense_sizes(tf):
    a = np.arange(12).reshape(2, 2, 3) % 5
    return _results(tf, a, np.arange(16).reshape(2, 2, 4) % 7)


def of_dense_and_sparse(tf):
    a = tf.constant([[3, 1, 1], [5, -2, 7], [1, 2, 3]])
    b = _sparse(tf, {(0,): [1, 9], (2,): [3, 3, 2, 8]}, [3, 4])
    return _results(tf, a, b)


def of_sparse_and_dense(tf):
    a = _sparse(tf, {(0,): [1, 9], (2,): [3, 3, 2, 8]}, [3, 4])
    return _results(tf, a, [[3, 1], [5, -2], [1, 2]])


def of_sparse(tf):
    a = _sparse(tf, {(0, 0): [1, 2], (0, 1): [3], (1, 0): [4], (1, 1): [5, 6]}, [2, 2, 2], tf.int64)
    b = _sparse(tf, {(0, 0): [1, 3], (0, 1): [2], (1, 0): [4, 5], (1, 1): [5, 6, 7, 8]}, [2, 2, 4], tf.int64)
    return _results(tf, a, b)


def of_sparse_with_empty_rows(tf):
    a = _sparse(tf, {(0,): [1, 2], (3,): [3]}, [5, 2])
    b = _sparse(tf, {(1,): [1], (3,): [3], (4,): [2]}, [5, 3])
    return _results(tf, a, b)


def of_strings(tf):
    a = tf.constant([["b", "", "aa", "b"]])
    b = tf.constant([["a", "aa", "ab"]])
    return _results(tf, a, b)


def of_nothing(tf):
    empty = tf.zeros([2, 0], tf.int32)
    return _results(tf, empty, [[1], [2]]) + _results(tf, empty, empty)


def of_types(tf):
    results = []
    for dtype in (tf.int8, tf.int16, tf.uint8, tf.uint16, tf.int64):
        a, b = tf.constant([[100, 3, 3]], dtype), tf.constant([[3, 7]], dtype)
        results += _results(tf, a, b)
    return results


def sizes(tf):
    a = _sparse(tf, {(0, 0): [1, 2, 2], (1, 1): [5, 6]}, [2, 3, 3])
    b = _sparse(tf, {(0,): ["a", "b", "a"], (2,): ["a"]}, [3, 4], tf.string)
    return [tf.sets.set_size(a), tf.sets.size(b, validate_indices=False)]


def of_unknown_shapes(tf):
    a = tf.placeholder_with_default([[3, 1, 1], [5, -2, 7]], None)
    b = tf.placeholder_with_default([[3, 1], [5, 2]], [None, None])
    return _results(tf, a, b) + _results(tf, b, a)
