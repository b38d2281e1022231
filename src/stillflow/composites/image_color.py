"""Color adjustments (brightness, contrast, hue, saturation), grayscale, YIQ and YUV, and differences of images."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.image_types import (
    as_float,
    check_that,
    checked_grayscale,
    checked_image,
    checks_of_same_size,
    convert_image_dtype,
)
from stillflow.composites.linear_algebra import tensordot
from stillflow.composites.statistics import reduce_std
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform

# ---- Adjustments ------------------------------------------------------------------------------------------------


@public("image.adjust_brightness")
def adjust_brightness(image, delta):
    """Images with `delta` added to all elements, which for integers counts as a part of the largest."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        as_floats = as_float(image)
        adjusted = ops.add(as_floats, ops.cast(delta, as_floats.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


@public("image.adjust_contrast")
def adjust_contrast(images, contrast_factor):
    """Images with each element `contrast_factor` times as far from the mean of its image's channel."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert_to_tensor(images, name="images")
        adjusted = ops.adjust_contrast_v2(as_float(images), contrast_factor=contrast_factor, name=scope)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


@public("image.adjust_gamma")
def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma. Raises ValueError for a negative gamma; InvalidArgumentError at run time."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        as_floats = as_float(image)
        found = check_that(gamma >= 0, "Gamma should be a non-negative real number.")
        if found:
            gamma = with_dependencies(found, gamma)
        return convert_image_dtype(gain * as_floats**gamma, image.dtype, saturate=True)


@public("image.adjust_hue")
def adjust_hue(image, delta, name=None):
    """RGB images with their hue moved by `delta`, in turns of the circle of colors."""
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(ops.adjust_hue_op(as_float(image), delta), image.dtype)


@public("image.adjust_saturation")
def adjust_saturation(image, saturation_factor, name=None):
    """RGB images with `saturation_factor` times the saturation, up to the largest there is."""
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(ops.adjust_saturation_op(as_float(image), saturation_factor), image.dtype)


@public("image.random_brightness")
def random_brightness(image, max_delta, seed=None):
    """adjust_brightness by a random number in [-max_delta, max_delta). Raises ValueError if that is negative."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


@public("image.random_hue")
def random_hue(image, max_delta, seed=None):
    """adjust_hue by a random number in [-max_delta, max_delta). Raises ValueError unless it is in [0, 0.5]."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_uniform([], -max_delta, max_delta, seed=seed), None)


def random_factor(lower, upper, seed):
    """A random number for contrast or saturation. Raises ValueError for bounds in the wrong order or below 0."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return random_uniform([], lower, upper, seed=seed)


@public("image.per_image_standardization")
def per_image_standardization(image):
    """Images with mean 0 and standard deviation 1, or less for images of one color."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        dtype = image.dtype
        image = as_float(image)
        pixel_count = ops.reduce_prod(ops.shape(image)[-3:])
        mean = ops.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        # No division by zero for an image of one color.
        deviation = ops.maximum(deviation, ops.rsqrt(ops.cast(pixel_count, image.dtype)))
        standardized = ops.div(image - mean, deviation, name=scope)
        return convert_image_dtype(standardized, dtype, saturate=True)


# ---- Other colors -----------------------------------------------------------------------------------------------


@public("image.rgb_to_grayscale")
def rgb_to_grayscale(images, name=None):
    """Shades of gray, [..., 1], for RGB images [..., 3]."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        as_floats = convert_image_dtype(images, dtypes.float32)
        gray = ops.expand_dims(tensordot(as_floats, [0.2989, 0.587, 0.114], [-1, -1]), -1)
        return convert_image_dtype(gray, images.dtype, name=scope)


@public("image.grayscale_to_rgb")
def grayscale_to_rgb(images, name=None):
    """RGB images [..., 3] for shades of gray [..., 1]. Raises ValueError for a last dimension other than 1."""
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = checked_grayscale(convert_to_tensor(images, name="images"))
        ones = ops.expand_dims(ops.rank(images) - 1, 0)
        multiples = ops.concat([ops.ones(ones, dtype=dtypes.int32), ops.expand_dims(3, 0)], 0)
        result = ops.tile(images, multiples, name=scope)
        result.set_shape(images.shape[:-1].concatenate([3]))
        return result


# Rows for red, green and blue (or Y and the others), columns for what they become.
COLOR_SPACES = {
    "rgb_to_yiq": [
        [0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955],
    ],
    "yiq_to_rgb": [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]],
    "rgb_to_yuv": [
        [0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026],
    ],
    "yuv_to_rgb": [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]],
}  # fmt: skip


