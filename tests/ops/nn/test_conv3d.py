"""Convolutions in three dimensions: values, formats, gradients, bits."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built

# (images, filters, strides, dilations, padding)
GRID = [
    ((2, 3, 4, 5, 2), (2, 3, 2, 2, 3), (1, 1, 1), (1, 1, 1), "SAME"),
    ((1, 4, 5, 6, 3), (3, 2, 2, 3, 17), (2, 1, 3), (1, 1, 1), "VALID"),
    ((1, 5, 5, 7, 2), (2, 2, 3, 2, 2), (1, 1, 1), (2, 1, 3), "SAME"),
    ((1, 2, 2, 3, 20), (1, 1, 1, 20, 5), (1, 1, 1), (1, 1, 1), "VALID"),
]


@pytest.mark.parametrize(("case", "expected"), cases("conv3d"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


def with_gradients(strides, dilations, padding, data_format="NDHWC"):
    strides, dilations = (
        [1, 1, *values] if data_format == "NCDHW" else [1, *values, 1] for values in (strides, dilations)
    )

    def build(x, f):
        y = tf.nn.conv3d(x, f, strides, padding, dilations=dilations, data_format=data_format)
        return [y, *tf.gradients(y * y, [x, f])]

    return build


def operands(rng, images, filters):
    return [rng.standard_normal(shape).astype(np.float32) for shape in (images, filters)]


@pytest.mark.parametrize(("images", "filters", "strides", "dilations", "padding"), GRID)
def test_bits_are_the_same_everywhere_and_in_both_formats(images, filters, strides, dilations, padding, rng):
    x, f = operands(rng, images, filters)
    assert_same_bits(with_gradients(strides, dilations, padding), x, f)
    last = evaluate_built(with_gradients(strides, dilations, padding), x, f)
    first = evaluate_built(with_gradients(strides, dilations, padding, "NCDHW"), np.moveaxis(x, -1, 1).copy(), f)
    np.testing.assert_array_equal(np.moveaxis(first[0], 1, -1), last[0])
    np.testing.assert_array_equal(np.moveaxis(first[1], 1, -1), last[1])
    np.testing.assert_array_equal(first[2], last[2])


def test_one_plane_is_conv2d(rng):
    x, f = operands(rng, (2, 6, 7, 3), (3, 2, 3, 5))
    flat = evaluate_built(lambda x, f: [y := tf.nn.conv2d(x, f, 1, "SAME"), *tf.gradients(y * y, [x, f])], x, f)
    deep = evaluate_built(with_gradients((1, 1, 1), (1, 1, 1), "SAME"), x[:, None], f[None])
    np.testing.assert_array_equal(deep[0][:, 0], flat[0])
    np.testing.assert_array_equal(deep[1][:, 0], flat[1])
    np.testing.assert_array_equal(deep[2][0], flat[2])


@pytest.mark.parametrize(("images", "filters", "strides", "dilations", "padding"), GRID[:3])
def test_gradients_are_slopes(images, filters, strides, dilations, padding, rng):
    x, f = operands(rng, images, filters)
    build = with_gradients(strides, dilations, padding)
    check_gradient(lambda x, f: build(x, f)[0], x, f)
    g = evaluate_built(build, x, f)[0]

    def first(i):
        return lambda x, f, g: tf.gradients(build(x, f)[0], [x, f], g)[i]

    check_gradient(first(0), x, f, g, wrt=[1, 2])
    check_gradient(first(1), x, f, g, wrt=[0, 2])
