"""Unique and its kin, ListDiff: values, types, order, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import errors, ops
from stillflow.autodiff.reverse import gradients
from stillflow.testing import assert_same_bits, evaluate, of_unknown_shape

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "uint16", "bool"]


def in_order(x):
    """numpy's unique elements, as they come first."""
    values, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    return values[order], np.argsort(order)[inverse], counts[order]


@pytest.mark.parametrize("out_idx", ["int32", "int64"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [0, 1, 7, 1000])
def test_elements_places_and_counts(count, dtype, out_idx, rng):
    x = rng.integers(0, 2 if dtype == "bool" else 100, count).astype(dtype)
    results = evaluate(lambda x: list(ops.unique_with_counts(x, out_idx=out_idx)), x)
    for result, expected in zip(results, in_order(x), strict=True):
        np.testing.assert_array_equal(result, expected)
    assert [result.dtype for result in results] == [dtype, out_idx, out_idx]


def test_numbers_that_differ_in_high_bits_only_are_told_apart():
    x = np.arange(5000, dtype=np.int64) << 40
    assert len(evaluate(ops.unique, x)[0]) == 5000


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8"])
@pytest.mark.parametrize("spread", [1, 3, 1000, 10**6])
def test_numbers_near_each_other_and_far_apart(dtype, spread, rng):
    limits = np.iinfo(dtype)
    x = rng.integers(0, 3000, 5000) * spread
    for first in (limits.min, 0, limits.max - int(x.max())):
        with np.errstate(over="ignore"):
            numbers = (x + first).astype(dtype)
        for result, expected in zip(evaluate(ops.unique_with_counts, numbers), in_order(numbers), strict=True):
            np.testing.assert_array_equal(result, expected)
    ends = np.array([limits.max, limits.min, limits.max, 0], dtype)
    np.testing.assert_array_equal(evaluate(ops.unique, ends)[1], in_order(ends)[1])


def test_both_zeros_are_one_and_every_nan_is_its_own():
    y, idx = evaluate(ops.unique, np.array([0.0, -0.0, np.nan, np.nan, 1.0], np.float32))
    np.testing.assert_array_equal(y, [0, np.nan, np.nan, 1])
    np.testing.assert_array_equal(idx, [0, 0, 1, 2, 3])


def test_strings():
    x = np.array([b"b", b"", b"a", b"b", b""], object)
    y, idx = evaluate(lambda _: list(ops.unique(ops.constant(x))), np.zeros(()))
    assert (y.tolist(), idx.tolist()) == ([b"b", b"", b"a"], [0, 1, 2, 0, 1])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_slices_along_an_axis(axis, rng):
    x = rng.integers(0, 2, (4, 3, 2)).astype(np.float32)
    x[..., 1] = x[..., 0]
    y, idx, count = evaluate(lambda x: list(ops.unique_with_counts_v2(x, axis=[axis])), x)
    np.testing.assert_array_equal(np.take(y, idx, axis), x)
    assert len(np.unique(y, axis=axis).shape) == 3
    assert y.shape[axis] == np.unique(x, axis=axis).shape[axis] == len(count)
    assert count.sum() == x.shape[axis]


def test_only_vectors_have_unique_elements():
    with pytest.raises(errors.InvalidArgumentError, match="unique expects a 1D vector"):
        evaluate(ops.unique_with_counts, np.zeros((2, 2), np.float32))
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
        ops.unique([[1, 2]])
    with pytest.raises(errors.InvalidArgumentError, match="unique expects a 1D vector"):
        evaluate(lambda x: ops.unique(of_unknown_shape(x)), np.zeros((2, 2), np.float32))
    with pytest.raises(errors.InvalidArgumentError, match=r"axis has to be between \[0, 2\)"):
        evaluate(lambda x: ops.unique_v2(x, axis=[2])[0], np.zeros((2, 2), np.float32))


def test_there_is_no_gradient_to_ask_for():
    x = ops.constant([1.0, 1.0])
    with pytest.raises(LookupError, match="No gradient defined for operation 'Unique"):
        gradients(ops.unique(x)[0], x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_difference_of_sets(dtype, rng):
    high = 2 if dtype == "bool" else 50
    x, y = rng.integers(0, high, 60).astype(dtype), rng.integers(0, high // 2, 30).astype(dtype)
    out, idx = evaluate(lambda x, y: list(ops.setdiff1d(x, y)), x, y)
    np.testing.assert_array_equal(idx, np.flatnonzero(~np.isin(x, y)))
    np.testing.assert_array_equal(out, x[idx])


def test_difference_wants_vectors():
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
        ops.setdiff1d([[1]], [1])


def test_same_bits_everywhere(rng):
    x = rng.integers(0, 900, 5000).astype(np.int64)
    assert_same_bits(lambda x: list(ops.unique_with_counts(x)), x)


def test_what_is_known_to_be_no_vector_is_refused_when_the_node_is_made():
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2 for 'Unique' "):
            tf.unique([[1, 2]])
        assert tf.unique_with_counts([[1, 2]])[1].shape.as_list() == [1, 2]
        assert tf.unique(tf.placeholder(tf.int32))[1].shape.rank is None
