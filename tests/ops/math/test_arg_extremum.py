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


def test_same_bits_everywhere(rng):
    x = rng.integers(0, 1000, (40, 50, 60)).astype(np.float32)
    for axis in range(3):
        assert_same_bits(lambda t, axis=axis: ops.argmax(t, axis), x)


def test_there_is_no_gradient():
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.cast(tf.argmax(x, 0), tf.float32), x) == [None]
