"""confusion_matrix: counts, weights, shapes, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import new_session, of_unknown_shape


def expected(labels, predictions, size, weights=None):
    matrix = np.zeros((size, size))
    np.add.at(matrix, (labels, predictions), 1 if weights is None else weights)
    return matrix


def test_counts_are_numpys(rng):
    labels, predictions = rng.integers(0, 7, (2, 500))
    weights = rng.integers(0, 5, 500)
    with new_session() as session:
        for size in (None, 7, 9):
            found = session.run(tf.confusion_matrix(labels, predictions, size))
            assert found.dtype == np.int32
            np.testing.assert_array_equal(found, expected(labels, predictions, size or 7))
        found = session.run(tf.math.confusion_matrix(labels, predictions, weights=weights, dtype=tf.float64))
        np.testing.assert_array_equal(found, expected(labels, predictions, 7, weights))


def test_a_last_dimension_of_one_is_dropped():
    with new_session() as session:
        for labels, predictions in (([[1], [0]], [1, 1]), ([1, 0], [[1], [1]])):
            assert session.run(tf.math.confusion_matrix(labels, predictions)).tolist() == [[0, 1], [0, 1]]
            unknown = of_unknown_shape(tf.constant(predictions))
            assert session.run(tf.confusion_matrix(labels, unknown)).tolist() == [[0, 1], [0, 1]]


def test_classes_outside_are_refused():
    with new_session() as session:
        x = tf.placeholder(tf.int32, [2])
        for labels, predictions, size, message in (
            ([-1, 0], [0, 0], None, "`labels` contains negative values"),
            ([0, 0], [0, -1], None, "`predictions` contains negative values"),
            ([0, 3], [0, 0], 3, "`labels` out of bound"),
            ([0, 0], [0, 3], 3, "`predictions` out of bound"),
        ):
            matrix = tf.confusion_matrix(x, tf.placeholder_with_default(predictions, [2]), size)
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(matrix, {x: labels})
        with pytest.raises(ValueError, match="not compatible|incompatible|equal"):
            tf.confusion_matrix([0, 1], [0, 1, 2])
