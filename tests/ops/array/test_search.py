"""Bounds, counts, histograms, unravelled indices: values, types, bad input."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, evaluate

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "count"), [(0, 3), (1, 1), (50, 0), (37, 600)])
def test_bounds_are_numpys(size, count, dtype, rng):
    rows = np.sort(rng.integers(0, 30, (3, size)).astype(dtype), 1)
    values = rng.integers(0, 32, (3, count)).astype(dtype)
    bounds = {"left": ops.lower_bound, "right": ops.upper_bound}
    kinds = [(side, out_type) for side in bounds for out_type in ("int32", "int64")]
    results = evaluate(lambda r, v: [bounds[side](r, v, out_type=out_type) for side, out_type in kinds], rows, values)
    for (side, out_type), result in zip(kinds, results, strict=True):
        expected = np.array([np.searchsorted(r, v, side) for r, v in zip(rows, values, strict=True)], out_type)
        np.testing.assert_array_equal(result, expected.reshape(3, count), strict=True)


def test_rows_must_match():
    with pytest.raises(errors.InvalidArgumentError, match="Leading dim_size of both tensors must match"):
        evaluate(ops.lower_bound, np.zeros((2, 3)), np.zeros((3, 1)))
    with pytest.raises(ValueError, match="side must be either 'right' or 'left'"):
        ops.searchsorted([1], [1], side="middle")


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_counts(dtype, rng):
    x = rng.integers(0, 9, (6, 5)).astype(np.int32)
    result = evaluate(lambda x: ops.bincount(x, minlength=12, dtype=dtype), x)
    np.testing.assert_array_equal(result, np.bincount(x.ravel(), minlength=12))
    assert result.dtype == dtype
    np.testing.assert_array_equal(evaluate(lambda x: ops.bincount(x, maxlength=4), x), np.bincount(x.ravel())[:4])
    assert evaluate(ops.bincount, np.zeros(0, np.int32)).shape == (0,)


@pytest.mark.parametrize("bins", [1, 7, 1024, 1025, 5000])
@pytest.mark.parametrize("size", [1, 2, 9, 10001])
def test_counts_of_any_many_numbers_in_any_many_bins(size, bins, rng):
    x = rng.integers(0, bins, size).astype(np.int32)
    for dtype in ("int32", "int64", "float32"):
        result = evaluate(lambda x, dtype=dtype: ops.bincount(x, minlength=bins, dtype=dtype), x)
        np.testing.assert_array_equal(result, np.bincount(x, minlength=bins))
    half = evaluate(lambda x: ops.bincount_op(x, bins // 2, ops.constant([], "int32")), x)
    np.testing.assert_array_equal(half, np.bincount(x, minlength=bins)[: bins // 2])
    x[-1] = -5
    with pytest.raises(errors.InvalidArgumentError, match="Input arr must be non-negative"):
        evaluate(lambda x: ops.bincount_op(x, bins, ops.constant([], "int32")), x)


def test_weights(rng):
    x, weights = rng.integers(0, 9, 30).astype(np.int32), rng.standard_normal(30)
    np.testing.assert_allclose(evaluate(ops.bincount, x, weights), np.bincount(x, weights), rtol=1e-12)
    weighted = evaluate(lambda x, w: ops.bincount_op(x, 5, w), x, weights)
    np.testing.assert_allclose(weighted, np.bincount(x, weights)[:5], rtol=1e-12)


def test_negative_numbers_are_not_counted():
    with pytest.raises(errors.InvalidArgumentError, match="Input arr must be non-negative"):
        evaluate(lambda x: ops.bincount_op(x, 5, ops.constant([], "int32")), np.array([1, -1], np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="weights and arr must have the same number"):
        evaluate(lambda x: ops.bincount_op(x, 5, [1.0]), np.array([1, 1], np.int32))


@pytest.mark.parametrize("count_type", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_histograms(dtype, count_type, rng):
    x = rng.integers(-5, 30, (7, 9)).astype(dtype)
    result = evaluate(lambda x: ops.histogram_fixed_width(x, np.array([0, 20], dtype), 5, count_type), x)
    np.testing.assert_array_equal(result, np.histogram(np.clip(x, 0, 19.5), 5, (0, 20))[0])
    assert result.dtype == count_type


def test_extreme_values_are_in_the_first_and_last_bin():
    x = np.array([-np.inf, np.inf, 1e30, np.nan], np.float32)
    result = evaluate(lambda x: ops.histogram_fixed_width(x, [0.0, 1.0], 3), x)
    np.testing.assert_array_equal(result, [2, 0, 2])


def test_bad_ranges_are_refused():
    with pytest.raises(errors.InvalidArgumentError, match=r"value_range\[0\] < value_range\[1\], but got '\[2, 1\]'"):
        evaluate(lambda x: ops.histogram_fixed_width(x, [2.0, 1.0], 3), np.zeros(2, np.float32))
    with pytest.raises(ValueError, match="Requires nbins > 0: 0"):
        ops.histogram_fixed_width([1.0], [0.0, 1.0], 0)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_unravelled_indices(dtype, rng):
    x = rng.integers(0, 60, 9).astype(dtype)
    result = evaluate(lambda x: ops.unravel_index(x, [3, 4, 5]), x)
    np.testing.assert_array_equal(result, np.unravel_index(x, (3, 4, 5)))
    np.testing.assert_array_equal(evaluate(lambda x: ops.unravel_index(x, [7, 6]), np.array(22, dtype)), [3, 4])
    with pytest.raises(errors.InvalidArgumentError, match="out of bound"):
        evaluate(lambda x: ops.unravel_index(x, [2, 3]), np.array([6], dtype))
    with pytest.raises(errors.InvalidArgumentError, match="cannot contain a dim of zero"):
        evaluate(lambda x: ops.unravel_index(x, [0, 3]), np.array([0], dtype))


def test_same_bits_everywhere(rng):
    x = rng.standard_normal((20, 400)).astype(np.float32)
    assert_same_bits(lambda x: [ops.lower_bound(ops.cumsum(ops.abs(x), 1), x * 9)], x)
    assert_same_bits(lambda x: ops.histogram_fixed_width(x, [-1.0, 1.0], 50), x)
