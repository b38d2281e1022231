"""cumsum and cumprod: values, types, gradients, bad input."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built

OPTIONS = [(exclusive, reverse) for exclusive in (False, True) for reverse in (False, True)]


@pytest.mark.parametrize(("case", "expected"), cases("cumulative"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


@pytest.mark.parametrize("shape", [(1,), (511,), (512,), (3, 513), (513, 3), (2, 3, 1025), (40000,), (0,), (2, 0)])
@pytest.mark.parametrize(("name", "numpy"), [("cumsum", np.cumsum), ("cumprod", np.cumprod)])
def test_any_shape_and_axis(name, numpy, shape, rng):
    x = rng.uniform(0.99, 1.01, shape)
    for axis in range(-len(shape), len(shape)):
        result = evaluate_built(lambda t, axis=axis: getattr(ops, name)(t, axis), x)
        np.testing.assert_allclose(result, numpy(x, axis), rtol=1e-12)


def in_order(name, x, exclusive, reverse):
    """Combines the rows' elements one after the other, rounding every time."""
    result = np.empty_like(x)
    running = np.full(x.shape[0], name == "cumprod", x.dtype)
    for i in range(x.shape[1])[:: -1 if reverse else 1]:
        following = running * x[:, i] if name == "cumprod" else running + x[:, i]
        result[:, i] = running if exclusive else following
        running = following
    return result


@pytest.mark.parametrize(("exclusive", "reverse"), OPTIONS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int8"])
def test_every_row_is_combined_in_its_order(dtype, name, exclusive, reverse, rng):
    for shape in [(1, 1), (3, 2), (4, 1), (5, 3), (7, 10), (8, 64), (9, 33), (4097, 4), (5, 33000), (0, 3), (3, 0)]:
        x = rng.choice([-9, 1, 7], shape).astype(dtype)
        if dtype[0] == "f":
            x = (rng.uniform(0.9, 1.1, shape) * np.sign(x)).astype(dtype)
        expected = in_order(name, x, exclusive, reverse)
        assert_same(evaluate_built(lambda t: getattr(ops, name)(t, 1, exclusive, reverse), x), expected)


@pytest.mark.parametrize(("exclusive", "reverse"), OPTIONS)
def test_nan_and_infinity_stay_in_their_row(exclusive, reverse):
    x = np.ones((6, 5), np.float32)
    x[1, 2], x[4, 1], x[4, 3] = np.nan, np.inf, -np.inf
    result = evaluate_built(lambda t: ops.cumsum(t, 1, exclusive, reverse), x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(result, in_order("cumsum", x, exclusive, reverse))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_rows_of_halves_of_every_kind_have_the_same_bits_everywhere(dtype, rng):
    x = np.arange(1 << 16, dtype=np.uint16).view(tf.as_dtype(dtype).as_numpy_dtype)
    values = x.astype(np.float32)
    # Which of two NaNs a sum of them is, is not defined.
    numbers, finite = rng.choice(x[~np.isnan(values)], x.shape), rng.choice(x[np.isfinite(values)], x.shape)
    x = np.stack([x, numbers, finite], 1)
    for name in ("cumsum", "cumprod"):
        assert_same_bits(lambda t, n=name: getattr(ops, n)(t, 1), x)
        assert_same_bits(lambda t, n=name: getattr(ops, n)(t, 1, True), x)


@pytest.mark.parametrize("inner", [2, 3, 7, 8, 9])
def test_few_columns_are_combined_in_their_order(inner, rng):
    for outer, size in [(1, 1), (3, 5), (1000, 3), (2, 9000)]:
        x = rng.standard_normal((outer, size, inner)).astype(np.float32)
        columns = x.swapaxes(1, 2).reshape(-1, size)
        expected = in_order("cumsum", columns, False, False).reshape(outer, inner, size).swapaxes(1, 2)
        assert_same(evaluate_built(lambda t: ops.cumsum(t, 1), x), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_accumulated_as_floats(dtype):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    result = evaluate_built(ops.cumsum, np.ones(3000, numpy_type))
    assert_same(result, np.arange(1, 3001).astype(numpy_type))


@pytest.mark.parametrize(("exclusive", "reverse"), OPTIONS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_gradient_matches_differences(name, exclusive, reverse, rng):
    x = rng.uniform(0.5, 1.5, (3, 4))
    for axis in (0, 1):
        check_gradient(lambda t, axis=axis: getattr(ops, name)(t, axis, exclusive, reverse), x)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_same_bits_everywhere(name, rng):
    x = rng.uniform(0.99, 1.01, (60, 700)).astype(np.float32)
    for axis in (0, 1):
        assert_same_bits(lambda t, axis=axis: getattr(ops, name)(t, axis), x)
    for dtype in ("float64", "float16", "int64"):
        rows = (x.T * 3).astype(dtype)
        assert_same_bits(lambda t: getattr(ops, name)(t, 1, True, True), rows)


def test_a_negative_axis_out_of_range_is_named():
    x, axis = tf.constant([[1.0]]), tf.placeholder(tf.int32)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"range \[-2, 2\), but got -3"):
        session.run(tf.cumsum(x, axis), {axis: -3})
