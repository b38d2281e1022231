"""bucketize: values, types, bounds, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, evaluate


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("count", [0, 1, 3, 32, 33, 100])
def test_numbers_lie_where_numpy_says(dtype, count, rng):
    boundaries = np.unique(rng.integers(-50, 50, 4 * count).astype(np.float32))[:count]
    x = rng.integers(-60, 60, [5, 7]).astype(dtype)
    found = evaluate(lambda t: ops.bucketize(t, boundaries=boundaries.tolist()), x)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, np.searchsorted(boundaries, x, side="right"))


@pytest.mark.parametrize("count", [3, 40])
def test_what_is_no_number_lies_above_all(count):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32)
    found = evaluate(lambda t: ops.bucketize(t, boundaries=[float(i) for i in range(count)]), x)
    assert found.tolist() == [count, count, 0, 1, 1]


def test_boundaries_are_float32():
    x = np.array([0.1, np.float64(np.float32(0.1)), 16777217.0])
    assert evaluate(lambda t: ops.bucketize(t, boundaries=[0.1, 16777217.0]), x).tolist() == [0, 1, 2]
    numbers = np.array([16777215, 16777216, 16777217], np.int64)
    assert evaluate(lambda t: ops.bucketize(t, boundaries=[16777216.0]), numbers).tolist() == [0, 1, 1]


def test_boundaries_that_do_not_ascend():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected sorted boundaries"):
        evaluate(lambda t: ops.bucketize(t, boundaries=[1.0, 0.0]), np.zeros(3, np.float32))


def test_same_bits(rng):
    x = rng.standard_normal([40000]).astype(np.float32)
    assert_same_bits(lambda t: ops.bucketize(t, boundaries=[-1.0, 0.0, 0.5]), x)
