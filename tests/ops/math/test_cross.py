"""Cross: values, types, gradient, bad input."""

import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8"])
@pytest.mark.parametrize("shape", [(3,), (0, 3), (5, 3), (2, 4, 3)])
def test_products_are_numpys(shape, dtype, rng):
    a, b = (rng.integers(0, 8, shape).astype(dtype) for _ in range(2))
    result = evaluate(ops.cross, a, b)
    np.testing.assert_array_equal(result, np.cross(a, b).astype(dtype))
    assert result.dtype == dtype


def test_vectors_have_three_elements():
    with pytest.raises(ValueError, match="must be equal, but are 2 and 3"):
        ops.cross([1.0, 2.0], [1.0, 2.0])


def test_gradient_matches_differences(rng):
    check_gradient(ops.cross, rng.standard_normal((2, 3)), rng.standard_normal((2, 3)))


def test_same_bits_everywhere(rng):
    assert_same_bits(ops.cross, *rng.standard_normal((2, 9000, 3)).astype(np.float32))
