"""Diag, MatrixDiag and their kin: values, types, shapes, gradients, bad input."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.graph.shape import TensorShape
from stillflow.testing import assert_same_bits, check_gradient, evaluate

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]
DIAG_DTYPES = ["float32", "float64", "float16", "int64", "int32"]
SHAPES = [(3, 3), (2, 4), (4, 2), (5, 2, 3), (2, 3, 4, 3), (0, 3), (3, 0), (0, 2, 2)]


def sample(rng, shape, dtype="float32"):
    return rng.integers(1, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DIAG_DTYPES)
@pytest.mark.parametrize("shape", [(1,), (5,), (2, 3), (2, 1, 3), (0,)])
def test_whole_arrays(shape, dtype, rng):
    x = sample(rng, shape, dtype)
    whole = evaluate(ops.diag, x)
    np.testing.assert_array_equal(whole.reshape(x.size, x.size), np.diag(x.ravel()))
    assert whole.shape == shape + shape
    assert whole.dtype == dtype
    np.testing.assert_array_equal(evaluate(ops.diag_part, whole), x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_matrices(shape, dtype, rng):
    x = sample(rng, shape, dtype)
    diagonal = np.diagonal(x, axis1=-2, axis2=-1)
    np.testing.assert_array_equal(evaluate(ops.matrix_diag_part, x), diagonal)
    new = sample(rng, diagonal.shape, dtype)
    expected = x.copy()
    for i in range(min(shape[-2:])):
        expected[..., i, i] = new[..., i]
    np.testing.assert_array_equal(evaluate(ops.matrix_set_diag, x, new), expected)
    np.testing.assert_array_equal(evaluate(ops.matrix_diag, x), x[..., None] * np.eye(shape[-1], dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("lower", "upper"), [(0, 0), (-1, 0), (0, -1), (1, 2), (-1, -1), (2, 0)])
def test_bands(lower, upper, dtype, rng):
    x = sample(rng, (2, 4, 5), dtype)
    i, j = np.indices((4, 5))
    is_kept = ((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper))
    result = evaluate(lambda x: ops.matrix_band_part(x, lower, upper), x)
    np.testing.assert_array_equal(result, np.where(is_kept, x, np.zeros((), dtype)))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (600, 70)])
def test_triangles_of_any_size(shape, rng):
    x = sample(rng, shape)
    np.testing.assert_array_equal(evaluate(lambda x: ops.matrix_band_part(x, -1, 0), x), np.tril(x))


def test_identity_matrices_and_traces(rng):
    np.testing.assert_array_equal(evaluate(lambda n: ops.eye(n, 4), np.array(3, np.int32)), np.eye(3, 4))
    x = sample(rng, (2, 3, 3))
    np.testing.assert_array_equal(evaluate(ops.trace, x), np.trace(x, axis1=1, axis2=2))


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="Input must have even and non-zero rank"):
        ops.diag_part([1.0])
    with pytest.raises(ValueError, match="at least rank 2 but is rank 1"):
        ops.matrix_diag_part([1.0])
    with pytest.raises(ValueError, match="must be equal"):
        ops.matrix_set_diag(np.zeros((2, 3)), np.zeros(3))
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match=r"num_lower must be negative or less.*rows \(2\) got: 3"):
        evaluate(lambda x: ops.matrix_band_part(x, 3, 0), x)
    with pytest.raises(errors.InvalidArgumentError, match="dimensions 0 and 1 do not match"):
        evaluate(lambda x: ops.diag_part(ops.placeholder_with_default(x, shape=TensorShape(None))), x)


def test_gradients_match_differences(rng):
    x, d = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 3))
    check_gradient(ops.diag, d)
    check_gradient(lambda d: ops.diag_part(ops.diag(d)), d)
    check_gradient(ops.matrix_diag, d)
    check_gradient(ops.matrix_diag_part, x)
    check_gradient(ops.matrix_diag_part, rng.standard_normal((3, 3)))
    check_gradient(ops.matrix_set_diag, x, d)
    check_gradient(lambda x: ops.matrix_band_part(x, 1, 0), x)


def test_same_bits_everywhere(rng):
    x = rng.standard_normal((40, 50, 60)).astype(np.float32)
    assert_same_bits(lambda x: [ops.matrix_band_part(x, 2, -1), ops.matrix_diag_part(x)], x)
