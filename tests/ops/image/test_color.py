"""RGBToHSV, HSVToRGB, AdjustContrastv2, AdjustHue, AdjustSaturation: values, types, the same bits, bad input."""

import colorsys

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, of_unknown_shape


@pytest.fixture
def image(rng):
    return rng.uniform(size=(3, 7, 5, 3)).astype(np.float32)


def by_pixel(function, image):
    pixels = [function(*(float(x) for x in pixel)) for pixel in image.reshape(-1, 3)]
    return np.array(pixels).reshape(image.shape)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_color_spaces_are_those_of_python(image, dtype):
    tolerance = 5e-3 if dtype == "float16" else 1e-6
    image = image.astype(dtype)
    found = evaluate(tf.image.rgb_to_hsv, image)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, by_pixel(colorsys.rgb_to_hsv, image), atol=tolerance)
    found = evaluate(tf.image.hsv_to_rgb, image)
    np.testing.assert_allclose(found, by_pixel(colorsys.hsv_to_rgb, image), atol=tolerance)


def test_bfloat16_is_computed_in_float32(image):
    found = evaluate(lambda x: tf.cast(tf.image.rgb_to_hsv(tf.cast(x, tf.bfloat16)), tf.float32), image)
    np.testing.assert_allclose(found, by_pixel(colorsys.rgb_to_hsv, image), atol=0.05)


@pytest.mark.parametrize("delta", [0.0, 0.1, -0.3, 0.5, 2.25, -7.8])
def test_hue_is_turned(image, delta):
    def turned(*rgb):
        h, s, v = colorsys.rgb_to_hsv(*rgb)
        return colorsys.hsv_to_rgb((h + delta) % 1.0, s, v)

    np.testing.assert_allclose(
        evaluate(lambda x: tf.image.adjust_hue(x, delta), image), by_pixel(turned, image), atol=5e-6
    )


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 3.0, -1.0])
def test_saturation_is_scaled_and_kept_within_bounds(image, factor):
    def scaled(*rgb):
        h, s, v = colorsys.rgb_to_hsv(*rgb)
        return colorsys.hsv_to_rgb(h, min(1.0, max(0.0, s * factor)), v)

    found = evaluate(lambda x: tf.image.adjust_saturation(x, factor), image)
    np.testing.assert_allclose(found, by_pixel(scaled, image), atol=2e-6)


def test_contrast_is_by_image_and_channel(image):
    mean = image.mean(axis=(1, 2), keepdims=True)
    found = evaluate(lambda x: tf.image.adjust_contrast(x, 1.7), image)
    np.testing.assert_allclose(found, (image - mean) * 1.7 + mean, atol=1e-6)
    assert evaluate(lambda x: ops.adjust_contrast_v2(x, 2.0), image.astype(np.float16)).dtype == np.float16


def test_all_give_the_same_bits_everywhere(rng):
    image = rng.uniform(size=(5, 61, 67, 3)).astype(np.float32)
    for function in (
        tf.image.rgb_to_hsv,
        tf.image.hsv_to_rgb,
        lambda x: tf.image.adjust_hue(x, 0.3),
        lambda x: tf.image.adjust_saturation(x, 1.5),
        lambda x: tf.image.adjust_contrast(x, 1.5),
    ):
        assert_same_bits(function, image)


def test_odd_numbers_give_values():
    odd = np.array([np.nan, np.inf, -np.inf, -1, 0, 1e38, 2], np.float32)
    image = np.stack(np.meshgrid(odd, odd, odd), -1).reshape(1, -1, 3)
    for delta in (0.1, np.nan, np.inf, -1e30):
        for function in (
            lambda x, delta=delta: tf.image.adjust_hue(x, delta),
            lambda x, delta=delta: tf.image.adjust_saturation(x, delta),
            lambda x, delta=delta: tf.image.adjust_contrast(x, delta),
            tf.image.rgb_to_hsv,
            tf.image.hsv_to_rgb,
        ):
            assert evaluate(function, image).shape == image.shape


def test_empty_images_stay_empty():
    for shape in ((0, 4, 3), (2, 0, 3), (0, 2, 2, 3)):
        for function in (lambda x: tf.image.adjust_hue(x, 0.1), lambda x: tf.image.adjust_contrast(x, 0.1)):
            assert evaluate(function, np.zeros(shape, np.float32)).shape == shape


def test_gradient_of_saturation_and_value(rng):
    # TensorFlow's gradient of the hue counts degrees of the circle in another way where red is the largest.
    image = rng.uniform(0.1, 1, size=(4, 3))
    check_gradient(lambda x: tf.image.rgb_to_hsv(x)[..., 1:], image)


@pytest.mark.parametrize(
    ("function", "shape", "message"),
    [
        (tf.image.hsv_to_rgb, (), "rank|1D"),
        (lambda x: ops.adjust_hue_op(x, 0.1), (2, 2, 2), "channels"),
        (lambda x: ops.adjust_hue_op(x, 0.1), (2, 3), "3"),
        (lambda x: ops.adjust_saturation_op(x, 0.1), (2, 2, 4), "channels"),
        (lambda x: ops.adjust_saturation_op(x, [0.1]), (2, 2, 3), "scalar|rank 0"),
        (lambda x: ops.adjust_contrast_v2(x, 0.1), (2, 2), "3"),
        (lambda x: ops.adjust_contrast_v2(x, [0.1]), (2, 2, 3), "scalar|rank 0"),
    ],
)
def test_wrong_shapes_are_named(function, shape, message):
    x = np.zeros(shape, np.float32)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        evaluate(function, x)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        evaluate(lambda x: function(of_unknown_shape(x)), x)


def test_contrast_and_hue_have_no_gradient():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 2, 3])
        for tensor in (tf.image.adjust_contrast(x, 2.0), tf.image.adjust_hue(x, 0.1)):
            with pytest.raises(LookupError):
                tf.gradients(tensor, x)
        assert tf.gradients(tf.image.hsv_to_rgb(x), x) == [None]
