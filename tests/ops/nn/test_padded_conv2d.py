"""FusedPadConv2D and FusedResizeAndPadConv2D: the bits of the ops that they stand for."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import errors, ops

PADDINGS = [[0, 0], [1, 1], [2, 0], [0, 0]]
WINDOW = {"strides": [1, 2, 1, 1], "padding": "VALID"}


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("is_known", [True, False])
def test_values(is_known, dtype, mode, rng):
    images = tf.placeholder_with_default(
        rng.standard_normal((2, 5, 6, 3)).astype(dtype), [2, 5, 6, 3] if is_known else None
    )
    filters = rng.standard_normal((2, 3, 3, 4)).astype(dtype)
    fused = ops.fused_pad_conv2d(images, PADDINGS, filters, mode=mode, **WINDOW)
    plain = tf.nn.conv2d(tf.pad(images, PADDINGS, mode), filters, WINDOW["strides"], WINDOW["padding"])
    resized = tf.cast(tf.image.resize_bilinear(images, [7, 8], align_corners=True), dtype)
    both = ops.fused_resize_and_pad_conv2d(
        images, [7, 8], PADDINGS, filters, resize_align_corners=True, mode=mode, **WINDOW
    )
    plain_both = tf.nn.conv2d(tf.pad(resized, PADDINGS, mode), filters, WINDOW["strides"], WINDOW["padding"])
    if is_known:
        assert fused.shape == plain.shape
        assert both.shape == plain_both.shape
    with tf.Session() as session:
        found, expected = session.run([(fused, both), (plain, plain_both)])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_in_a_branch_that_is_not_taken(rng):
    """What an op is written out in runs where the op does."""
    images, filters = rng.standard_normal((1, 3, 3, 1)), rng.standard_normal((1, 1, 1, 1))
    is_wanted = tf.placeholder(tf.bool)
    paddings = tf.placeholder_with_default([[0, 0], [9, 9], [0, 0], [0, 0]], [4, 2])  # more than the image has

    def padded():
        return ops.fused_pad_conv2d(images, paddings, filters, mode="REFLECT", strides=[1] * 4, padding="SAME")

    result = tf.cond(is_wanted, padded, lambda: tf.constant(images))
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(result, {is_wanted: False}), images)
        with pytest.raises(
            errors.InvalidArgumentError, match="paddings must be less than the dimension size"
        ) as info:
            session.run(result, {is_wanted: True})
    assert info.value.op.type == "FusedPadConv2D"


def test_eagerly(rng):
    images, filters = rng.standard_normal((1, 3, 3, 1)), np.ones((1, 1, 1, 1))
    with tf.contrib.eager.python.tfe.context.eager_mode():
        found = ops.fused_pad_conv2d(
            images, [[0, 0]] * 4, filters, mode="REFLECT", strides=[1, 1, 1, 1], padding="VALID"
        )
        np.testing.assert_array_equal(found.numpy(), images)


@pytest.mark.parametrize("size", [3, 0])
def test_the_inner_derivative_of_factors(size, rng):
    """CholeskyGrad, which is written out, is what the gradient of Cholesky computes."""
    matrix = rng.standard_normal((2, size, size))
    factor = tf.cholesky(matrix @ np.swapaxes(matrix, 1, 2) + np.eye(size))
    grad = rng.standard_normal((2, size, size))
    (expected,) = tf.gradients(factor, factor.op.inputs[0], tf.constant(grad))
    with tf.Session() as session:
        found, wanted = session.run([ops.cholesky_grad(factor, grad), expected])
    np.testing.assert_array_equal(found, wanted)