def convert_colors(images, conversion):
    """The product of pixels with the matrix of a conversion."""
    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(COLOR_SPACES[conversion], dtype=images.dtype, name="kernel")
    if images.shape.rank is None:
        raise ValueError(f"The rank of the images must be known for {conversion}.")
    return tensordot(images, kernel, axes=[[images.shape.rank - 1], [0]])


# ---- Differences ------------------------------------------------------------------------------------------------


@public("image.total_variation")
def total_variation(images, name=None):
    """The sum of the differences between pixels that lie side by side, for each image.

    Raises ValueError unless the images have 3 or 4 dimensions.
    """
    with name_scope(name, "total_variation"):
        rank = images.shape.rank
        if rank not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        if rank == 3:
            down, right, axes = images[1:, :, :] - images[:-1, :, :], images[:, 1:, :] - images[:, :-1, :], None
        else:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            right, axes = images[:, :, 1:, :] - images[:, :, :-1, :], [1, 2, 3]
        return ops.reduce_sum(ops.abs(down), axis=axes) + ops.reduce_sum(ops.abs(right), axis=axes)


@public("image.image_gradients")
def image_gradients(image):
    """(dy, dx): how far it is to the next pixel below and to the right, and 0 for the last ones.

    Raises ValueError unless the images have 4 dimensions.
    """
    if image.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    shape = ops.shape(image)
    batch, height, width, depth = ops.unstack(shape)
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    right = image[:, :, 1:, :] - image[:, :, :-1, :]
    zeros = ops.zeros(ops.stack([batch, 1, width, depth]), image.dtype)
    down = ops.reshape(ops.concat([down, zeros], 1), shape)
    zeros = ops.zeros(ops.stack([batch, height, 1, depth]), image.dtype)
    right = ops.reshape(ops.concat([right, zeros], 2), shape)
    return down, right


@public("image.psnr")
def psnr(a, b, max_val, name=None):
    """The ratio of signal to noise in decibels, for images whose elements are up to `max_val`.

    Raises ValueError if their shapes do not fit; InvalidArgumentError at run time, if not known before.
    """
    with name_scope(name, "PSNR", [a, b]):
        largest = convert_image_dtype(ops.cast(max_val, a.dtype), dtypes.float32)
        a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
        error = ops.reduce_mean(ops.squared_difference(a, b), [-3, -2, -1])
        of_signal = 20 * ops.log(largest) / ops.log(10.0)
        result = ops.sub(of_signal, np.float32(10 / np.log(10)) * ops.log(error), name="psnr")
        with get_default_graph().control_dependencies(checks_of_same_size(a, b)[1]):
            return ops.identity(result)


@public("image.random_contrast")
def random_contrast(image, lower, upper, seed=None):
    """adjust_contrast by a random number in [lower, upper). Raises ValueError unless 0 <= lower < upper."""
    return adjust_contrast(image, random_factor(lower, upper, seed))


@public("image.random_saturation")
def random_saturation(image, lower, upper, seed=None):
    """adjust_saturation by a random number in [lower, upper). Raises ValueError unless 0 <= lower < upper."""
    return adjust_saturation(image, random_factor(lower, upper, seed), None)


@public("image.rgb_to_yiq")
def rgb_to_yiq(images):
    """Y, I and Q for red, green and blue."""
    return convert_colors(images, "rgb_to_yiq")


@public("image.yiq_to_rgb")
def yiq_to_rgb(images):
    """Red, green and blue for Y, I and Q."""
    return convert_colors(images, "yiq_to_rgb")


@public("image.rgb_to_yuv")
def rgb_to_yuv(images):
    """Y, U and V for red, green and blue."""
    return convert_colors(images, "rgb_to_yuv")


@public("image.yuv_to_rgb")
def yuv_to_rgb(images):
    """Red, green and blue for Y, U and V."""
    return convert_colors(images, "yuv_to_rgb")
