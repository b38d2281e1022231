"""Pools of images: values, formats, gradients and theirs, places of maxima, bad input, bits."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import errors
from stillflow.testing import assert_same_bits, check_gradient, new_session, of_unknown_shape
from stillflow.testing import evaluate as evaluate_built

# (images, windows, strides, padding)
GRID = [
    ((2, 4, 6, 3), (2, 2), (2, 2), "VALID"),
    ((2, 5, 6, 17), (3, 2), (2, 1), "SAME"),
    ((1, 9, 7, 70), (3, 3), (1, 1), "SAME"),
    ((1, 5, 9, 2), (2, 1), (3, 4), "SAME"),
    ((3, 3, 3, 5), (5, 7), (2, 3), "SAME"),
]
GRID_3D = [((2, 3, 5, 4, 3), (2, 3, 2), (1, 2, 3), "SAME"), ((1, 3, 3, 3, 33), (3, 2, 1), (1, 1, 1), "VALID")]
POOLS = {"max": (tf.nn.max_pool2d, tf.nn.max_pool3d), "avg": (tf.nn.avg_pool2d, tf.nn.avg_pool3d)}


@pytest.mark.parametrize(("case", "expected"), cases("pools"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    tolerance = {}
    if not isinstance(expected, str) and expected.dtype.kind == "f":
        # TensorFlow divides 16-bit floats as such.
        tolerance = {"rtol": 1e-2, "atol": 2e-3} if expected.dtype.itemsize == 2 else {"rtol": 1e-6, "atol": 1e-6}
    assert_same(evaluate(case), expected, **tolerance)


def with_gradients(kind, windows, strides, padding, data_format=None):
    """The pool, its gradient, and the gradient of the gradient."""

    def build(x):
        pool = POOLS[kind][len(windows) - 2]
        y = pool(x, list(windows), list(strides), padding, **({"data_format": data_format} if data_format else {}))
        first = tf.gradients(tf.sin(y), x)
        return [y, *first, *tf.gradients(tf.sin(first[0]), x)]

    return build


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize(("images", "windows", "strides", "padding"), GRID + GRID_3D)
def test_bits_are_the_same_everywhere(images, windows, strides, padding, kind, rng):
    assert_same_bits(with_gradients(kind, windows, strides, padding), rng.standard_normal(images).astype(np.float32))


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_bits_of_other_types(kind, dtype, rng):
    images, *rest = GRID[1]
    assert_same_bits(with_gradients(kind, *rest), rng.standard_normal(images).astype(dtype))


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize(("images", "windows", "strides", "padding"), GRID + GRID_3D)
def test_formats_have_the_same_bits(images, windows, strides, padding, kind, rng):
    x = rng.standard_normal(images).astype(np.float32)
    last = evaluate_built(with_gradients(kind, windows, strides, padding), x)
    first_format = "NCHW" if len(images) == 4 else "NCDHW"
    first = evaluate_built(
        with_gradients(kind, windows, strides, padding, first_format), np.moveaxis(x, -1, 1).copy()
    )
    for a, b in zip(first, last, strict=True):
        np.testing.assert_array_equal(np.moveaxis(a, 1, -1), b)


@pytest.mark.parametrize(
    ("kind", "images", "windows", "strides", "padding"),
    [("max", *arguments) for arguments in GRID] + [("avg", *arguments) for arguments in GRID + GRID_3D],
)
def test_gradients_are_slopes(kind, images, windows, strides, padding, rng):
    images = (*images[:-1], min(images[-1], 3))
    x = rng.permutation(int(np.prod(images))).reshape(images).astype(np.float32) / 10  # no ties within a step
    pool = POOLS[kind][len(windows) - 2]

    def build(x):
        return pool(x, list(windows), list(strides), padding)

    check_gradient(build, x)
    check_gradient(lambda x, g: tf.gradients(build(x), x, g)[0], x, evaluate_built(build, x), wrt=[1])


@pytest.mark.parametrize("kind", POOLS)
@pytest.mark.parametrize(("images", "windows", "strides", "padding"), GRID)
def test_one_plane_is_a_pool_in_two_dimensions(images, windows, strides, padding, kind, rng):
    x = rng.standard_normal(images).astype(np.float32)
    flat = evaluate_built(with_gradients(kind, windows, strides, padding), x)
    deep = evaluate_built(with_gradients(kind, (1, *windows), (1, *strides), padding), x[:, None])
    for a, b in zip(deep, flat, strict=True):
        np.testing.assert_array_equal(a[:, 0], b)


def test_sizes_that_are_known_only_when_it_runs(rng):
    x = rng.standard_normal(GRID[1][0]).astype(np.float32)
    for kind in POOLS:
        build = with_gradients(kind, *GRID[1][1:])
        expected = evaluate_built(build, x)
        for actual, other in zip(evaluate_built(lambda x, b=build: b(of_unknown_shape(x)), x), expected, strict=True):
            np.testing.assert_array_equal(actual, other)


@pytest.mark.parametrize(("images", "windows", "strides", "padding"), GRID)
def test_places_are_those_of_the_maxima(images, windows, strides, padding, rng):
    x = rng.standard_normal(images).astype(np.float32)
    window, step = ([1, *pair, 1] for pair in (windows, strides))

    def build(x):
        y, places = tf.nn.max_pool_with_argmax(x, window, step, padding)
        counted = tf.nn.max_pool_with_argmax(x, window, step, padding, include_batch_in_index=True)[1]
        return y, tf.nn.max_pool(x, window, step, padding), places, counted

    y, pooled, places, counted = evaluate_built(build, x)
    np.testing.assert_array_equal(y, pooled)
    np.testing.assert_array_equal(x.reshape(-1)[counted], y)
    offsets = np.arange(images[0]).reshape(-1, 1, 1, 1) * int(np.prod(images[1:]))
    np.testing.assert_array_equal(places + offsets, counted)


def test_gradients_with_places(rng):
    images, windows, strides, padding = GRID[1]
    x = rng.standard_normal(images).astype(np.float32)
    window, step = ([1, *pair, 1] for pair in (windows, strides))

    def build(x):
        pooled = tf.nn.max_pool(x, window, step, padding), tf.nn.max_pool_with_argmax(x, window, step, padding)[0]
        return [tf.gradients(tf.sin(y), x)[0] for y in pooled]

    plain, with_places = evaluate_built(build, x)
    np.testing.assert_array_equal(plain, with_places)
    assert_same_bits(build, x)


@pytest.mark.parametrize("place", [-1, 24, 2**62])
def test_places_outside_of_the_image_are_refused(place):
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    with new_session() as session:
        x, g = tf.zeros((1, 4, 6, 1)), tf.ones((1, 2, 3, 1))
        places = tf.fill([1, 2, 3, 1], tf.constant(place, tf.int64))
        for op, grad in ((tf.raw_ops.MaxPoolGradWithArgmax, g), (tf.raw_ops.MaxPoolGradGradWithArgmax, x)):
            with pytest.raises(errors.InvalidArgumentError):
                session.run(op(input=x, grad=grad, argmax=places, **attrs))


def test_a_gradient_of_another_shape_is_refused():
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    with new_session() as session:
        x, y = tf.zeros((1, 4, 6, 1)), tf.ones((1, 2, 3, 1))
        wrong = tf.placeholder_with_default(tf.ones((1, 2, 2, 1)), None)
        for op in (tf.raw_ops.MaxPoolGrad, tf.raw_ops.MaxPoolGradGrad):
            with pytest.raises(errors.InvalidArgumentError):
                session.run(op(orig_input=x, orig_output=y, grad=wrong, data_format="NHWC", **attrs))
        with pytest.raises(errors.InvalidArgumentError):
            session.run(
                tf.raw_ops.AvgPoolGrad(orig_input_shape=[1, 4, 6, 1], grad=wrong, data_format="NHWC", **attrs)
            )
