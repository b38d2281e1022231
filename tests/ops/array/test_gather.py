"""Gather, GatherV2 and GatherNd: values, types, shapes, gradients, bad input."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("picks", [(), (0,), (1,), (7,), (2, 3)])
def test_picks_are_numpys(picks, axis, rng):
    params = [rng.integers(0, 100, (4, 5, 6)).astype(dtype) for dtype in DTYPES]
    for index_dtype in ("int32", "int64"):
        indices = rng.integers(0, 4, picks).astype(index_dtype)
        results = evaluate(lambda i, *given: [ops.gather_v2(p, i, axis) for p in given], indices, *params)
        for result, table in zip(results, params, strict=True):
            np.testing.assert_array_equal(result, np.take(table, indices, axis), strict=True)


@pytest.mark.parametrize("width", [0, 1, 2, 3, 7, 64, 333])
def test_rows_of_any_width(width, rng):
    params = rng.standard_normal((50, width)).astype(np.float32)
    indices = rng.integers(0, 50, 700)
    np.testing.assert_array_equal(evaluate(ops.gather_op, params, indices), params[indices])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
@pytest.mark.parametrize("width", [2, 3, 4, 5, 6, 7, 8, 10, 12, 16])
def test_rows_of_few_elements(width, dtype, rng):
    """Of tables that a cache holds, and of one that none may hold."""
    for rows in (1000, 700000):
        params = rng.integers(0, 100, (rows, width)).astype(dtype)
        indices = rng.integers(0, rows, 3001)
        np.testing.assert_array_equal(evaluate(ops.gather_op, params, indices), params[indices])
        assert_same_bits(ops.gather_op, params, indices)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
@pytest.mark.parametrize("picks", range(1, 19))
def test_few_columns_of_many_rows(picks, dtype, rng):
    params = rng.integers(0, 100, (1021, 9)).astype(dtype)
    indices = rng.integers(0, 9, picks)
    np.testing.assert_array_equal(evaluate(lambda p, i: ops.gather_v2(p, i, 1), params, indices), params[:, indices])
    wrong = indices.copy()
    wrong[-1] = 9
    with pytest.raises(errors.InvalidArgumentError, match=rf"indices\[{picks - 1}\] = 9 is not in \[0, 9\)"):
        evaluate(lambda p, i: ops.gather_v2(p, i, 1), params, wrong)


@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
@pytest.mark.parametrize("picks", [1, 255, 257, 5000, 40000])
def test_elements_along_the_last_axis_of_batches(picks, dtype, index_dtype, rng):
    params = rng.integers(0, 100, (2, 9, 70)).astype(dtype)
    indices = rng.integers(0, 70, (2, picks)).astype(index_dtype)
    result = evaluate(lambda p, i: ops.gather_v2(p, i, -1, batch_dims=1), params, indices)
    np.testing.assert_array_equal(result, np.take_along_axis(params, indices[:, None].astype(np.int64), 2))
    for place in (0, picks - 1):
        wrong = indices.copy()
        wrong[1, place], wrong[1, -1] = -1, 70
        with pytest.raises(errors.InvalidArgumentError, match=rf"\[1,{place}\] = (-1|70) is not in \[0, 70\)"):
            evaluate(lambda p, i: ops.gather_v2(p, i, -1, batch_dims=1), params, wrong)


@pytest.mark.parametrize("axis", [1, 2])
def test_picks_within_batches(axis, rng):
    params, indices = rng.standard_normal((3, 4, 5)), rng.integers(0, 4, (3, 6))
    result = evaluate(lambda p, i: ops.gather_v2(p, i, axis, batch_dims=1), params, indices)
    expected = np.stack([np.take(p, i, axis - 1) for p, i in zip(params, indices, strict=True)])
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("bad", [-1, 4])
def test_a_bad_index_is_named(bad):
    params = np.zeros((4, 2), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match=rf"indices\[1\] = {bad} is not in \[0, 4\)"):
        evaluate(lambda p, i: ops.gather_v2(p, i, 0), params, np.array([0, bad]))
    with pytest.raises(errors.InvalidArgumentError, match=rf"indices = {bad} is not in \[0, 4\)"):
        evaluate(lambda p, i: ops.gather_v2(p, i, 0), params, np.array(bad))
    with pytest.raises(errors.InvalidArgumentError, match=rf"indices\[0\] = \[{bad}, 0\] does not index into"):
        evaluate(ops.gather_nd_op, params, np.array([[bad, 0]]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_index_tuples(depth, dtype, rng):
    params = rng.integers(0, 100, (4, 5, 6)).astype(dtype)
    indices = rng.integers(0, 4, (3, 2, depth))
    result = evaluate(ops.gather_nd_op, params, indices)
    np.testing.assert_array_equal(result, params[tuple(np.moveaxis(indices, -1, 0))] if depth else [[params] * 2] * 3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_many_index_tuples(depth, dtype, rng):
    params = rng.integers(0, 100, (5, 4, 6, 7)).astype(dtype)
    indices = rng.integers(0, 4, (20, 511, depth)).astype(np.int32)
    result = evaluate(ops.gather_nd_op, params, indices)
    np.testing.assert_array_equal(result, params[tuple(np.moveaxis(indices, -1, 0))])
    for row, column in ((0, 0), (0, 256), (3, 300), (19, 510)):
        wrong = indices.copy()
        wrong[row, column, -1], wrong[19, 510, 0] = -1, 9
        with pytest.raises(
            errors.InvalidArgumentError, match=rf"indices\[{row},{column}\] = \[.*\] does not index into"
        ):
            evaluate(ops.gather_nd_op, params, wrong, threads=1)


def test_nothing_can_be_picked_from_nothing():
    empty = np.zeros((0, 3), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match="params is empty"):
        evaluate(ops.gather_nd_op, empty, np.zeros((1, 1), np.int32))
    assert evaluate(ops.gather_op, empty, np.zeros(0, np.int32)).shape == (0, 3)


def test_gradients_match_differences(rng):
    params = rng.standard_normal((4, 3, 2))
    for axis in (0, 1, 2):
        check_gradient(lambda p, axis=axis: ops.gather_v2(p, [1, 0, 1], axis), params)
    check_gradient(lambda p: ops.gather_v2(p, [[0, 1], [2, 2], [1, 1], [0, 0]], 1, batch_dims=1), params)
    check_gradient(lambda p: ops.gather_nd_op(p, [[1, 2], [1, 2], [0, 0]]), params)
    check_gradient(lambda p: ops.gather_nd_op(p, [[1], [1]]), params)


def test_same_bits_everywhere(rng):
    params = rng.standard_normal((900, 65)).astype(np.float32)
    assert_same_bits(lambda p, i: ops.gather_v2(p, i, 0), params, rng.integers(0, 900, 5000))
