"""Sizes and indices that are numpy's integers of any width: numpy 2 keeps uint8 where numpy 1 gave programs int64."""

import numpy as np
import pytest

import stillflow as tf

TWO = [np.uint8(2), np.int16(2), np.uint32(2), np.uint64(2), np.int8(2)]
ROWS = np.arange(24.0, dtype=np.float32).reshape(4, 6)

CASES = {
    "truncated_normal": (lambda two: tf.truncated_normal([two, 3]), (2, 3)),
    "truncated_normal of one": (lambda two: tf.truncated_normal([two]), (2,)),
    "random_uniform of an array": (lambda two: tf.random_uniform(np.array([two])), (2,)),
    "stateless_uniform": (lambda two: tf.random.stateless_uniform([two], [1, 2]), (2,)),
    "initializer": (lambda two: tf.glorot_uniform_initializer()([two, two]), (2, 2)),
    "sequence_mask": (lambda two: tf.sequence_mask([two]), (1, 2)),
    "zeros": (lambda two: tf.zeros([two]), (2,)),
}
VALUES = {
    "range": (lambda two: tf.range(two), [0, 1]),
    "range from": (lambda two: tf.range(two, 6, two), [2, 4]),
    "an index": (lambda two: tf.constant(ROWS)[two, two], 14),
    "a slice": (lambda two: tf.constant(ROWS)[two : two + two : two, 0], [12]),
    "gather": (lambda two: tf.gather(ROWS[0], [two]), [2]),
    "gather of one": (lambda two: tf.gather(ROWS[0], two), 2),
    "gather_nd": (lambda two: tf.gather_nd(ROWS, [[two, two]]), [14]),
    "roll": (lambda two: tf.roll(ROWS[0], two, 0), [4, 5, 0, 1, 2, 3]),
}


@pytest.mark.parametrize("case", CASES)
def test_sizes_may_be_of_any_width(case):
    build, shape = CASES[case]
    with tf.Session() as session:
        for two in TWO:
            assert session.run(build(two)).shape == shape


@pytest.mark.parametrize("case", VALUES)
def test_indices_may_be_of_any_width(case):
    build, expected = VALUES[case]
    with tf.Session() as session:
        for two in TWO:
            assert session.run(build(two)).tolist() == expected


def test_types_of_sizes_that_tensorflow_takes_are_kept():
    for sizes, dtype in ((np.array([2]), tf.int64), ([np.int64(2)], tf.int32), ([np.uint8(2)], tf.int32)):
        with tf.Graph().as_default() as graph:
            tf.random_uniform(sizes)
            assert graph.get_tensor_by_name("random_uniform/shape:0").dtype == dtype
    assert tf.range(np.int64(2)).dtype == tf.int64


def test_tensors_of_other_integers_are_no_sizes():
    two = tf.constant(2, tf.uint8)
    with pytest.raises(AssertionError, match="range cannot be uint8"):
        tf.range(two)
    with pytest.raises(TypeError, match="DataType uint8 not in list of allowed values"):
        tf.gather([1.0, 2, 3], two)
