"""Zeros, infinities, NaN, poles and the ends of domains."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import evaluate

INF, NAN = math.inf, math.nan
HALF_PI = math.pi / 2

# Arguments and values. A dict has one zero; the other has a test of its own.
VALUES = {
    "exp": {0.0: 1, INF: INF, -INF: 0.0, 1e4: INF, -1e4: 0.0},
    "expm1": {0.0: 0.0, INF: INF, -INF: -1, 1e4: INF, -1e4: -1, 1e-30: 1e-30},
    "log": {0.0: -INF, 1.0: 0.0, INF: INF, -1.0: NAN, -INF: NAN, -1e-30: NAN},
    "log1p": {0.0: 0.0, -1.0: -INF, INF: INF, -1.5: NAN, -INF: NAN, 1e-30: 1e-30},
    "sigmoid": {0.0: 0.5, INF: 1, -INF: 0.0, 1e4: 1, -1e4: 0.0},
    "softplus": {INF: INF, -INF: 0.0, 1e4: 1e4, -1e4: 0.0, 0.0: math.log(2)},
    "tanh": {0.0: 0.0, INF: 1, -INF: -1, 1e4: 1, -1e4: -1, 1e-30: 1e-30},
    "sinh": {0.0: 0.0, INF: INF, -INF: -INF, 1e4: INF, -1e4: -INF, 1e-30: 1e-30},
    "cosh": {0.0: 1, INF: INF, -INF: INF, 1e4: INF, -1e4: INF},
    "asinh": {0.0: 0.0, INF: INF, -INF: -INF, 1e-30: 1e-30},
    "acosh": {1.0: 0.0, INF: INF, 0.5: NAN, -1.0: NAN, -INF: NAN},
    "atanh": {0.0: 0.0, 1.0: INF, -1.0: -INF, 1.5: NAN, -INF: NAN, INF: NAN, 1e-30: 1e-30},
    "sin": {0.0: 0.0, INF: NAN, -INF: NAN, 1e-30: 1e-30},
    "cos": {0.0: 1, INF: NAN, -INF: NAN},
    "tan": {0.0: 0.0, INF: NAN, -INF: NAN, 1e-30: 1e-30},
    "asin": {0.0: 0.0, 1.0: HALF_PI, -1.0: -HALF_PI, 1.5: NAN, INF: NAN, -INF: NAN},
    "acos": {1.0: 0.0, -1.0: math.pi, 0.0: HALF_PI, 1.5: NAN, INF: NAN, -INF: NAN},
    "atan": {0.0: 0.0, INF: HALF_PI, -INF: -HALF_PI, 1e30: HALF_PI, 1e-30: 1e-30},
    "erf": {0.0: 0.0, INF: 1, -INF: -1, 30.0: 1, -30.0: -1},
    "erfc": {0.0: 1, INF: 0.0, -INF: 2, 40.0: 0.0, -40.0: 2},
    "lgamma": {0.0: INF, 1.0: 0.0, 2.0: 0.0, -1.0: INF, -5.0: INF, INF: INF, -INF: INF, -1e30: INF},
    "digamma": {0.0: INF, -1.0: INF, -5.0: INF, INF: INF, -INF: INF},
    "rsqrt": {0.0: INF, INF: 0.0, 4.0: 0.5, -1.0: NAN},
    "sqrt": {0.0: 0.0, INF: INF, -1.0: NAN, 2.25: 1.5},
}
ZEROS_OF_EITHER_SIGN = ("log", "lgamma", "acosh", "acos")


def assert_same_values(actual, expected, ignore_zero_signs=False):
    """Equality, where NaN equals NaN and zeros have signs."""
    np.testing.assert_array_equal(actual, expected)
    if not ignore_zero_signs:
        is_number = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(actual[is_number]), np.signbit(expected[is_number]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", VALUES)
def test_special_values(name, dtype):
    cases = list(VALUES[name].items())
    x = np.array([argument for argument, _ in cases] * 5, dtype)
    expected = np.array([value for _, value in cases] * 5, dtype)
    assert_same_values(evaluate(getattr(ops, name), x), expected, name in ZEROS_OF_EITHER_SIGN)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [name for name in VALUES if VALUES[name].get(0.0) == 0])
def test_odd_functions_keep_the_sign_of_zero(name, dtype):
    y = evaluate(getattr(ops, name), np.array([0.0, -0.0] * 20, dtype))
    np.testing.assert_array_equal(y, 0)
    np.testing.assert_array_equal(np.signbit(y), [False, True] * 20)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", VALUES)
def test_nan_stays_nan(name, dtype):
    x = np.full(40, 0.75, dtype)
    x[[0, 17, 39]] = np.nan
    np.testing.assert_array_equal(np.isnan(evaluate(getattr(ops, name), x)), np.isnan(x) | (name == "acosh"))


SPECIAL = [
    0.0,
    -0.0,
    1,
    -1,
    INF,
    -INF,
    NAN,
    0.5,
    -0.5,
    2,
    -2,
    3,
    -3,
    4,
    -4,
    0.1,
    1e15 + 1,
    -1e15,
    2.0**24 - 1,
    2.0**24,
]
LARGE = [2.0**22 + 0.5, 2.0**52 + 1, 2.0**53 - 1, 2.0**53, 2.0**51 + 0.5, 1e30, -1e30]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name,function", [("pow", np.power), ("atan2", np.arctan2)])
def test_special_pairs(name, function, dtype):
    pairs = np.array(list(itertools.product(SPECIAL + LARGE, repeat=2)), dtype)
    x, y = pairs[:, 0].copy(), pairs[:, 1].copy()
    actual = evaluate(getattr(ops, name), x, y)
    with np.errstate(all="ignore"):
        expected = function(x, y)
    tiny = np.finfo(dtype).tiny
    expected = np.where(np.abs(expected) < tiny, np.copysign(dtype(0), expected), expected)
    is_number = np.isfinite(expected)
    np.testing.assert_allclose(actual[is_number], expected[is_number], rtol=4 * np.finfo(dtype).eps)
    assert_same_values(actual[~is_number], expected[~is_number])
    np.testing.assert_array_equal(np.signbit(actual[is_number]), np.signbit(expected[is_number]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_thresholds_of_overflow(dtype):
    largest = np.finfo(dtype).max
    limit = dtype(math.log(largest))
    x = np.array([np.nextafter(limit, dtype(0)), limit * dtype(1.0001)], dtype)
    for name in ("exp", "expm1"):
        y = evaluate(getattr(ops, name), x)
        assert np.isfinite(y[0]) and y[1] == np.inf
    x = np.array([dtype(limit + math.log(2) * 0.999), limit + dtype(0.7)], dtype)
    for name in ("sinh", "cosh"):
        y = evaluate(getattr(ops, name), x)
        assert np.isfinite(y[0]) and y[1] == np.inf
