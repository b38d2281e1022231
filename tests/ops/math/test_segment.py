"""Segment reductions, sorted, unsorted and of picked rows: values, types, gradients, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate

REDUCERS = {"sum": np.sum, "prod": np.prod, "min": np.min, "max": np.max}
DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16"]
SORTED = np.array([0, 0, 1, 4, 4, 4], np.int32)
UNSORTED = np.array([2, 0, 2, -1, 1, 2], np.int32)


def small(rng, shape, dtype):
    return rng.integers(1, 4, shape).astype(dtype)


@pytest.mark.parametrize("ids_dtype", ["int32", "int64"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCERS)
def test_sorted_segments(name, dtype, ids_dtype, rng):
    data = small(rng, (6, 3), dtype)
    result = evaluate(getattr(ops, "segment_" + name), data, SORTED.astype(ids_dtype))
    empty = 1 if name == "prod" else 0
    expected = [REDUCERS[name](data[s == SORTED], axis=0) if np.any(s == SORTED) else [empty] * 3 for s in range(5)]
    np.testing.assert_array_equal(result, np.array(expected).astype(dtype))
    assert result.dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
def test_means_of_integers_are_cut(dtype):
    data = np.array([1, 2, 5, 7, 7, 8], dtype)
    result = evaluate(ops.segment_mean, data, SORTED)
    expected = np.array([1.5, 5, 0, 0, 22 / 3])
    np.testing.assert_allclose(result, expected.astype(dtype), rtol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCERS)
def test_unsorted_segments(name, dtype, rng):
    data = small(rng, (6, 3), dtype)
    result = evaluate(lambda d, i: getattr(ops, "unsorted_segment_" + name)(d, i, 4), data, UNSORTED)
    for s in range(3):
        np.testing.assert_array_equal(result[s], REDUCERS[name](data[s == UNSORTED], axis=0).astype(dtype))
    limits = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    assert np.all(result[3] == {"sum": 0, "prod": 1, "min": limits.max, "max": limits.min}[name])


def test_ids_may_have_any_shape_that_data_begins_with(rng):
    data = rng.standard_normal((2, 3, 4)).astype(np.float32)
    ids = np.array([[0, 1, 1], [2, 0, -5]], np.int64)
    result = evaluate(lambda d, i: ops.unsorted_segment_sum(d, i, 3), data, ids)
    np.testing.assert_allclose(result, [data[ids == s].sum(0) for s in range(3)], rtol=1e-6)


def test_means_of_unsorted_segments(rng):
    data = rng.standard_normal((6, 2)).astype(np.float32)
    mean = evaluate(lambda d, i: ops.unsorted_segment_mean(d, i, 4), data, UNSORTED)
    root = evaluate(lambda d, i: ops.unsorted_segment_sqrt_n(d, i, 4), data, UNSORTED)
    np.testing.assert_allclose(mean[2], data[UNSORTED == 2].mean(0), rtol=1e-6)
    np.testing.assert_allclose(root[2], data[UNSORTED == 2].sum(0) / np.sqrt(3), rtol=1e-6)
    np.testing.assert_array_equal([mean[3], root[3]], 0)


def test_no_rows_and_no_segments():
    empty = np.zeros((0, 3), np.float32)
    assert evaluate(ops.segment_sum, empty, np.zeros(0, np.int32)).shape == (0, 3)
    np.testing.assert_array_equal(
        evaluate(lambda d, i: ops.unsorted_segment_sum(d, i, 2), empty, np.zeros(0, np.int32)), np.zeros((2, 3))
    )
    dropped = evaluate(lambda d, i: ops.unsorted_segment_sum(d, i, 0), np.ones((2, 3)), np.array([-1, -2], np.int32))
    assert dropped.shape == (0, 3)


@pytest.mark.parametrize("name", ["sum", "mean", "min", "max"])
def test_gradients_of_sorted_segments(name, rng):
    check_gradient(lambda x: getattr(ops, "segment_" + name)(x, SORTED), rng.permutation(18).reshape(6, 3) / 2)


@pytest.mark.parametrize("name", ["sum", "mean", "sqrt_n", "min", "max", "prod"])
def test_gradients_of_unsorted_segments(name, rng):
    data = rng.permutation(12).astype(np.float64).reshape(6, 2) / 4 + 0.5
    check_gradient(lambda x: getattr(ops, "unsorted_segment_" + name)(x, UNSORTED, 3), data)


def test_gradient_of_a_product_with_zeros():
    data = np.array([0.0, 2.0, 3.0, 0.0, 0.0, 5.0])
    check_gradient(lambda x: ops.unsorted_segment_prod(x, [0, 0, 0, 1, 1, 1], 2), data)


def test_bad_ids_are_named(rng):
    data = np.ones((3, 2), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match="segment ids are not increasing"):
        evaluate(ops.segment_sum, data, np.array([0, 2, 1], np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="segment ids must be >= 0"):
        evaluate(ops.segment_max, data, np.array([0, 0, -2], np.int32))
    unsorted = r"Segment id -1 out of range \[0, 2\), possibly because 'segment_ids' input is not sorted"
    with pytest.raises(errors.InvalidArgumentError, match=unsorted):
        evaluate(ops.segment_max, data, np.array([-1, 0, 1], np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="same size as dimension 0"):
        evaluate(ops.segment_sum, data, np.array([0, 1], np.int32))
    with pytest.raises(errors.InvalidArgumentError, match=r"segment_ids\[1\] = 3 is out of range \[0, 3\)"):
        evaluate(lambda d, i: ops.unsorted_segment_sum(d, i, 3), data, np.array([0, 3, 1], np.int32))


# ---- Picked rows ------------------------------------------------------------------------------------------------

PICKED = np.array([3, 0, 0, 2], np.int32)
PICKED_IDS = np.array([0, 0, 2, 2], np.int32)
FACTORS = {"sum": lambda n: 1, "mean": lambda n: 1 / n, "sqrt_n": lambda n: 1 / np.sqrt(n)}


@pytest.mark.parametrize("num_segments", [None, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FACTORS)
def test_picked_rows(name, dtype, num_segments, rng):
    data = rng.standard_normal((4, 3)).astype(dtype)
    function = getattr(ops, "sparse_segment_" + name)
    result = evaluate(lambda d, i, s: function(d, i, s, num_segments=num_segments), data, PICKED, PICKED_IDS)
    expected = np.zeros((num_segments or 3, 3))
    for s in (0, 2):
        rows = data[PICKED[s == PICKED_IDS]]
        expected[s] = rows.sum(0) * FACTORS[name](len(rows))
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert result.dtype == dtype


@pytest.mark.parametrize("num_segments", [None, 4])
@pytest.mark.parametrize("name", FACTORS)
def test_gradients_of_picked_rows(name, num_segments, rng):
    function = getattr(ops, "sparse_segment_" + name)
    check_gradient(lambda x: function(x, PICKED, PICKED_IDS, num_segments=num_segments), rng.standard_normal((4, 3)))


def test_bad_picks_are_named():
    data = np.ones((4, 2), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match=r"Bad: indices\[1\] == 4 out of range \[0, 4\)"):
        evaluate(ops.sparse_segment_sum, data, np.array([0, 4], np.int32), np.array([0, 0], np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="segment ids are not increasing"):
        evaluate(ops.sparse_segment_sum, data, np.array([0, 1, 1], np.int32), np.array([1, 0, 1], np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="segment ids must be < num_segments"):
        evaluate(
            lambda d, i, s: ops.sparse_segment_sum(d, i, s, num_segments=2),
            data, np.array([0], np.int32), np.array([3], np.int32),
        )  # fmt: skip


def test_bad_picks_of_gradients_are_named():
    grad, ids = np.ones((2, 2), np.float32), np.array([0, 1], np.int32)

    def spread(grad, indices, segment_ids):
        return tf.raw_ops.SparseSegmentMeanGrad(grad=grad, indices=indices, segment_ids=segment_ids, output_dim0=3)

    with pytest.raises(errors.InvalidArgumentError, match=r"Index 3 out of range \[0, 3\)"):
        evaluate(spread, grad, np.array([3, 0], np.int32), ids)
    with pytest.raises(errors.InvalidArgumentError, match="Invalid number of segments"):
        evaluate(spread, grad, ids, np.array([0, 2], np.int32))


@pytest.mark.parametrize("name", ["sum", "max"])
def test_same_bits_everywhere(name, rng):
    data = rng.standard_normal((4000, 17)).astype(np.float32)
    ids = rng.integers(0, 40, 4000).astype(np.int32)
    assert_same_bits(lambda d, i: getattr(ops, "unsorted_segment_" + name)(d, i, 40), data, ids)
    assert_same_bits(getattr(ops, "segment_" + name), data, np.sort(ids))
    assert_same_bits(lambda d, i: ops.sparse_segment_mean(d, i, np.sort(ids)), data, ids * 100)
