"""Local response normalization: values, gradients, bits."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow.testing import assert_same_bits
from stillflow.testing import evaluate as evaluate_built

# (images, radius, bias, alpha, beta)
GRID = [((2, 3, 5, 7), 2, 1.0, 0.5, 0.75), ((1, 2, 3, 70), 5, 2.0, 1e-2, 0.5), ((1, 2, 2, 3), 9, 0.5, 1.0, 1.0)]


@pytest.mark.parametrize(("case", "expected"), cases("lrn"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    tolerance = {}
    if not isinstance(expected, str):
        tolerance = {"rtol": 5e-2, "atol": 5e-3} if expected.dtype == np.float16 else {"rtol": 2e-5, "atol": 2e-6}
    assert_same(evaluate(case), expected, **tolerance)


def with_gradient(radius, bias, alpha, beta):
    def build(x, g):
        y = tf.nn.lrn(x, radius, bias, alpha, beta)
        return [y, *tf.gradients(y, x, g)]

    return build


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("images", "radius", "bias", "alpha", "beta"), GRID)
def test_bits_are_the_same_everywhere(images, radius, bias, alpha, beta, dtype, rng):
    x, g = (rng.standard_normal(images).astype(dtype) for _ in range(2))
    assert_same_bits(with_gradient(radius, bias, alpha, beta), x, g)


@pytest.mark.parametrize(("images", "radius", "bias", "alpha", "beta"), GRID)
def test_values_and_gradients_are_those_of_the_formula(images, radius, bias, alpha, beta, rng):
    x, g = (rng.standard_normal(images).astype(np.float32) for _ in range(2))

    def formula(x, g):
        channels = images[-1]
        band = np.abs(np.subtract.outer(np.arange(channels), np.arange(channels))) <= radius
        sums = tf.tensordot(x * x, tf.constant(band.astype(np.float64)), 1)
        y = x * tf.pow(bias + alpha * sums, -beta)
        return [y, *tf.gradients(y, x, g)]

    expected = evaluate_built(formula, x.astype(np.float64), g.astype(np.float64))
    for actual, exact in zip(evaluate_built(with_gradient(radius, bias, alpha, beta), x, g), expected, strict=True):
        np.testing.assert_allclose(actual, exact, rtol=2e-6, atol=2e-6)
