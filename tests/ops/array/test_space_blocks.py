"""SpaceToBatchND and its kin, Bitcast, tf.repeat: TensorFlow's values and errors, gradients, damaged arguments."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient, new_session, of_unknown_shape


@pytest.mark.parametrize(("case", "expected"), cases("space_blocks"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    value = evaluate(case)
    if isinstance(expected, str) and expected.startswith("ValueError"):
        assert value.startswith("ValueError")  # found while building, in other words
    else:
        assert_same(value, expected)


def test_same_bits_everywhere(rng):
    x = rng.normal(size=(7, 40, 60, 5)).astype(np.float32)
    assert_same_bits(lambda x: tf.space_to_batch_nd(x, [3, 4], [[1, 1], [2, 2]]), x)
    assert_same_bits(lambda x: tf.space_to_depth(tf.batch_to_space_nd(x, [7], [[2, 6]]), 4), x)


def test_gradients(rng):
    x = rng.normal(size=(1, 4, 6, 2))
    check_gradient(lambda x: tf.space_to_batch_nd(x, [2, 3], [[1, 1], [0, 0]]) ** 2, x)
    check_gradient(lambda x: ops.space_to_batch_op(x, [[0, 0], [1, 1]], block_size=2) ** 2, x)
    check_gradient(lambda x: tf.space_to_depth(x, 2) ** 2, x)
    check_gradient(lambda x: tf.repeat(x, [1, 0, 2, 3], axis=1) ** 2, x)
    check_gradient(
        lambda x: ops.batch_to_space_op(x, [[0, 1], [1, 0]], block_size=2) ** 2, rng.normal(size=(4, 2, 2, 1))
    )


def test_ops_of_one_block_size_are_those_of_vectors(rng):
    x = rng.normal(size=(4, 4, 6, 2))
    with new_session() as session:
        for one, both in (
            (ops.space_to_batch_op(x, [[1, 1], [2, 0]], block_size=2), tf.space_to_batch(x, [[1, 1], [2, 0]], 2)),
            (ops.batch_to_space_op(x, [[1, 1], [2, 0]], block_size=2), tf.batch_to_space(x, [[1, 1], [2, 0]], 2)),
        ):
            np.testing.assert_array_equal(*session.run([one, both]))


@pytest.mark.parametrize("op", [tf.space_to_batch_nd, tf.batch_to_space_nd])
@pytest.mark.parametrize(
    ("block", "margins"),
    [
        ([2**31 - 1], [[0, 0]]),
        ([1], [[2**40, 2**62]]),
        ([2, 2, 2, 2], [[0, 0]] * 4),
        ([-1], [[0, 0]]),
        ([2], [[2**63 - 1, 1]]),
        ([2**62, 4], [[0, 0]] * 2),
    ],
)
def test_wild_numbers_are_refused(op, block, margins):
    with new_session() as session:
        block, margins = (tf.placeholder_with_default(np.array(x, np.int64), np.shape(x)) for x in (block, margins))
        result = op(of_unknown_shape(tf.zeros([2, 2, 2])), block, margins)
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
            session.run(result)


def test_other_formats_are_refused_when_they_run():
    with new_session() as session:
        x = tf.zeros([1, 4, 2, 2])
        assert tf.depth_to_space(x, 2, data_format="NCHW").shape == [1, 1, 4, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Only NHWC"):
            session.run(tf.depth_to_space(x, 2, data_format="NCHW"))
        with pytest.raises(ValueError, match="evenly divisible"):
            tf.space_to_depth(tf.zeros([1, 3, 4, 1]), 2)


def test_bitcasts_of_what_does_not_fit_are_refused():
    with new_session() as session:
        with pytest.raises(ValueError, match="does not match"):
            tf.bitcast(tf.zeros([3]), tf.float64)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot bitcast"):
            session.run(tf.bitcast(of_unknown_shape(tf.zeros([3])), tf.float64))
        with pytest.raises(TypeError):
            tf.bitcast(tf.constant(["a"]), tf.int32)
        value = np.array([1.5, -0.0, np.nan], np.float32)
        for dtype in (tf.int32, tf.uint32, tf.uint8, tf.int16, tf.float16, tf.bfloat16, tf.qint32):
            back = tf.bitcast(tf.bitcast(value, dtype), tf.float32)
            assert session.run(back).tobytes() == value.tobytes()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([1, 2], 1.5), TypeError, "integer tensor"),
        (([1, 2], 2, 1.0), TypeError, "axis must be an int"),
        (([1, 2], 2, 2), ValueError, "out of bounds"),
        (([1, 2], [1, 2, 3], 0), ValueError, "not compatible"),
        (([1, 2], [[1, 2]], 0), ValueError, "rank"),
    ],
)
def test_wrong_repeats_are_refused(arguments, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        tf.repeat(*arguments)
