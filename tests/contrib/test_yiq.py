"""adjust_hsv_in_yiq against its definition in numpy."""

import numpy as np
import pytest
from stillflow.contrib.image.python.ops import distort_image_ops

import stillflow as tf

_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.322], [0.211, -0.523, 0.312]])
_RGB = np.array([[1, 0.95617069, 0.62143257], [1, -0.2726886, -0.64681324], [1, -1.103744, 1.70062309]])


def evaluate(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def adjusted(images, angle, saturation, value):
    cos, sin = saturation * value * np.cos(angle), saturation * value * np.sin(angle)
    return images @ (_RGB @ [[value, 0, 0], [0, cos, -sin], [0, sin, cos]] @ _YIQ).T


@pytest.mark.parametrize("given", [(0.0, 1.0, 1.0), (1.2, 1.0, 1.0), (0.0, 0.3, 1.0), (-2.5, 1.7, 0.6)])
@pytest.mark.parametrize("shape", [(2, 3, 3), (2, 4, 5, 3), (0, 2, 3)])
def test_colors_are_turned_and_scaled(given, shape, rng):
    images = rng.random(shape).astype(np.float32)
    found = evaluate(distort_image_ops.adjust_hsv_in_yiq(images, *given))
    np.testing.assert_allclose(found, adjusted(images, *given), atol=2e-6)


def test_images_of_other_kinds_have_three_channels():
    images = tf.placeholder(tf.float32)
    with tf.Session() as session:
        for shape in ((2, 2, 4), (4, 2, 2)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="input must have 3 channels"):
                session.run(distort_image_ops.adjust_hsv_in_yiq(images, 0.0, 1.0, 1.0), {images: np.ones(shape)})
    with pytest.raises(ValueError, match="rank"):
        distort_image_ops.adjust_hsv_in_yiq(tf.ones([3, 3]), 0.0, 1.0, 1.0)


def test_the_type_of_images_stays():
    image = np.arange(27, dtype=np.uint8).reshape(3, 3, 3)
    same = distort_image_ops.adjust_hsv_in_yiq(image)
    assert same.dtype == tf.uint8
    np.testing.assert_allclose(evaluate(same).astype(int), image, atol=1)
    darker = evaluate(distort_image_ops.adjust_hsv_in_yiq(image, scale_value=0.5)).astype(int)
    np.testing.assert_allclose(darker, image / 2, atol=1)


def test_random_numbers_lie_between_their_bounds():
    tf.set_random_seed(1)
    image = np.full((1, 1, 3), 0.5, np.float32)
    values = evaluate(
        tf.stack([distort_image_ops.random_hsv_in_yiq(image, 1.0, 0.5, 2.0, 0.5, 1.5) for _ in range(8)])
    )
    assert 0.24 < values.min() < values.max() < 0.76
    np.testing.assert_allclose(evaluate(distort_image_ops.random_hsv_in_yiq(image)), image, atol=1e-6)
    for given, words in (
        ({"max_delta_hue": -1}, "max_delta must be non-negative"),
        ({"lower_saturation": 2, "upper_saturation": 1}, "lower_saturation must be < upper_saturation"),
        ({"lower_value": -1}, "lower_value must be non-negative"),
    ):
        with pytest.raises(ValueError, match=words):
            distort_image_ops.random_hsv_in_yiq(image, **given)
