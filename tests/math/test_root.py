"""Roots are rounded correctly."""

from __future__ import annotations

import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import assert_same_bits, evaluate


def _random_bits(dtype, count):
    """Positive normal numbers of all sizes."""
    low, high = {np.float32: (2.0**-100, 3e38), np.float64: (2.0**-900, 1e308)}[dtype]
    integers = np.dtype(f"u{np.dtype(dtype).itemsize}").type
    first, last = (int(np.array(bound, dtype).view(integers)) for bound in (low, high))
    return np.random.RandomState(5).randint(first, last, count, dtype=integers).view(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_roots_are_those_of_numpy(dtype):
    x = _random_bits(dtype, 1 << 18)
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
