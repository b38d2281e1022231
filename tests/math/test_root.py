"""Roots are rounded as the processor's own, whichever way they are found."""

from __future__ import annotations

import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import assert_same_bits, evaluate


def _random_bits(dtype, count):
    """Positive numbers of all sizes whose roots are found by steps."""
    low, high = {np.float32: (2.0**-100, 3e38), np.float64: (2.0**-900, 1e308)}[dtype]
    integers = np.dtype(f"u{np.dtype(dtype).itemsize}").type
    first, last = (int(np.array(bound, dtype).view(integers)) for bound in (low, high))
    return np.random.RandomState(5).randint(first, last, count, dtype=integers).view(dtype)


def _near_middles():
    """Doubles whose roots lie nearest to the middle of two doubles.

    Such a root is q / 2 with an odd q, whose square is 1 + 4 d for a small d beside a multiple of 2^54 or 2^55; q is
    found bit by bit (Cornea, Golliver and Markstein, "Correctness proofs outline for Newton-Raphson-based
    floating-point divide and square root algorithms", 1999).
    """
    found = set()
    for bits in (54, 55):
        for beside in range(-256, 257, 2):
            square, q = 1 + 4 * beside, 1
            for k in range(3, bits):
                q += ((q * q - square) >> k & 1) << (k - 1)
            modulus = 1 << bits
            for root in (q, -q, q + modulus // 2, modulus // 2 - q):
                mantissa = ((root % modulus) ** 2 - square) >> bits
                if 1 << 52 <= mantissa < 1 << 53:
                    found.add(float(mantissa << (bits - 54)))
    return np.array(sorted(found))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots_are_those_of_the_processor(dtype):
    x = _random_bits(dtype, 1 << 18)
    np.testing.assert_array_equal(evaluate(ops.sqrt, x), np.sqrt(x))


def test_roots_of_all_mantissas_of_floats():
    x = np.arange(0x3F800000, 0x40800000, dtype=np.uint32).view(np.float32)
    np.testing.assert_array_equal(evaluate(ops.sqrt, x), np.sqrt(x))


@pytest.mark.parametrize("exponent", [-800, -51, 0, 900])
def test_roots_near_the_middle_of_two_doubles(exponent):
    x = np.ldexp(np.tile(_near_middles(), 3), exponent)
    assert len(x) > 500
    np.testing.assert_array_equal(evaluate(ops.sqrt, x), np.sqrt(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_special_number_among_others(dtype):
    """In each place of some registers; a denormal number counts as zero."""
    limits = np.finfo(dtype)
    for special in (0.0, -0.0, np.inf, limits.tiny, limits.tiny / 2, limits.max):
        x = np.tile(_random_bits(dtype, 50), (50, 1))
        with np.errstate(under="ignore"):
            np.fill_diagonal(x, special)
        expected = np.sqrt(np.where(x < limits.tiny, np.copysign(dtype(0), x), x))
        np.testing.assert_array_equal(evaluate(ops.sqrt, x), expected)
        assert np.signbit(evaluate(ops.sqrt, x)).any() == np.signbit(dtype(special))
    x[:, 7] = -1
    assert np.isnan(evaluate(ops.sqrt, x)[:, 7]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_same_bits(dtype):
    numbers = _random_bits(np.float32, 3 * 16384 + 7).astype(np.float64) % 1e4
    assert_same_bits(ops.sqrt, numbers.astype(dtype))
