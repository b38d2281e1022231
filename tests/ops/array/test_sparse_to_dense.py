"""SparseToDense: values, types, places in every form, gradients, bad places, bits."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, of_unknown_shape


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (2, 1, 3, 2)])
def test_values_lie_in_their_places(shape, index_type, rng):
    count = int(np.prod(shape))
    flat = np.sort(rng.choice(count, count // 2, replace=False))
    places = np.stack(np.unravel_index(flat, shape), 1).astype(index_type)
    values = rng.normal(size=len(flat)).astype(np.float32)
    expected = np.full(shape, -1, np.float32)
    expected.reshape(-1)[flat] = values
    result = evaluate(
        lambda p, v: ops.sparse_to_dense(p, np.array(shape, index_type), v, np.float32(-1.0)), places, values
    )
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"])
def test_every_type(dtype):
    values = np.array([1, 0, 1], dtype)
    result = evaluate(lambda v: ops.sparse_to_dense([0, 2, 3], [5], v, np.ones((), dtype)), values)
    np.testing.assert_array_equal(result, np.array([1, 1, 0, 1, 1], dtype))
    assert result.dtype == dtype


def test_strings():
    result = evaluate(lambda: ops.sparse_to_dense([[0, 1], [1, 0]], [2, 2], ["a", "b"], "none"))
    assert result.tolist() == [[b"none", b"a"], [b"b", b"none"]]


def test_scalars_and_vectors_as_places():
    assert evaluate(lambda: ops.sparse_to_dense(2, [4], 7)).tolist() == [0, 0, 7, 0]
    assert evaluate(lambda: ops.sparse_to_dense([0, 2], [4], 7)).tolist() == [7, 0, 7, 0]


def test_no_places():
    empty = np.zeros((0, 2), np.int32)
    result = evaluate(lambda p, v: ops.sparse_to_dense(p, [2, 3], v, 5.0), empty, np.zeros(0, np.float32))
    np.testing.assert_array_equal(result, np.full((2, 3), 5))


def test_of_values_for_one_place_the_last_stays():
    result = evaluate(lambda: ops.sparse_to_dense([3, 1, 3], [5], [1, 2, 3], validate_indices=False))
    assert result.tolist() == [0, 2, 0, 3, 0]


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ([[0, 0], [2, 0]], r"indices\[1\] = \[2,0\] is out of bounds: need 0 <= index < \[2,3\]"),
        ([[0, -1]], r"indices\[0\] = \[0,-1\] is out of bounds"),
        ([[1, 0], [0, 2]], r"indices\[1\] = \[0,2\] is out of order"),
        ([[0, 2], [0, 1]], r"indices\[1\] = \[0,1\] is out of order"),
        ([[1, 1], [1, 1]], r"indices\[1\] = \[1,1\] is repeated"),
    ],
)
def test_bad_places_are_named(places, message):
    with pytest.raises(errors.InvalidArgumentError, match=message):
        evaluate(lambda: ops.sparse_to_dense(places, [2, 3], 1.0, 0.0))


@pytest.mark.parametrize("place", [-1, 5, 2**31 - 1, -(2**31)])
def test_places_outside_are_refused_without_validation_too(place):
    with pytest.raises(errors.InvalidArgumentError, match=r"Indices are not valid \(out of bounds\).  Shape: \[5\]"):
        evaluate(lambda: ops.sparse_to_dense([0, place], [5], 1, validate_indices=False))


@pytest.mark.parametrize(
    ("places", "shape", "values", "default", "message"),
    [
        ([[[0]]], [4], 1, 0, "sparse_indices should be a scalar, vector, or matrix"),
        ([0], [[4]], 1, 0, "output_shape should be a vector"),
        ([[0, 1]], [4], 1, 0, "output_shape has incorrect number of elements: 1 should be: 2"),
        ([0, 1], [4], [1, 2, 3], 0, r"sparse_values has incorrect shape \[3\], should be \[\] or \[2\]"),
        ([0, 1], [4], [[1], [2]], 0, "sparse_values has incorrect shape"),
        ([0, 1], [4], 1, [0], "default_value should be a scalar"),
        ([0], [-4], 1, 0, "must be >= 0"),
        ([0], [2**31 - 1] * 3, 1, 0, "output_shape has incorrect number of elements|more than"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(places, shape, values, default, message):
    arrays = [np.array(value, np.int32) for value in (places, shape, values, default)]

    def build(*inputs):
        return ops.sparse_to_dense(*map(of_unknown_shape, inputs))

    with pytest.raises(errors.InvalidArgumentError, match=message):
        evaluate(build, *arrays)


def test_gradients(rng):
    places = np.array([[0, 1], [1, 2], [2, 0]])
    check_gradient(
        lambda v, d: ops.sparse_to_dense(places, np.array([3, 3]), v, d), rng.normal(size=3), rng.normal(size=())
    )


def test_same_bits(rng):
    places = np.sort(rng.choice(500000, 3000, replace=False))
    values = rng.normal(size=3000).astype(np.float32)
    assert_same_bits(lambda p, v: ops.sparse_to_dense(p, np.array([500000]), v, 0.5), places, values)
