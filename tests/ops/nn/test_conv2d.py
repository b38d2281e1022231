"""Convolutions of images: values, the order of arithmetic, formats, groups, gradients, bad input, bits."""

import numpy as np
import pytest
from fused_arithmetic import fused
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import errors
from stillflow.testing import ISAS, assert_same_bits, check_gradient, new_session, of_unknown_shape
from stillflow.testing import evaluate as evaluate_built

# (images, filters, strides, dilations, padding)
GRID = [
    ((2, 7, 6, 3), (3, 3, 3, 5), 1, 1, "SAME"),
    ((2, 7, 6, 17), (1, 1, 17, 20), 1, 1, "VALID"),
    ((2, 7, 6, 5), (1, 1, 5, 4), 2, 1, "SAME"),
    ((1, 9, 11, 4), (3, 2, 4, 33), (2, 3), 1, "SAME"),
    ((1, 9, 11, 4), (3, 3, 4, 3), 1, (2, 3), "SAME"),
    ((1, 9, 11, 4), (3, 3, 4, 1), 2, 3, "SAME"),
    ((1, 9, 11, 4), (3, 3, 4, 1), 2, 2, [[0, 0], [2, 3], [0, 4], [0, 0]]),
    ((3, 5, 5, 16), (5, 5, 16, 18), 1, 1, "VALID"),
    ((4, 28, 28, 1), (5, 5, 1, 32), 1, 1, "SAME"),
    ((1, 3, 4, 2), (5, 5, 2, 3), 1, 1, "SAME"),
    # one place along an axis: filters as wide as a text's embeddings, as high as the image, larger, with gaps
    ((2, 9, 12, 1), (3, 12, 1, 4), 1, 1, "VALID"),
    ((2, 6, 7, 2), (6, 3, 2, 3), 1, 1, "VALID"),
    ((2, 1, 1, 3), (3, 3, 3, 4), 1, 1, "SAME"),
    ((2, 7, 7, 2), (4, 3, 2, 3), (2, 5), (2, 3), "VALID"),
]


def with_gradients(strides, dilations, padding, data_format="NHWC"):
    def build(x, f, g):
        y = tf.nn.conv2d(x, f, strides, padding, dilations=dilations, data_format=data_format)
        return [y, *tf.gradients(y, [x, f], g)]

    return build


