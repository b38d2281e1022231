"""Elementary functions are as near to the exact values as csrc/arithmetic/math says: doubles against mpmath,
floats against doubles on many more values."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import evaluate

mpmath.mp.prec = 200


def _sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def _softplus(x):
    return mpmath.log1p(mpmath.exp(x)) if x < 100 else x + mpmath.exp(-x)


def _log_gamma(x):
    return mpmath.loggamma(x).real if x > 0 else mpmath.log(abs(mpmath.gamma(x)))


def _scaled_bessel(order):
    return lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(order, x) if abs(x) < 1e4 else _bessel_far(order, x)


def _bessel_far(order, x):
    """Hankel's expansion."""
    total = term = mpmath.mpf(1)
    for k in range(1, 25):
        term *= -(4 * order**2 - (2 * k - 1) ** 2) / (8 * k * abs(x))
        total += term
    return mpmath.sign(x) ** order * total / mpmath.sqrt(2 * mpmath.pi * abs(x))


_UNIT = [(-1, 1)]
_ANGLES = [(-10, 10), (-1e6, 1e6), (-3e8, 3e8), (-1e300, 1e300)]

# Each function with its exact value, its bounds in ulp for float and double, and ranges of arguments.
FUNCTIONS = {
    "exp": (mpmath.exp, 1, 1.1, [(-87, 88), (-700, 709), (-1e-3, 1e-3)]),
    "expm1": (mpmath.expm1, 1.25, 1.25, [(-3, 3), (16, 19), (-50, 88), (-50, 709), (-1e-3, 1e-3)]),
    "log": (mpmath.log, 1, 1, [(0.5, 2), (1e-30, 1e-20), (1e-3, 1e3), (1e10, 1e30), (0.999, 1.001)]),
    "log1p": (mpmath.log1p, 1, 1.1, [(-1, 1), (-1e-3, 1e-3), (1, 1e3), (0.4, 0.6), (1e10, 1e30), (1e299, 1e303)]),
    "sigmoid": (_sigmoid, 3, 3, [(-5, 5), (-87, 87), (-700, 700)]),
    "softplus": (_softplus, 2, 2, [(-5, 5), (-87, 87), (-700, 700)]),
    "tanh": (mpmath.tanh, 2.5, 2.75, [(-1, 1), (-0.2, -0.17), (0.17, 0.2), (0.6, 0.8), (-25, 25), (-1e-3, 1e-3)]),
    "sinh": (mpmath.sinh, 1.25, 1.4, [(-1, 1), (0.4, 1.2), (-9, 9), (-89, 89), (-710, 710)]),
    "cosh": (mpmath.cosh, 1.25, 1.4, [(-1, 1), (-2, 2), (-9, 9), (-89, 89), (-710, 710)]),
    "asinh": (
        mpmath.asinh,
        1.25,
        1.2,
        [(-1, 1), (0.3, 0.4), (-10, 10), (-1e-3, 1e-3), (-1e10, 1e10), (-1e300, 1e300)],
    ),
    "acosh": (mpmath.acosh, 1.5, 1, [(1, 1.01), (1, 2), (1, 100), (1e8, 1e10), (1e20, 1e300)]),
    "atanh": (mpmath.atanh, 1.25, 1, [(-1, 1), (-0.2, 0.2), (-1e-3, 1e-3), (0.99, 1)]),
    "sin": (mpmath.sin, 1, 1, _ANGLES),
    "cos": (mpmath.cos, 1, 1, _ANGLES),
    "tan": (mpmath.tan, 1.3, 2.25, _ANGLES),
    "asin": (mpmath.asin, 1.5, 1.25, _UNIT + [(0.49, 0.51), (-0.51, -0.49), (-1e-3, 1e-3), (0.999, 1)]),
    "acos": (mpmath.acos, 1.5, 1, _UNIT + [(0.49, 0.51), (-0.51, -0.49), (-1e-3, 1e-3), (0.999, 1)]),
    "atan": (mpmath.atan, 1.5, 1.5, [(-1, 1), (0.99, 1.01), (-3, 3), (-100, 100), (1e10, 1e30), (-1e-3, 1e-3)]),
    "erf": (mpmath.erf, 1.25, 1.5, [(-1, 1), (-6, 6), (-1e-3, 1e-3)]),
    "erfc": (mpmath.erfc, 3.75, 4, [(-1, 1), (-6, 9), (0, 0.01), (0.4, 0.6), (9, 26.5)]),
    "lgamma": (
        _log_gamma,
        0.51,
        6,
        [(2.4, 3.6), (0.01, 0.5), (0.5, 3), (1.4, 2.6), (3, 30), (8, 9), (30, 1e6), (1e10, 1e30)],
    ),
    "bessel_i0e": (_scaled_bessel(0), 0.501, 3, [(-8, 8), (7.9, 8.1), (-50, 50), (1e3, 1e30), (-1e-3, 1e-3)]),
    "bessel_i1e": (_scaled_bessel(1), 0.501, 3, [(-8, 8), (7.9, 8.1), (-50, 50), (1e3, 1e30), (-1e-3, 1e-3)]),
    "digamma": (mpmath.digamma, 0.501, 6, [(0.01, 1), (1, 3), (1.4, 1.5), (3, 30), (8, 9), (30, 1e6), (1e10, 1e30)]),
}

