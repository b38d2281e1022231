"""Resampler and its gradient: TensorFlow's values and bits, places on and beyond the border, bad input."""

from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient, evaluate, new_session

RECORDED = np.load(Path(__file__).parents[2] / "golden" / "resampler.npz")

resampler = tf.contrib.resampler.resampler


def with_gradients(data, warp, grad):
    output = resampler(data, warp)
    return [output, *tf.gradients(output, [data, warp], grad)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_bits_are_tensorflows(dtype):
    data, warp, grad, *expected = (RECORDED[f"{dtype}_{name}"] for name in ("data", "warp", "g", "y", "gd", "gw"))
    with new_session() as session:
        found = session.run(with_gradients(tf.constant(data), tf.constant(warp), tf.constant(grad)))
    for value, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_same_bits_for_any_number_of_threads(dtype, rng):
    data, warp = rng.normal(size=(3, 40, 50, 3)), rng.uniform(-2, 52, (3, 900, 2))
    grad = rng.normal(size=(3, 900, 3))
    assert_same_bits(with_gradients, *(array.astype(dtype) for array in (data, warp, grad)))


def test_gradients(rng):
    # Between pixels: at them the derivative jumps.
    warp = rng.integers(-1, 4, (2, 5, 2)) + rng.uniform(0.2, 0.8, (2, 5, 2))
    check_gradient(resampler, rng.normal(size=(2, 3, 4, 2)), warp)


def test_whole_numbers_name_pixels_and_the_border_is_zero():
    image = np.arange(1.0, 7.0, dtype=np.float32).reshape(1, 2, 3, 1)
    places = np.array([[[0, 0], [2, 1], [1, 0], [-0.5, 0], [2.5, 1], [3, 0], [0, -1], [np.nan, 0]]], np.float32)
    assert evaluate(resampler, image, places).ravel().tolist() == [1, 6, 2, 0.5, 3, 0, 0, 0]


@pytest.mark.parametrize("shape", [(0, 2), (2, 0, 2), (2, 3, 0, 2)])
def test_no_places(shape):
    data = np.ones((shape[0], 3, 3, 2), np.float32)
    found = evaluate(lambda d, w: with_gradients(d, w, tf.ones([*shape[:-1], 2])), data, np.zeros(shape, np.float32))
    assert [array.shape for array in found] == [(*shape[:-1], 2), data.shape, shape]
    assert not found[1].any()


def test_shapes_are_inferred():
    data, warp = tf.placeholder(tf.float32, [None, 5, 6, 3]), tf.placeholder(tf.float32, [None, 4, 2])
    output = resampler(data, warp)
    assert output.op.type == "Resampler"
    assert output.shape.as_list() == [None, 4, 3]
    assert resampler(tf.placeholder(tf.float32), tf.placeholder(tf.float32)).shape.rank is None


@pytest.mark.parametrize(
    ("data", "warp", "error", "message"),
    [
        ((2, 3, 4), (2, 1, 2), tf.errors.UnimplementedError, r"The input data shape must be \[batch_size"),
        ((2, 3, 4, 1), (2,), tf.errors.InvalidArgumentError, r"at least a matrix, got shape \[2\]"),
        ((2, 3, 4, 1), (2, 5, 3), tf.errors.UnimplementedError, "warping coordinates must be 2D"),
        (
            (2, 3, 4, 1),
            (1, 5, 2),
            tf.errors.InvalidArgumentError,
            "Batch size of data and warp tensor must be the same",
        ),
    ],
)
def test_bad_shapes(data, warp, error, message):
    with pytest.raises(error, match=message):
        evaluate(resampler, np.ones(data, np.float32), np.ones(warp, np.float32))


def test_gradients_of_another_shape():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"it should be \[1,2,3\] but is \[1,2,4\]"):
        evaluate(
            lambda d, w, g: tf.raw_ops.ResamplerGrad(data=d, warp=w, grad_output=g),
            np.ones([1, 2, 2, 3], np.float32), np.ones([1, 2, 2], np.float32), np.ones([1, 2, 4], np.float32),
        )  # fmt: skip