def operands(rng, images, filters, strides, dilations, padding, dtype=np.float32):
    """Images, filters and a gradient of the output."""
    x, f = (rng.standard_normal(shape).astype(dtype) for shape in (images, filters))
    with tf.Graph().as_default():
        shape = tf.nn.conv2d(tf.constant(x), f, strides, padding, dilations=dilations).shape.as_list()
    return x, f, rng.standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(("case", "expected"), cases("conv2d"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


# ---- The order of arithmetic ---------------------------------------------------------------------------------


def same_padding(size, window, stride, dilation):
    missing = max((-(-size // stride) - 1) * stride + (window - 1) * dilation + 1 - size, 0)
    return missing // 2, missing - missing // 2


def padded(x, filters, strides, dilations, padding):
    if padding == "VALID":
        pairs = [(0, 0)] * 4
    elif padding == "SAME":
        sizes = [same_padding(x.shape[i + 1], filters[i], strides[i], dilations[i]) for i in (0, 1)]
        pairs = [(0, 0), *sizes, (0, 0)]
    else:
        pairs = padding
    return np.pad(x, pairs), pairs


def both(value):
    return (value, value) if isinstance(value, int) else value


def chained(total, factors):
    for a, b in factors:
        total = fused(a, b, total)
    return total


@pytest.mark.parametrize(("images", "filters", "strides", "dilations", "padding"), GRID[:8] + GRID[-4:])
def test_sums_are_in_the_order_that_is_promised(images, filters, strides, dilations, padding, rng):
    x, f, g = operands(rng, images, filters, strides, dilations, padding)
    y, x_grad, f_grad = evaluate_built(with_gradients(strides, dilations, padding), x, f, g)
    (sy, sx), (dy, dx) = both(strides), both(dilations)
    wide, pairs = padded(x, filters, (sy, sx), (dy, dx), padding)
    high_end, wide_end = (g.shape[1] - 1) * sy + 1, (g.shape[2] - 1) * sx + 1
    taps = [(ky, kx) for ky in range(filters[0]) for kx in range(filters[1])]

    def under(array, ky, kx):
        return array[:, ky * dy : ky * dy + high_end : sy, kx * dx : kx * dx + wide_end : sx]

    products = ((under(wide, *tap)[..., c : c + 1], f[(*tap, c)]) for tap in taps for c in range(filters[2]))
    np.testing.assert_array_equal(y, chained(np.zeros(g.shape, np.float32), products))

    sums = np.zeros(wide.shape, np.float32)
    for tap in taps:
        part = under(sums, *tap)
        for q in range(filters[3]):
            part[...] = fused(g[..., q : q + 1], f[tap][:, q], part)
    inside = sums[:, pairs[1][0] : pairs[1][0] + x.shape[1], pairs[2][0] : pairs[2][0] + x.shape[2]]
    np.testing.assert_array_equal(x_grad, inside)

    grads = g.reshape(-1, filters[3])
    for tap in taps:
        rows = under(wide, *tap).reshape(-1, filters[2])
        total = None
        for first in range(0, len(rows), 256):
            pairs_of_block = zip(rows[first : first + 256, :, None], grads[first : first + 256, None], strict=True)
            block = chained(np.zeros(filters[2:], np.float32), pairs_of_block)
            total = block if total is None else total + block
        np.testing.assert_array_equal(f_grad[tap], total)


@pytest.mark.parametrize(("images", "filters", "strides", "dilations", "padding"), GRID)
def test_bits_are_the_same_everywhere(images, filters, strides, dilations, padding, rng):
    x, f, g = operands(rng, images, filters, strides, dilations, padding)
    assert_same_bits(with_gradients(strides, dilations, padding), x, f, g)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize(("images", "filters", "strides", "dilations", "padding"), GRID[:1] + GRID[5:6])
def test_bits_of_other_types(images, filters, strides, dilations, padding, dtype, rng):
    x, f, g = operands(rng, images, filters, strides, dilations, padding, dtype)
    assert_same_bits(with_gradients(strides, dilations, padding), x, f, g)


@pytest.mark.parametrize("sizes", [(2, 40, 40, 64, 64), (1, 20, 20, 130, 150)])
def test_large_filters_and_many_places(sizes, rng):
    """What is computed in parts, by one way or another: products of whole numbers are exact."""
    batch, rows, columns, channels, outputs = sizes
    x = rng.integers(-3, 4, (batch, rows, columns, channels)).astype(np.float32)
    f = rng.integers(-3, 4, (3, 3, channels, outputs)).astype(np.float32)
    g = rng.integers(-3, 4, (batch, rows, columns, outputs)).astype(np.float32)
    wide = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    parts = [wide[:, ky : ky + rows, kx : kx + columns] for ky in range(3) for kx in range(3)]
    patches = np.concatenate(parts, -1).reshape(-1, 9 * channels)
    for isa_name in ISAS:
        y, _, f_grad = evaluate_built(with_gradients(1, 1, "SAME"), x, f, g, isa_name=isa_name)
        np.testing.assert_array_equal(y, (patches @ f.reshape(-1, outputs)).reshape(y.shape))
        np.testing.assert_array_equal(f_grad.reshape(-1, outputs), patches.T @ g.reshape(-1, outputs))


# ---- Formats, groups, types ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("images", "filters", "strides", "dilations", "padding"), GRID)
def test_formats_have_the_same_bits(images, filters, strides, dilations, padding, rng):
    x, f, g = operands(rng, images, filters, strides, dilations, padding)
    last = evaluate_built(with_gradients(strides, dilations, padding), x, f, g)
    if isinstance(padding, list):
        padding = [padding[i] for i in (0, 3, 1, 2)]
    x, g = (array.transpose(0, 3, 1, 2).copy() for array in (x, g))
    first = evaluate_built(with_gradients(strides, dilations, padding, "NCHW"), x, f, g)
    np.testing.assert_array_equal(first[0].transpose(0, 2, 3, 1), last[0])
    np.testing.assert_array_equal(first[1].transpose(0, 2, 3, 1), last[1])
    np.testing.assert_array_equal(first[2], last[2])


@pytest.mark.parametrize("window", [1, 3])
@pytest.mark.parametrize("strides", [1, 2])
def test_groups_are_convolutions_side_by_side(window, strides, rng):
    x = rng.standard_normal((2, 6, 5, 12)).astype(np.float32)
    f = rng.standard_normal((window, window, 4, 15)).astype(np.float32)

    def apart(x, f, g):
        parts = [
            tf.nn.conv2d(a, b, strides, "SAME") for a, b in zip(tf.split(x, 3, 3), tf.split(f, 3, 3), strict=True)
        ]
        y = tf.concat(parts, 3)
        return [y, *tf.gradients(y, [x, f], g)]

    g = rng.standard_normal((2, -(-6 // strides), -(-5 // strides), 15)).astype(np.float32)
    together = evaluate_built(with_gradients(strides, 1, "SAME"), x, f, g)
    for actual, expected in zip(together, evaluate_built(apart, x, f, g), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_half_types_are_accumulated_as_floats():
    x = np.ones((1, 1, 1, 3000), np.float16)
    f = np.ones((1, 1, 3000, 1), np.float16)
    assert evaluate_built(lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"), x, f) == np.float16(3000)


def test_what_is_outside_counts_as_zeros():
    x = np.zeros((1, 2, 2, 1), np.float32)
    f = np.full((3, 3, 1, 1), np.inf, np.float32)
    y = evaluate_built(lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"), x, f)
    assert np.all(np.isnan(y))


# ---- Gradients -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("images", "filters", "strides", "dilations", "padding"),
    [
        ((2, 4, 3, 2), (3, 2, 2, 3), 1, 1, "SAME"),
        ((1, 5, 6, 2), (2, 3, 2, 2), (2, 3), 1, "VALID"),
        ((1, 6, 5, 1), (2, 2, 1, 2), 1, (3, 2), "SAME"),
        ((1, 5, 5, 2), (3, 3, 2, 1), 2, 2, [[0, 0], [2, 1], [0, 3], [0, 0]]),
        ((1, 3, 3, 4), (2, 2, 2, 2), 1, 1, "SAME"),
    ],
)
def test_gradients_are_slopes(images, filters, strides, dilations, padding, rng):
    x, f, g = operands(rng, images, filters, strides, dilations, padding)
    check_gradient(lambda x, f: tf.nn.conv2d(x, f, strides, padding, dilations=dilations), x, f)
    # of the gradients, which are linear in all they depend on
    check_gradient(lambda x, f, g: with_gradients(strides, dilations, padding)(x, f, g)[1], x, f, g, wrt=[1, 2])
    check_gradient(lambda x, f, g: with_gradients(strides, dilations, padding)(x, f, g)[2], x, f, g, wrt=[0, 2])


def test_the_transpose_is_the_gradient_by_the_input(rng):
    value = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    filters = rng.standard_normal((3, 2, 6, 5)).astype(np.float32)

    def build(value, filters):
        shape = (2, 6, 7, 6)
        y = tf.nn.conv2d_transpose(value, filters, shape, 2)
        return y, tf.nn.conv2d_backprop_input(shape, filters, value, [1, 2, 2, 1], "SAME")

    transposed, gradient = evaluate_built(build, value, filters)
    np.testing.assert_array_equal(transposed, gradient)


def test_sizes_that_are_known_only_when_it_runs(rng):
    x, f, g = operands(rng, *GRID[3])

    def build(x, f, g):
        return with_gradients(*GRID[3][2:])(of_unknown_shape(x), of_unknown_shape(f), of_unknown_shape(g))

    expected = evaluate_built(with_gradients(*GRID[3][2:]), x, f, g)
    for actual, other in zip(evaluate_built(build, x, f, g), expected, strict=True):
        np.testing.assert_array_equal(actual, other)


@pytest.mark.parametrize("shape", [(0, 4, 4, 2), (2, 0, 4, 2)])
def test_no_pixels_have_a_gradient_of_zeros(shape):
    x, f = np.zeros(shape, np.float32), np.ones((3, 3, 2, 5), np.float32)
    g = np.zeros((*shape[:3], 5), np.float32)
    y, x_grad, f_grad = evaluate_built(with_gradients(1, 1, "SAME"), x, f, g)
    assert (y.shape, x_grad.shape) == (g.shape, shape)
    np.testing.assert_array_equal(f_grad, np.zeros_like(f))


def test_no_channels():
    x, f = np.zeros((1, 3, 3, 0), np.float32), np.zeros((2, 2, 0, 4), np.float32)
    y = evaluate_built(lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"), x, f)
    np.testing.assert_array_equal(y, np.zeros((1, 3, 3, 4)))


def test_sizes_that_nothing_can_have():
    with new_session() as session:
        x = tf.placeholder(tf.float32)
        f = tf.placeholder(tf.float32)
        y = tf.nn.conv2d(x, f, 1, [[0, 0], [2**31 - 1, 0], [2**31 - 1, 0], [0, 0]])
        with pytest.raises(errors.ResourceExhaustedError, match="OOM"):
            session.run(y, {x: np.zeros((1, 1, 1, 1)), f: np.zeros((1, 1, 1, 1))})
        strided = tf.nn.conv2d(x, f, [1, 2**31 - 1, 2**31 - 1, 1], "SAME")
        grad = tf.gradients(strided, x)[0]
        assert session.run(grad, {x: np.ones((1, 3, 3, 1)), f: np.ones((3, 3, 1, 1))}).sum() == 9
        with pytest.raises(errors.InvalidArgumentError, match="out of range for an int32"):
            session.run(
                tf.nn.conv2d(x, f, [1, 2**31, 1, 1], "SAME"), {x: np.ones((1, 1, 1, 1)), f: np.ones((1, 1, 1, 1))}
            )
