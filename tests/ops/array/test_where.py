"""Where and boolean_mask: places, types, shapes, gradients, bad input."""

import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate

DTYPES = ["bool", "float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0,), (7,), (3, 4), (2, 0, 3), (2, 3, 4, 5), (16385,), (40000,)])
def test_places_are_numpys(shape, dtype, rng):
    x = rng.integers(0, 2, shape).astype(dtype)
    result = evaluate(ops.where, x)
    np.testing.assert_array_equal(result, np.stack(np.nonzero(x), 1))
    assert result.dtype == np.int64


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99, 1])
def test_places_at_any_density_and_length(share, rng):
    for shape in [
        *range(1, 20),
        255,
        2047,
        2049,
        32767,
        32768,
        32776,
        (5, 1),
        (1, 5),
        (1000, 3, 7),
        (3, 1, 9000),
        (3,) * 7,
    ]:
        x = rng.random(shape) < share
        np.testing.assert_array_equal(evaluate(ops.where, x), np.argwhere(x))


def test_halves_that_are_nearly_zero_are_not_zero():
    x = np.array([0x0001, 0x8001, 0x0000, 0x8000, 0x7E00] * 9, np.uint16).view(np.float16)
    assert evaluate(ops.where, x).ravel().tolist() == [i for i in range(45) if i % 5 not in (2, 3)]


def test_nan_is_not_zero_and_minus_zero_is():
    np.testing.assert_array_equal(evaluate(ops.where, np.array([np.nan, -0.0, 0.0, np.inf], np.float32)), [[0], [3]])


@pytest.mark.parametrize("axis", [0, 1])
def test_masked_parts(axis, rng):
    x = rng.standard_normal((4, 5, 3)).astype(np.float32)
    mask = rng.integers(0, 2, x.shape[axis]).astype(bool)
    result = evaluate(lambda x, m: ops.boolean_mask(x, m, axis=axis), x, mask)
    np.testing.assert_array_equal(result, np.compress(mask, x, axis))
    whole = x > 0
    np.testing.assert_array_equal(evaluate(ops.boolean_mask, x, whole), x[whole])


def test_masks_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="mask cannot be scalar"):
        ops.boolean_mask([1.0], True)
    with pytest.raises(ValueError, match="Number of mask dimensions must be specified"):
        ops.boolean_mask([1.0], ops.placeholder(dtype="bool"))
    with pytest.raises(ValueError, match="incompatible"):
        ops.boolean_mask([1.0, 2.0], [True, False, True])


def test_gradient_matches_differences(rng):
    check_gradient(lambda x: ops.boolean_mask(x, [True, False, True]), rng.standard_normal((3, 2)))


def test_same_bits_everywhere(rng):
    assert_same_bits(ops.where, rng.integers(0, 2, (300, 200)).astype(bool))
    assert_same_bits(ops.where, rng.integers(0, 9, 70001).astype(np.float32))
