"""tf.image: colors, and how much pixels differ. Images are [..., height, width, channels]."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import image_color

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "image_gradients",
    "per_image_standardization",
    "psnr",
    "random_brightness",
    "random_contrast",
    "random_hue",
    "random_saturation",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "total_variation",
    "yiq_to_rgb",
    "yuv_to_rgb",
]


def adjust_brightness(image, delta):
    """Images with `delta` added to all elements, which for integers counts as a part of the largest."""
    return image_color.adjust_brightness(image, delta)


def adjust_contrast(images, contrast_factor):
    """Images with each element `contrast_factor` times as far from the mean of its image's channel."""
    return image_color.adjust_contrast(images, contrast_factor)


def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma. Raises ValueError for a negative gamma; InvalidArgumentError at run time."""
    return image_color.adjust_gamma(image, gamma, gain)


def adjust_hue(image, delta, name=None):
    """RGB images with their hue moved by `delta`, in turns of the circle of colors."""
    return image_color.adjust_hue(image, delta, name)


def adjust_saturation(image, saturation_factor, name=None):
    """RGB images with `saturation_factor` times the saturation, up to the largest there is."""
    return image_color.adjust_saturation(image, saturation_factor, name)


def random_brightness(image, max_delta, seed=None):
    """adjust_brightness by a random number in [-max_delta, max_delta). Raises ValueError if that is negative."""
    return image_color.random_brightness(image, max_delta, seed)


def random_contrast(image, lower, upper, seed=None):
    """adjust_contrast by a random number in [lower, upper). Raises ValueError unless 0 <= lower < upper."""
    return image_color.adjust_contrast(image, image_color.random_factor(lower, upper, seed))


def random_hue(image, max_delta, seed=None):
    """adjust_hue by a random number in [-max_delta, max_delta). Raises ValueError unless it is in [0, 0.5]."""
    return image_color.random_hue(image, max_delta, seed)


def random_saturation(image, lower, upper, seed=None):
    """adjust_saturation by a random number in [lower, upper). Raises ValueError unless 0 <= lower < upper."""
    return image_color.adjust_saturation(image, image_color.random_factor(lower, upper, seed), None)


def per_image_standardization(image):
    """Images with mean 0 and standard deviation 1, or less for images of one color."""
    return image_color.per_image_standardization(image)


def rgb_to_grayscale(images, name=None):
    """Shades of gray, [..., 1], for RGB images [..., 3]."""
    return image_color.rgb_to_grayscale(images, name)


def grayscale_to_rgb(images, name=None):
    """RGB images [..., 3] for shades of gray [..., 1]. Raises ValueError for a last dimension other than 1."""
    return image_color.grayscale_to_rgb(images, name)


def rgb_to_hsv(images, name=None):
    """Hue, saturation and value, from 0 to 1, for red, green and blue, from 0 to 1."""
    return ops.rgb_to_hsv(images, name=name)


def hsv_to_rgb(images, name=None):
    """Red, green and blue for hue, saturation and value; all from 0 to 1."""
    return ops.hsv_to_rgb(images, name=name)


def rgb_to_yiq(images):
    """Y, I and Q for red, green and blue."""
    return image_color.convert_colors(images, "rgb_to_yiq")


def yiq_to_rgb(images):
    """Red, green and blue for Y, I and Q."""
    return image_color.convert_colors(images, "yiq_to_rgb")


def rgb_to_yuv(images):
    """Y, U and V for red, green and blue."""
    return image_color.convert_colors(images, "rgb_to_yuv")


def yuv_to_rgb(images):
    """Red, green and blue for Y, U and V."""
    return image_color.convert_colors(images, "yuv_to_rgb")


def total_variation(images, name=None):
    """The sum of the differences between pixels that lie side by side, for each image.

    Raises ValueError unless the images have 3 or 4 dimensions.
    """
    return image_color.total_variation(images, name)


def image_gradients(image):
    """(dy, dx): how far it is to the next pixel below and to the right, and 0 for the last ones.

    Raises ValueError unless the images have 4 dimensions.
    """
    return image_color.image_gradients(image)


def psnr(a, b, max_val, name=None):
    """The ratio of signal to noise in decibels, for images whose elements are up to `max_val`.

    Raises ValueError if their shapes do not fit; InvalidArgumentError at run time, if not known before.
    """
    return image_color.psnr(a, b, max_val, name)
