"""Softmax and LogSoftmax: values, types, axes, gradients, extremes, bad input, bits."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, of_unknown_shape


def softmax(x, axis=-1):
    exps = np.exp(x - x.max(axis, keepdims=True))
    return exps / exps.sum(axis, keepdims=True)


SHAPES = [(1,), (15,), (16,), (17,), (2, 3), (5, 0), (0, 4), (3, 1), (2, 3, 33), (7, 1000), (2, 9000)]


@pytest.mark.parametrize("shape", SHAPES)
def test_values_match_numpy(shape, rng):
    x = rng.normal(0, 3, shape).astype(np.float32)
    result, log_result = evaluate(lambda x: (ops.softmax(x), ops.log_softmax(x)), x)
    assert result.shape == log_result.shape == shape
    assert result.dtype == log_result.dtype == np.float32
    if x.size:
        expected = softmax(x.astype(np.float64))
        np.testing.assert_allclose(result, expected, rtol=3e-6)
        np.testing.assert_allclose(log_result, np.log(expected), rtol=3e-6, atol=2e-6)
        np.testing.assert_allclose(result.sum(-1), 1, rtol=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-14), ("float16", 1e-3), ("bfloat16", 1e-2)])
def test_every_type(dtype, tolerance, rng):
    import ml_dtypes

    dtype = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    x = rng.normal(0, 2, (4, 37)).astype(dtype)
    result, log_result = evaluate(lambda x: (ops.softmax(x), ops.log_softmax(x)), x)
    expected = softmax(x.astype(np.float64))
    assert result.dtype == log_result.dtype == dtype
    np.testing.assert_allclose(result.astype(np.float64), expected, rtol=tolerance, atol=1e-7)
    np.testing.assert_allclose(log_result.astype(np.float64), np.log(expected), rtol=tolerance, atol=1e-7)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_along_any_axis(axis, rng):
    x = rng.normal(0, 1, (3, 4, 5)).astype(np.float32)
    np.testing.assert_allclose(evaluate(lambda x: ops.softmax(x, axis), x), softmax(x, axis), rtol=1e-5)
    np.testing.assert_allclose(
        evaluate(lambda x: ops.log_softmax(x, axis), x), np.log(softmax(x, axis)), rtol=1e-5, atol=1e-6
    )


def test_large_scores_do_not_overflow():
    x = np.array([[1e4, 1e4, -1e4], [-3e38, 3e38, 0], [-np.inf, 0, 0]], np.float32)
    result, log_result = evaluate(lambda x: (ops.softmax(x), ops.log_softmax(x)), x)
    np.testing.assert_array_equal(result, [[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5]])
    assert np.all(log_result[0, :2] == np.float32(np.log(0.5)))
    assert np.all(log_result <= 0)


@pytest.mark.parametrize("row", [[np.nan, 1, 2], [np.inf, 1, 2], [-np.inf] * 3])
def test_rows_without_an_answer_are_nan_and_leave_others_alone(row):
    x = np.array([row, [0, 0, 0]], np.float32)
    result = evaluate(ops.softmax, x)
    assert np.isnan(result[0]).any()
    np.testing.assert_allclose(result[1], 1 / 3, rtol=1e-6)


@pytest.mark.parametrize("axis", [-1, 0])
def test_gradients(axis, rng):
    x = rng.normal(0, 1, (3, 4)).astype(np.float32)
    check_gradient(lambda x: ops.softmax(x, axis), x)
    check_gradient(lambda x: ops.log_softmax(x, axis), x)


def test_an_axis_that_is_not_there_is_named():
    x = ops.constant([[1.0, 2.0]])
    for function in (ops.softmax, ops.log_softmax):
        with pytest.raises(errors.InvalidArgumentError, match=r"Dimension \(2\) must be in the range \[-2, 2\)"):
            function(x, axis=2)


def test_scalars_are_refused():
    with pytest.raises(ValueError, match="Shape must be at least rank 1 but is rank 0"):
        ops.softmax(ops.constant(1.0))


def test_a_scalar_of_unknown_shape_is_refused_when_run():
    def build(x):
        return ops.softmax(of_unknown_shape(x))

    with pytest.raises(errors.InvalidArgumentError, match="logits must have >= 1 dimension"):
        evaluate(build, np.float32(1.0).reshape(()))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_same_bits(dtype, rng):
    x = rng.normal(0, 3, (300, 129)).astype(dtype)
    assert_same_bits(lambda x: (ops.softmax(x), ops.log_softmax(x)), x)
