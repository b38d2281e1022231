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


def test_a_negative_axis_out_of_range_is_named():
    x, axis = tf.constant([[1.0]]), tf.placeholder(tf.int32)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=r"range \[-2, 2\), but got -3"):
        session.run(tf.cumsum(x, axis), {axis: -3})
