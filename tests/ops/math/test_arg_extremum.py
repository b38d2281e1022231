"""argmax and argmin: values, ties, NaN, sizes, bad input."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits
from stillflow.testing import evaluate as evaluate_built


@pytest.mark.parametrize(("case", "expected"), cases("arg_extremum"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize("size", [1, 15, 63, 64, 65, 1000, 40000])
def test_the_first_of_equals_is_found_at_any_size(size, dtype, rng):
    x = rng.integers(0, 5, (size, 3)).astype(dtype)
    for name, numpy in (("argmax", np.argmax), ("argmin", np.argmin)):
        np.testing.assert_array_equal(evaluate_built(lambda t, n=name: getattr(ops, n)(t, 0), x), numpy(x, 0))
        rows = x.T.copy()
        np.testing.assert_array_equal(evaluate_built(lambda t, n=name: getattr(ops, n)(t, 1), rows), numpy(rows, 1))


@pytest.mark.parametrize("shape", [(70, 300), (3, 4, 5), (2, 513, 2), (1, 1)])
def test_axes_of_any_shape(shape, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    for axis in range(-len(shape), len(shape)):
        result = evaluate_built(lambda t, axis=axis: ops.argmax(t, axis), x)
        np.testing.assert_array_equal(result, np.argmax(x, axis))


@pytest.mark.parametrize("size", [3, 200])
def test_nan_counts_only_where_there_is_nothing_else(size):
    x = np.full(size, np.nan, np.float32)
    assert evaluate_built(ops.argmax, x) == 0
    x[size - 1] = -np.inf
    assert evaluate_built(ops.argmax, x) == size - 1 == evaluate_built(ops.argmin, x)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "bfloat16", "float16", "int64", "int16", "int8", "uint64", "uint8"]
)
def test_rows_of_every_length_around_registers_and_blocks(dtype, rng):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    for size in [*range(1, 20), *range(30, 35), *range(62, 67), 127, 129, 1023, 1024, 1025, 1040, 2049, 3000]:
        rows = rng.integers(0, 100, (3, size)).astype(numpy_type)
        np.testing.assert_array_equal(evaluate_built(lambda t: ops.argmax(t, 1), rows), np.argmax(rows, 1))
        np.testing.assert_array_equal(evaluate_built(lambda t: ops.argmin(t, 1), rows), np.argmin(rows, 1))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("size", [10, 16, 33, 1024, 1025, 2500])
def test_rows_with_nan_infinities_and_zeros_of_both_signs(dtype, size):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    last = size - 1
    rows = np.full((6, size), np.nan)
    rows[1, last], rows[2, last] = -np.inf, np.inf
    rows[3], rows[3, last] = -np.inf, np.nan
    rows[4], rows[4, 1] = 0, -0.0
    rows[5], rows[5, :3], rows[5, last] = 1, (np.nan, 1, 2), 2
    rows = rows.astype(numpy_type)
    for name, expected in (("argmax", [0, last, last, 0, 0, 2]), ("argmin", [0, last, last, 0, 0, 1])):
        assert_same_bits(lambda t, n=name: getattr(ops, n)(t, 1), rows)
        np.testing.assert_array_equal(evaluate_built(lambda t, n=name: getattr(ops, n)(t, 1), rows), expected)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32", "uint64"])
def test_rows_of_nothing_but_the_smallest_and_largest_integers(dtype):
    limits = np.iinfo(dtype)
    rows = np.array([[limits.min] * 200, [limits.max] * 200, [limits.min] * 199 + [limits.max]], dtype)
    np.testing.assert_array_equal(evaluate_built(lambda t: ops.argmax(t, 1), rows), [0, 0, 199])
    np.testing.assert_array_equal(evaluate_built(lambda t: ops.argmin(t, 1), rows), [0, 0, 0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int8", "uint64"])
@pytest.mark.parametrize("rows", [127, 128, 129, 1000, 5000])
def test_few_and_long_columns(rows, dtype, rng):
    """Of which the best elements stand several times, or which have nothing but NaN."""
    for columns in (2, 3, 5, 8, 9, 10, 16, 17, 31, 32, 33):
        x = rng.integers(0, 50, (2, rows, columns)).astype(dtype)
        np.testing.assert_array_equal(evaluate_built(lambda t: ops.argmax(t, 1), x), x.argmax(1))
        np.testing.assert_array_equal(evaluate_built(lambda t: ops.argmin(t, 1), x), x.argmin(1))
        if x.dtype.kind == "f":
            x[0, :, 1] = np.nan
            x[1, : rows // 2] = np.nan
            expected = np.concatenate([x[:1].argmax(1), np.nanargmax(x[1:], 1)])
            expected[0, 1] = 0
            np.testing.assert_array_equal(evaluate_built(lambda t: ops.argmax(t, 1), x), expected)
        assert_same_bits(lambda t: ops.argmin(t, 1), x)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int64", "int16", "uint8"])
def test_many_short_rows_and_tall_columns(dtype, rng):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    shapes = [(300, size) for size in (1, 2, 3, 10, 16, 33, 63, 64, 65, 130)]
    for shape in [*shapes, (254, 40), (255, 40), (256, 40), (257, 40), (700, 300)]:
        x = rng.integers(0, 120, shape).astype(numpy_type)
        for axis in (0, 1):
            for name, numpy in (("argmax", np.argmax), ("argmin", np.argmin)):
                result = evaluate_built(lambda t, n=name, axis=axis: getattr(ops, n)(t, axis), x)
                np.testing.assert_array_equal(result, numpy(x, axis))
    if np.issubdtype(numpy_type, np.floating):
        x[:400, 7] = np.nan
        result = evaluate_built(lambda t: ops.argmax(t, 0, output_type=tf.int32), x)
        np.testing.assert_array_equal(result, np.nanargmax(x, 0).astype(np.int32))


def test_same_bits_everywhere(rng):
    x = rng.integers(0, 1000, (40, 50, 60)).astype(np.float32)
    for axis in range(3):
        assert_same_bits(lambda t, axis=axis: ops.argmax(t, axis), x)
    for dtype in ("float16", "float64", "int8", "int64", "uint16"):
        assert_same_bits(lambda t: ops.argmin(t, 1), (x[:, 0] - 500).repeat(20, 1).astype(dtype))


def test_there_is_no_gradient():
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.cast(tf.argmax(x, 0), tf.float32), x) == [None]
