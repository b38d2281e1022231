"""Functions of complex numbers are as near to the exact values as csrc/arithmetic/math/complex.h says, relative to
the magnitude of the result; their limits are those of the C standard."""

import cmath

import mpmath
import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import assert_same_bits, evaluate

mpmath.mp.prec = 200

# Each function with its exact value, its bound in units of the result's magnitude, and scales of arguments.
FUNCTIONS = {
    "exp": (mpmath.exp, 4, (0.01, 1, 300)),
    "expm1": (mpmath.expm1, 4, (1e-6, 0.1, 1, 30)),
    "log": (mpmath.log, 4, (1e-200, 0.7, 1, 1e200)),
    "log1p": (lambda z: mpmath.log(1 + z), 4, (1e-9, 0.4, 1, 1e100)),
    "sqrt": (mpmath.sqrt, 3, (1e-250, 1, 1e300)),
    "rsqrt": (lambda z: 1 / mpmath.sqrt(z), 8, (1e-200, 1, 1e200)),
    "reciprocal": (lambda z: 1 / z, 5, (1e-250, 1, 1e250)),
    "square": (lambda z: z * z, 3, (1e-140, 1, 1e140)),
    "sigmoid": (lambda z: 1 / (1 + mpmath.exp(-z)), 8, (0.1, 1, 30)),
    "tanh": (mpmath.tanh, 8, (1e-6, 0.5, 1, 30)),
    "sinh": (mpmath.sinh, 4, (1e-6, 1, 300)),
    "cosh": (mpmath.cosh, 4, (1e-6, 1, 300)),
    "sin": (mpmath.sin, 4, (1e-6, 1, 300)),
    "cos": (mpmath.cos, 4, (1e-6, 1, 300)),
    "tan": (mpmath.tan, 8, (1e-6, 0.5, 1, 30)),
    "asinh": (mpmath.asinh, 8, (1e-6, 0.5, 2, 1e10, 1e200)),
    "acosh": (mpmath.acosh, 8, (1e-6, 0.5, 2, 1e10, 1e200)),
    "atanh": (mpmath.atanh, 8, (1e-6, 0.5, 2, 1e10, 1e200)),
}


def _arguments(scale, count=60):
    """In all directions, near the axes too, and near 1 and i."""
    random = np.random.RandomState(0)
    angles = np.concatenate([random.uniform(-np.pi, np.pi, count), np.arange(8) * np.pi / 4 + 1e-9])
    z = scale * random.uniform(0.1, 1, angles.size) * np.exp(1j * angles)
    if 0.4 < scale < 3:
        near = 1 + 1e-5 * np.exp(1j * angles[:20])
        z = np.concatenate([z, near, 1j * near, -near])
    return z


def _largest_error(results, exact, epsilon):
    errors = [abs(mpmath.mpc(complex(a)) - b) / abs(b) for a, b in zip(results, exact, strict=True)]
    return float(max(errors)) / epsilon


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_within_their_bounds(name):
    function, bound, scales = FUNCTIONS[name]
    z = np.concatenate([_arguments(scale) for scale in scales])
    exact = [function(mpmath.mpc(complex(each))) for each in z]
    assert _largest_error(evaluate(getattr(ops, name), z), exact, 2**-53) <= bound
    single = np.concatenate([_arguments(scale) for scale in scales if 1e-30 < scale < 50]).astype(np.complex64)
    exact = [function(mpmath.mpc(complex(each))) for each in single]
    assert _largest_error(evaluate(getattr(ops, name), single), exact, 2**-24) <= 1.5


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_arithmetic_is_within_its_bounds(dtype):
    a, b = _arguments(1).astype(dtype), _arguments(1)[::-1].astype(dtype)
    epsilon = np.finfo(dtype).eps / 2
    for name, function, bound in (
        ("mul", lambda x, y: x * y, 2),
        ("real_div", lambda x, y: x / y, 5),
        ("add", lambda x, y: x + y, 1),
        ("pow", lambda x, y: x**y, 40),
    ):
        pairs = zip(a, b, strict=True)
        exact = [function(mpmath.mpc(complex(x)), mpmath.mpc(complex(y))) for x, y in pairs]
        assert _largest_error(evaluate(getattr(ops, name), a, b), exact, epsilon) <= bound, name


def test_quotients_neither_overflow_nor_vanish():
    a = np.array([1e300 + 1e300j, 1e-300 + 1e-300j, 1e300, 3e-308 + 3e-308j])
    b = np.array([1e300 - 1e300j, 1e-300 - 1e-300j, 1e-5 + 0j, 3e-308 - 3e-308j])
    np.testing.assert_allclose(evaluate(ops.real_div, a, b), [1j, 1j, 1e305, 1j], rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(evaluate(ops.abs, a), np.abs(a), rtol=1e-15)


LIMITS = [complex(x, y) for x in (np.inf, -np.inf, np.nan, 2.0, 0.0, -0.0) for y in (np.inf, np.nan, 3.0, 0.0, -0.0)]


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"])
def test_limits_are_those_of_the_c_standard(name):
    """Python's cmath keeps to annex G; where it raises, results are infinite or NaN."""
    results = evaluate(getattr(ops, name), np.array(LIMITS))
    for z, result in zip(LIMITS, results, strict=True):
        try:
            expected = getattr(cmath, name)(z)
        except (ValueError, OverflowError):
            assert not np.isfinite(result), z
            continue
        for part in ("real", "imag"):
            ours, theirs = getattr(result, part), getattr(expected, part)
            if np.isnan(theirs):
                assert np.isnan(ours), (z, result, expected)
            elif np.isinf(theirs) and np.isnan(z.imag):
                assert np.isinf(ours), (z, result, expected)  # of no sign in particular
            elif theirs == 0 or np.isinf(theirs):
                assert ours == theirs, (z, result, expected)
            else:
                np.testing.assert_allclose(ours, theirs, rtol=1e-14, err_msg=str(z))


def test_infinite_factors_make_infinite_products():
    infinite = np.array([complex(np.inf, 0), complex(0, -np.inf), complex(np.inf, np.nan)])
    product = evaluate(ops.mul, infinite, np.array([1 + 1j, 2 + 0j, 1j]))
    assert np.all(np.isinf(product.real) | np.isinf(product.imag))
    quotient = evaluate(ops.real_div, np.array([1 + 1j, 0j]), np.zeros(2, complex))
    assert np.isinf(quotient[0]) and np.isnan(quotient[1])


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_bits_are_the_same_everywhere(dtype):
    z = np.concatenate([_arguments(scale, 500) for scale in (0.3, 1, 20)]).astype(dtype)
    for name in FUNCTIONS:
        assert_same_bits(getattr(ops, name), z)
    assert_same_bits(lambda x, y: (x * y, x / y, x**y, x + y, ops.abs(x), ops.angle(y)), z, z[::-1].copy())
