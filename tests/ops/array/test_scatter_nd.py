"""ScatterNd and TensorScatterAdd and its kin: values, types, gradients, bad input."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8"]
FUNCTIONS = {"add": np.add.at, "sub": np.subtract.at, "update": lambda x, at, y: x.__setitem__(at, y)}


@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_updates_add_up(depth, dtype, index_dtype, rng):
    shape = (4, 3, 5)
    indices = rng.integers(0, 3, (10, depth)).astype(index_dtype)
    updates = rng.integers(0, 5, (10, *shape[depth:])).astype(dtype)
    result = evaluate(lambda i, u: ops.scatter_nd(i, u, np.array(shape, index_dtype)), indices, updates)
    expected = np.zeros(shape, dtype)
    np.add.at(expected, tuple(indices.T), updates)
    np.testing.assert_array_equal(result, expected)
    assert result.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_changed_copies(name, dtype, rng):
    tensor = rng.integers(50, 100, (6, 3)).astype(dtype)
    indices = rng.permutation(6)[:4, None].astype(np.int32)
    updates = rng.integers(0, 5, (4, 3)).astype(dtype)
    expected = tensor.copy()
    FUNCTIONS[name](expected, tuple(indices.T), updates)
    before = tensor.copy()
    result = evaluate(getattr(ops, "tensor_scatter_" + name), tensor, indices, updates)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(tensor, before)


def test_no_updates_leave_zeros():
    result = evaluate(lambda i, u: ops.scatter_nd(i, u, [2, 3]), np.zeros((0, 1), np.int32), np.zeros((0, 3)))
    np.testing.assert_array_equal(result, np.zeros((2, 3)))


def test_bad_places_and_shapes_are_named():
    with pytest.raises(errors.InvalidArgumentError, match=r"indices\[1\] = \[4\] does not index into shape \[4,2\]"):
        evaluate(lambda i, u: ops.scatter_nd(i, u, [4, 2]), np.array([[0], [4]], np.int32), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="The inner 1 dimensions of output.shape"):
        ops.scatter_nd([[0]], [[1.0, 2.0, 3.0]], [4, 2])
    with pytest.raises(ValueError, match="The outer 1 dimensions of indices.shape"):
        ops.scatter_nd([[0]], [[1.0, 2.0], [3.0, 4.0]], [4, 2])


def test_gradients_match_differences(rng):
    indices = np.array([[3], [0], [1]], np.int32)
    tensor, updates = rng.standard_normal((4, 2)), rng.standard_normal((3, 2))
    check_gradient(lambda u: ops.scatter_nd([[1], [1], [0]], u, [4, 2]), updates)
    for name in FUNCTIONS:
        check_gradient(lambda t, u, name=name: getattr(ops, "tensor_scatter_" + name)(t, indices, u), tensor, updates)


def test_same_bits_everywhere(rng):
    indices = rng.integers(0, 50, (6000, 1)).astype(np.int32)
    updates = rng.standard_normal((6000, 40)).astype(np.float32)
    assert_same_bits(lambda i, u: ops.scatter_nd(i, u, [50, 40]), indices, updates)
