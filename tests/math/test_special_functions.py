"""Zeta, polygamma, the incomplete gamma and beta functions are as near to exact as csrc/arithmetic/math says."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import evaluate

INF, NAN = math.inf, math.nan


@pytest.fixture(autouse=True)
def many_digits():
    with mpmath.workprec(250):
        yield


def _zeta(s, q):
    """Terms one by one until Euler and Maclaurin's formula gives 200 bits; mpmath's own is wrong for large s."""
    if q < 0:
        below = int(mpmath.floor(-q)) + 1
        return sum((q + n) ** -s for n in range(below)) + _zeta(s, q + below)
    count = int(max(0, s + 40 - q))
    total = sum((q + n) ** -s for n in range(count))
    a = q + count
    term = s / a
    tail = a / (s - 1) + mpmath.mpf(1) / 2
    for j in range(1, 40):
        tail += mpmath.bernoulli(2 * j) / mpmath.factorial(2 * j) * term
        term *= (s + 2 * j - 1) * (s + 2 * j) / a**2
    return total + a**-s * tail


def _polygamma(n, x):
    return (-1) ** (int(n) + 1) * mpmath.factorial(n) * _zeta(n + 1, x)


def _p(a, x):
    return mpmath.gammainc(a, 0, x, regularized=True)


def _q(a, x):
    return mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def _p_slope(a, x):
    step = mpmath.mpf(2) ** -80
    return (_p(a + step, x) - _p(a - step, x)) / (2 * step)


def _i(a, b, x):
    return mpmath.betainc(a, b, 0, x, regularized=True)


def _near_mean(rng, count, low, high, width):
    a = rng.uniform(low, high, count)
    return a, a * (1 + rng.uniform(-width, width, count))


def _powers(rng, count, low, high):
    return 10 ** rng.uniform(low, high, count)


def _beta_arguments(rng, count, a_range, b_range, width):
    a, b = rng.uniform(*a_range, count), rng.uniform(*b_range, count)
    return a, b, np.clip(a / (a + b) * (1 + rng.uniform(-width, width, count)), 1e-9, 1 - 1e-9)


# Function, exact value, the largest relative error as a power of two, and samples of arguments.
CASES = {
    "zeta": (
        _zeta,
        -50,
        [
            lambda rng, n: (1 + _powers(rng, n, -3, 2), _powers(rng, n, -3, 3)),
            lambda rng, n: (rng.uniform(1, 6, n), rng.uniform(0, 20, n)),
        ],
    ),
    "polygamma": (
        _polygamma,
        -50,
        [
            lambda rng, n: (rng.randint(1, 5, n) * 1.0, rng.uniform(0, 20, n)),
            lambda rng, n: (rng.randint(1, 150, n) * 1.0, _powers(rng, n, -0.5, 1.8)),
        ],
    ),
    "igamma": (
        _p,
        -44,
        [
            lambda rng, n: (rng.uniform(0, 10, n), rng.uniform(0, 20, n)),
            lambda rng, n: (_powers(rng, n, -8, 0), _powers(rng, n, -8, 1)),
            lambda rng, n: _near_mean(rng, n, 5, 250, 0.5),
            lambda rng, n: _near_mean(rng, n, 200, 1000, 0.2),
        ],
    ),
    "betainc": (
        _i,
        -44,
        [
            lambda rng, n: (rng.uniform(0.01, 10, n), rng.uniform(0.01, 10, n), rng.uniform(0, 1, n)),
            lambda rng, n: _beta_arguments(rng, n, (10, 300), (10, 300), 0.5),
            lambda rng, n: _beta_arguments(rng, n, (100, 2000), (100, 1000), 0.05),
            lambda rng, n: _beta_arguments(rng, n, (50, 1000), (0.1, 9), 0.1),
            lambda rng, n: _beta_arguments(rng, n, (0.1, 9), (50, 1000), 0.9),
        ],
    ),
}
CASES["igammac"] = (_q, -44, CASES["igamma"][2])
CASES["igamma_grad_a"] = (_p_slope, -44, CASES["igamma"][2])


def _exact(function, arrays):
    return [function(*map(mpmath.mpf, arguments)) for arguments in zip(*(a.tolist() for a in arrays), strict=True)]


@pytest.mark.parametrize(("name", "index"), [(name, index) for name in CASES for index in range(len(CASES[name][2]))])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_error_is_within_the_bound(name, index, dtype):
    function, power, samples = CASES[name]
    arrays = [array.astype(dtype) for array in samples[index](np.random.RandomState(index), 40)]
    bound = 2.0**power if dtype is np.float64 else 0.501 * 2.0**-23
    values = evaluate(getattr(ops, name), *arrays)
    tiny, largest = np.finfo(dtype).tiny, np.finfo(dtype).max
    for *arguments, value, exact in zip(
        *(a.tolist() for a in arrays), values.tolist(), _exact(function, arrays), strict=True
    ):
        if abs(exact) < tiny * 1.0001:
            assert abs(value) <= tiny * 1.0001
        elif abs(exact) > largest:
            assert abs(value) == INF
        else:
            assert abs(value - exact) <= bound * abs(exact), (arguments, value, float(exact))


def test_negative_arguments_of_zeta():
    """Near its zeros the error is relative to the terms."""
    rng = np.random.RandomState(0)
    s, q = rng.randint(2, 20, 60).astype(float), rng.uniform(-20, 0, 60)
    for order, at, value in zip(s.tolist(), q.tolist(), evaluate(ops.zeta, s, q).tolist(), strict=True):
        largest = max(abs(at + n) ** -order for n in range(22))
        assert abs(value - _zeta(order, mpmath.mpf(at))) < 2.0**-49 * (largest + 1)


def test_polygamma_where_the_factorial_overflows():
    n = np.array([171.0, 200.0, 300.0, 400.0])
    x = np.array([3.0, 100.0, 150.0, 800.0])
    values = evaluate(ops.polygamma, n, x).tolist()
    for order, at, value in zip(n.tolist(), x.tolist(), values, strict=True):
        assert abs(value / _polygamma(mpmath.mpf(order), mpmath.mpf(at)) - 1) < 2.0**-40


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "cases"),
    [
        (
            "zeta",
            {
                (1, 2): INF, (0.5, 2): NAN, (0, -1): NAN, (2, 0): INF, (2, -0.0): INF, (2, -1): INF, (2.5, -1): INF,
                (2.5, -0.5): NAN, (INF, 0.5): INF, (INF, 1): 1, (INF, 2): 0, (2, INF): 0, (NAN, 1): NAN,
                (2, NAN): NAN, (2, -INF): INF, (-INF, 2): NAN, (1, NAN): INF,
            },
        ),
        (
            "polygamma",
            {
                (0, 0): INF, (0, -1): INF, (1, 0): INF, (2, 0): -INF, (1, -1): INF, (2, -1): -INF, (-1, 2): NAN,
                (0.5, 2): NAN, (1, INF): 0, (NAN, 1): NAN, (1, NAN): NAN, (-INF, 2): NAN,
            },
        ),
        (
            "igamma",
            {
                (0, 0): 0, (1, 0): 0, (-1, 0): 0, (NAN, 0): 0, (0, 1): NAN, (1, -1): NAN, (-1, 1): NAN, (INF, 1): NAN,
                (1, INF): 1, (INF, INF): NAN, (NAN, 1): NAN, (1, NAN): NAN, (0, INF): NAN,
            },
        ),
        (
            "igammac",
            {
                (0, 0): NAN, (1, 0): 1, (-1, 0): NAN, (0, 1): NAN, (1, -1): NAN, (-1, 1): NAN, (INF, 1): NAN,
                (1, INF): 0, (NAN, 1): NAN, (1, NAN): NAN, (NAN, 0): NAN, (1e-20, 0): 1,
            },
        ),
        ("igamma_grad_a", {(0, 0): 0, (NAN, 0): 0, (0, 1): NAN, (1, -1): NAN, (1, INF): 0, (1, NAN): NAN}),
        (
            "betainc",
            {
                (0, 1, 0.5): NAN, (1, 0, 0.5): NAN, (-1, 1, 0.5): NAN, (1, 1, -0.1): NAN, (1, 1, 1.1): NAN,
                (1, 1, 0): 0, (1, 1, 1): 1, (0, 1, 0): NAN, (NAN, 1, 0.5): NAN, (1, NAN, 0.5): NAN, (1, 1, NAN): NAN,
                (INF, 1, 0.5): NAN, (INF, INF, 0.5): NAN,
            },
        ),
    ],
)  # fmt: skip
def test_special_values(name, cases, dtype):
    arrays = [np.array(column, dtype) for column in zip(*cases, strict=True)]
    np.testing.assert_array_equal(evaluate(getattr(ops, name), *arrays), np.array(list(cases.values()), dtype))


def test_huge_arguments_take_no_longer():
    """No series is as long as its arguments are large."""
    huge = [1e6, 1e10, 1e17, 1e100, 1e300]
    a, b = (array.ravel() for array in np.meshgrid(huge + [1e-300, 0.5, 50, 101, 5000], huge + [1e-300, 0.5, 150]))
    for ratio in (1e-5, 0.5, 1 - 1e-7, 1.0, 1 + 1e-7, 1.3, 1e5):
        p, q = evaluate(ops.igamma, a, a * ratio), evaluate(ops.igammac, a, a * ratio)
        np.testing.assert_allclose(p + q, 1, atol=1e-14)
        slope = evaluate(ops.igamma_grad_a, a, a * ratio)
        assert np.all((slope <= 0) & np.isfinite(slope))
        x = np.clip(a / (a + b) * ratio, 0, 1)
        y = evaluate(ops.betainc, a, b, x)
        assert np.all((y >= 0) & (y <= 1))
        assert np.all(evaluate(ops.zeta, 1 + a, b * ratio) >= 0)
        assert not np.any(np.isnan(evaluate(ops.polygamma, np.floor(a), b * ratio)))


def test_betainc_of_a_huge_and_a_moderate_parameter():
    """In the limit, with x = y / a, it is an incomplete gamma function."""
    b = np.array([0.5, 50, 101, 150, 5000])
    for a in (1e30, 1e100):
        for ratio in (0.9, 1.0, 1.02):
            limit = evaluate(ops.igamma, b, b * ratio)
            np.testing.assert_allclose(evaluate(ops.betainc, b, np.full(5, a), b * ratio / a), limit, rtol=1e-12)


def test_small_upper_gamma_keeps_its_digits():
    """1 - P would have none left."""
    a, x = np.array([1e-10, 1e-30, 1e-5]), np.array([0.5, 0.1, 1.05])
    np.testing.assert_allclose(evaluate(ops.igammac, a, x), [float(v) for v in _exact(_q, (a, x))], rtol=1e-14)