# The doubles with the largest errors of some ten million each, where a function's bound is about to be met.
WORST_DOUBLES = {
    "exp": ["-0x1.1fa237537fff7p+2", "-0x1.1fc9f0e7de8e4p+2"],
    "expm1": ["0x1.67e4b172c6a7p-2"],
    "log": ["0x1.65bf50b9aefa1p-1"],
    "log1p": ["-0x1.16d8f8f22c906p-2"],
    "sin": ["0x1.a3e1754983a08p+0"],
    "cos": ["0x1.42b2c87e421cp-4"],
    "tan": ["-0x1.f678fee05022ap+1"],
    "asin": ["0x1.042d58b9cbff6p-1"],
    "acos": ["-0x1.048b67e8fe6dp-1"],
    "atan": ["-0x1.1a7a58300e98ap+0"],
    "sinh": ["0x1.280f7df6e974cp+4"],
    "cosh": ["0x1.e963c876337dp+1"],
    "tanh": ["-0x1.a4968bd04452p-3"],
    "asinh": ["0x1.0069f9022badcp-2"],
    "acosh": ["0x1.0791d9fca2783p+0"],
    "atanh": ["-0x1.5d47bf2be2a14p-3"],
    "erf": ["0x1.fdfd6237d6p-9"],
    "erfc": ["0x1.eb6c3f9bac484p-2"],
    "sigmoid": ["-0x1.0a297cccc37dcp+3"],
}


def _arguments(name, dtype, count):
    """Numbers of the function's ranges, and random bits."""
    rng = np.random.RandomState(7)
    largest = float(np.finfo(dtype).max)
    parts = [
        rng.uniform(low, high, count).astype(dtype)
        for low, high in FUNCTIONS[name][3]
        if max(abs(low), abs(high)) < largest
    ]
    if name not in ("lgamma", "digamma"):
        parts.append(np.frombuffer(rng.bytes(count * dtype().itemsize), dtype))
    if dtype is np.float64:
        parts.append(np.array([float.fromhex(text) for text in WORST_DOUBLES.get(name, ())]))
    x = np.concatenate(parts)
    if name == "erfc":  # mpmath cannot do huge ones
        x = x[np.abs(x) < 1e4]
    return x[np.isfinite(x) & ((np.abs(x) >= np.finfo(dtype).tiny) | (x == 0))]


def _units_in_last_place(exact, dtype):
    precision = 24 if dtype is np.float32 else 53
    return mpmath.mpf(2) ** (mpmath.frexp(exact)[1] - precision)


def assert_near_exact(x, y, exact, bound, dtype):
    """Holds y to `bound` ulp; denormal results may be flushed to zero, and what is no real number is NaN."""
    for argument, value, expected in zip(x, y.tolist(), exact, strict=True):
        largest = mpmath.mpf(float(np.finfo(dtype).max))
        if (isinstance(expected, mpmath.mpc) and expected.imag != 0) or mpmath.isnan(expected):
            assert np.isnan(value), (argument, value)
            continue
        expected = expected.real
        if abs(expected) > largest:
            near_limit = abs(expected) < largest * (1 + mpmath.mpf(2) ** -22)
            assert value == float(mpmath.sign(expected)) * np.inf or near_limit, (argument, value)
        elif abs(expected) < float(np.finfo(dtype).tiny) * 1.000001:
            assert abs(value) <= float(np.finfo(dtype).tiny) * 1.000001, (argument, value)
        else:
            error = abs(mpmath.mpf(value) - expected) / _units_in_last_place(expected, dtype)
            assert error <= bound, (argument, value, float(error))


