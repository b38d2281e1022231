"""Convolutions of each channel by itself: values, the order of arithmetic, formats, gradients, bits."""

import numpy as np
import pytest
from fused_arithmetic import fused
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built

# (images, filters, stride, padding)
GRID = [
    ((2, 6, 7, 3), (3, 3, 3, 1), 1, "SAME"),
    ((2, 6, 7, 35), (3, 2, 35, 1), 2, "VALID"),
    ((1, 9, 8, 16), (5, 5, 16, 3), 2, "SAME"),
    ((1, 9, 20, 64), (3, 3, 64, 1), 1, "SAME"),
    ((3, 2, 3, 2), (4, 5, 2, 2), 1, "SAME"),
]


@pytest.mark.parametrize(("case", "expected"), cases("depthwise_conv2d"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


def with_gradients(stride, padding, data_format="NHWC"):
    strides = [1, 1, stride, stride] if data_format == "NCHW" else [1, stride, stride, 1]

    def build(x, f):
        y = tf.nn.depthwise_conv2d(x, f, strides, padding, data_format=data_format)
        return [y, *tf.gradients(y * y, [x, f])]

    return build


def operands(rng, images, filters, dtype=np.float32):
    return [rng.standard_normal(shape).astype(dtype) for shape in (images, filters)]


@pytest.mark.parametrize(("images", "filters", "stride", "padding"), GRID)
def test_bits_are_the_same_everywhere(images, filters, stride, padding, rng):
    assert_same_bits(with_gradients(stride, padding), *operands(rng, images, filters))


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_bits_of_other_types(dtype, rng):
    assert_same_bits(with_gradients(1, "SAME"), *operands(rng, *GRID[0][:2], dtype))


@pytest.mark.parametrize(("images", "filters", "stride", "padding"), GRID)
def test_formats_have_the_same_bits(images, filters, stride, padding, rng):
    x, f = operands(rng, images, filters)
    last = evaluate_built(with_gradients(stride, padding), x, f)
    first = evaluate_built(with_gradients(stride, padding, "NCHW"), x.transpose(0, 3, 1, 2).copy(), f)
    np.testing.assert_array_equal(first[0].transpose(0, 2, 3, 1), last[0])
    np.testing.assert_array_equal(first[1].transpose(0, 2, 3, 1), last[1])
    np.testing.assert_array_equal(first[2], last[2])


@pytest.mark.parametrize(("images", "filters", "stride", "padding"), GRID)
def test_sums_are_in_the_order_that_is_promised(images, filters, stride, padding, rng):
    """Those of a convolution of one channel; of the gradient of the image, with other outputs of its channel."""
    x, f = operands(rng, images, filters)
    multiplier = filters[3]

    def build(x, f):
        parts = [tf.nn.conv2d(x[..., c : c + 1], f[:, :, c : c + 1], stride, padding) for c in range(images[3])]
        return [tf.concat(parts, 3), *tf.gradients(tf.concat(parts, 3) ** 2, f)]

    y, _, f_grad = evaluate_built(with_gradients(stride, padding), x, f)
    expected_y, expected_grad = evaluate_built(build, x, f)
    np.testing.assert_array_equal(y, expected_y)
    if multiplier == 1:
        np.testing.assert_allclose(f_grad, expected_grad, rtol=1e-4, atol=1e-4)


def test_one_place_is_a_chain_of_fused_multiply_adds(rng):
    x, f = operands(rng, (1, 3, 3, 20), (3, 3, 20, 1))
    total = np.zeros(20, np.float32)
    for ky in range(3):
        for kx in range(3):
            total = fused(x[0, ky, kx], f[ky, kx, :, 0], total)
    y = evaluate_built(with_gradients(1, "VALID"), x, f)[0]
    np.testing.assert_array_equal(y[0, 0, 0], total)


@pytest.mark.parametrize(("images", "filters", "stride", "padding"), [GRID[0], GRID[4]])
def test_gradients_are_slopes(images, filters, stride, padding, rng):
    x, f = operands(rng, images, filters)
    check_gradient(lambda x, f: with_gradients(stride, padding)(x, f)[0], x, f)
    g = evaluate_built(with_gradients(stride, padding), x, f)[0]

    def first(i):
        def build(x, f, g):
            y = with_gradients(stride, padding)(x, f)[0]
            return tf.gradients(y, [x, f], g)[i]

        return build

    check_gradient(first(0), x, f, g, wrt=[1, 2])
    check_gradient(first(1), x, f, g, wrt=[0, 2])
