"""Morphological dilation and erosion: values, gradients, bits."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built

# (images, filters, stride, rate, padding)
GRID = [
    ((2, 5, 6, 3), (3, 2, 3), 1, 1, "VALID"),
    ((2, 5, 6, 35), (3, 3, 35), 2, 1, "SAME"),
    ((1, 7, 9, 4), (2, 3, 4), 1, 2, "SAME"),
]


@pytest.mark.parametrize(("case", "expected"), cases("dilation2d"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


def dilation(stride, rate, padding):
    return lambda x, f: tf.nn.dilation2d(x, f, [1, stride, stride, 1], [1, rate, rate, 1], padding)


def with_gradients(*arguments):
    def build(x, f):
        y = dilation(*arguments)(x, f)
        return [y, *tf.gradients(y * y, [x, f])]

    return build


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("images", "filters", "stride", "rate", "padding"), GRID)
def test_bits_are_the_same_everywhere(images, filters, stride, rate, padding, dtype, rng):
    x, f = (rng.standard_normal(shape).astype(dtype) for shape in (images, filters))
    assert_same_bits(with_gradients(stride, rate, padding), x, f)


@pytest.mark.parametrize(("images", "filters", "stride", "rate", "padding"), [GRID[0], GRID[2]])
def test_gradients_are_slopes(images, filters, stride, rate, padding, rng):
    x, f = (rng.permutation(int(np.prod(shape))).reshape(shape) / 7.0 for shape in (images, filters))
    check_gradient(dilation(stride, rate, padding), x, f + rng.uniform(0, 0.1, filters))


def test_erosion_is_the_dual_of_dilation(rng):
    x, f = rng.standard_normal((2, 5, 6, 3)), rng.standard_normal((3, 2, 3))
    ones = [1, 1, 1, 1]
    eroded = evaluate_built(lambda x, f: tf.nn.erosion2d(x, f, ones, ones, "VALID"), x, f)
    dilated = evaluate_built(lambda x, f: tf.nn.dilation2d(x, f, ones, ones, "VALID"), -x, f[::-1, ::-1])
    np.testing.assert_array_equal(eroded, -dilated)


def test_a_window_without_pixels_has_the_least_number():
    x, f = np.zeros((1, 2, 2, 1), np.float32), np.zeros((2, 2, 1), np.float32)
    y, x_grad, f_grad = evaluate_built(with_gradients(1, 9, "SAME"), x, f)
    assert np.all(y[0, 0, 0] == np.finfo(np.float32).min)
    assert np.all(np.isfinite(x_grad) | np.isinf(x_grad))
    assert f_grad.shape == f.shape
