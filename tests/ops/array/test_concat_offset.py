"""ConcatOffset: where each part begins, and the shapes that it refuses."""

import numpy as np
import pytest

import stillflow as tf


def _offsets(axis, *shapes):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.raw_ops.ConcatOffset(concat_dim=axis, shape=[tf.constant(shape) for shape in shapes]))


def test_parts_follow_each_other_along_the_axis():
    np.testing.assert_array_equal(_offsets(-2, [2, 3, 5], [2, 7, 5], [2, 1, 5]), [[0, 0, 0], [0, 3, 0], [0, 10, 0]])


@pytest.mark.parametrize(
    ("axis", "shapes", "message"),
    [
        (
            1,
            ([2, 3], [3, 7]),
            r"All dimensions except 1 must match. Input 1 has shape \[3 7\] and doesn.t match",
        ),
        (0, ([[2, 3]], [[3, 7]]), "input 0 should be a vector"),
        (1, ([2, 3], [2, 7, 5]), "input 1 should contain 2 elements"),
        (4, ([2, 3], [2, 3]), "Concat dim is out of range: 4 vs. 2"),
    ],
)
def test_other_shapes_are_refused(axis, shapes, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _offsets(axis, *shapes)
