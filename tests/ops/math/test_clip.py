"""The op ClipByValue."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, evaluate

NAN = float("nan")


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16"]
)
def test_values(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    low, high = np.asarray(1, dtype), np.asarray(4, dtype)
    np.testing.assert_array_equal(evaluate(ops.clip_by_value_op, x, low, high), np.clip(x, 1, 4))
    np.testing.assert_array_equal(evaluate(ops.clip_by_value_op, x, x[::-1].copy(), high + x), np.maximum(x, x[::-1]))


# As TensorFlow 1.15.5: the upper bound first.
@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(3, 2, [3, 3, 3, NAN]), (NAN, 2, [1, 2, 2, NAN]), (0, NAN, [1, 2, 3, NAN]), (0, [3, 1, NAN, 1], [1, 1, 3, NAN])],
)
def test_bounds_that_cross_or_are_not_numbers(low, high, expected):
    x = np.float32([1, 2, 3, NAN])
    np.testing.assert_array_equal(evaluate(ops.clip_by_value_op, x, np.float32(low), np.float32(high)), expected)


def test_bounds_do_not_broadcast():
    with pytest.raises(errors.InvalidArgumentError, match="must be either of the same shape as input, or a scalar"):
        evaluate(ops.clip_by_value_op, np.ones((1, 4)), np.ones((1, 1)), np.float64(1))


def test_bits_do_not_depend_on_threads(rng):
    x = rng.standard_normal(100_000).astype(np.float32)
    assert_same_bits(ops.clip_by_value_op, x, np.float32(-0.5), np.float32(0.5))