def _exact(function, *arguments):
    try:
        return mpmath.mpmathify(function(*(mpmath.mpf(argument) for argument in arguments)))
    except (ValueError, ZeroDivisionError):
        return mpmath.nan


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_is_within_the_bound(name, dtype):
    function, float_bound, double_bound, _ = FUNCTIONS[name]
    x = _arguments(name, dtype, 300)
    if name in ("log", "acosh", "log1p", "atanh"):  # poles are in test_special_values.py
        x = x[(x != 0) & (np.abs(x) != 1)]
    y = evaluate(getattr(ops, name), x)
    bound = float_bound if dtype is np.float32 else double_bound
    assert_near_exact(x, y, [_exact(function, v) for v in x.tolist()], bound, dtype)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_floats_agree_with_doubles(name):
    """Over many floats, by the function for doubles, whose own error is far below float's."""
    bound = FUNCTIONS[name][1] + 1e-3
    x = _arguments(name, np.float32, 100_000)
    y = evaluate(getattr(ops, name), x).astype(np.float64)
    with np.errstate(all="ignore"):
        expected = evaluate(getattr(ops, name), x.astype(np.float64))
        rounded = expected.astype(np.float32)
        ulp = np.spacing(np.abs(rounded)).astype(np.float64)
        is_nan = np.isnan(expected)
        tiny = np.finfo(np.float32).tiny
        is_flushed = (np.abs(expected) < tiny * 1.000001) & (np.abs(y) < tiny * 1.000001)
        is_equal = (rounded == y) | is_flushed | (is_nan & np.isnan(y))
        wrong = ~is_equal & ~(np.abs(y - expected) <= bound * ulp)
    assert not wrong.any(), (x[wrong][:5], y[wrong][:5], expected[wrong][:5])


def test_negative_gamma_is_near_in_the_largest_term():
    """Where the terms cancel, the error is a few ulp of the terms."""
    x = np.random.RandomState(1).uniform(-30, 0, 2000)
    for op, function in ((ops.lgamma, _log_gamma), (ops.digamma, mpmath.digamma)):
        y = evaluate(op, x)
        for argument, value in zip(x.tolist(), y.tolist(), strict=True):
            exact = _exact(function, argument)
            terms = abs(exact) + abs(function(1 - mpmath.mpf(argument))) + 2
            assert abs(mpmath.mpf(value) - exact) < 8 * 2.0**-53 * terms, (argument, value)


# ---- Functions of two numbers -----------------------------------------------------------------------------


def _bases_and_exponents(dtype, rng, count):
    """Pairs whose powers are spread over the range of results, and pairs of moderate numbers."""
    largest_log = 85 if dtype is np.float32 else 700
    logs = rng.uniform(-largest_log, largest_log, count)
    near_one = rng.uniform(0.9, 1.1, count)
    results = rng.uniform(-largest_log, largest_log, count)
    bases = np.concatenate([np.exp(logs), near_one, rng.uniform(0, 10, count)])
    exponents = np.concatenate([results / logs, results / np.log(near_one), rng.uniform(-5, 5, count)])
    return bases.astype(dtype), exponents.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_error_of_powers(dtype):
    x, y = _bases_and_exponents(dtype, np.random.RandomState(3), 700)
    exact = [_exact(mpmath.power, a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    pairs = list(zip(x.tolist(), y.tolist(), strict=True))
    assert_near_exact(pairs, evaluate(ops.pow, x, y), exact, 1.25 if dtype is np.float32 else 1, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_error_of_angles_of_points(dtype):
    rng = np.random.RandomState(4)
    decades = 30 if dtype is np.float32 else 300
    y = rng.standard_normal(2000) * 10.0 ** rng.uniform(-decades, decades, 2000)
    x = y * rng.standard_normal(2000) * 10.0 ** rng.uniform(-4, 4, 2000)
    y, x = y.astype(dtype), x.astype(dtype)
    exact = [_exact(mpmath.atan2, a, b) for a, b in zip(y.tolist(), x.tolist(), strict=True)]
    pairs = list(zip(y.tolist(), x.tolist(), strict=True))
    assert_near_exact(pairs, evaluate(ops.atan2, y, x), exact, 1.5, dtype)
