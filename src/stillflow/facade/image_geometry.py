"""tf.image: flips, turns, crops, margins. Images are [height, width, channels], or batches of them."""

from __future__ import annotations

from stillflow.composites import image_geometry
from stillflow.facade.random import random_crop as random_crop

__all__ = [
    "central_crop",
    "crop_to_bounding_box",
    "flip_left_right",
    "flip_up_down",
    "pad_to_bounding_box",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "resize_image_with_crop_or_pad",
    "resize_with_crop_or_pad",
    "rot90",
    "transpose",
    "transpose_image",
]


def flip_left_right(image):
    """Images with their columns in the reverse order. Raises ValueError unless they have 3 or 4 dimensions."""
    return image_geometry.flip(image, 1, "flip_left_right")


def flip_up_down(image):
    """Images with their rows in the reverse order. Raises ValueError unless they have 3 or 4 dimensions."""
    return image_geometry.flip(image, 0, "flip_up_down")


def random_flip_left_right(image, seed=None):
    """flip_left_right for every second image, at random."""
    return image_geometry.random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image, seed=None):
    """flip_up_down for every second image, at random."""
    return image_geometry.random_flip(image, 0, seed, "random_flip_up_down")


def rot90(image, k=1, name=None):
    """Images turned counter-clockwise by k right angles, an integer or a scalar tensor of int32."""
    return image_geometry.rot90(image, k, name)


def transpose(image, name=None):
    """Images with rows for columns. Raises ValueError unless they have 3 or 4 dimensions."""
    return image_geometry.transpose(image, name)


def central_crop(image, central_fraction):
    """The middle of images: so large a part of their height and of their width.

    Raises ValueError for a part that is not in (0, 1], or images that have not 3 or 4 dimensions.
    """
    return image_geometry.central_crop(image, central_fraction)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Images with zeros around them.

    Args:
      image: 3 or 4 dimensions.
      offset_height, offset_width: how many rows and columns of zeros come first.
      target_height, target_width: how many rows and columns there are then. All of them integers or scalars of int32.

    Raises:
      ValueError: for negative numbers, or images that do not fit; InvalidArgumentError if it is seen at run time.
    """
    return image_geometry.pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width)


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of images that begins so many rows and columns from the first and is so large.

    Args:
      image: 3 or 4 dimensions.
      offset_height, offset_width, target_height, target_width: integers or scalars of int32, in pixels.

    Raises:
      ValueError: for a part that is not inside; InvalidArgumentError at run time, if not known before.
    """
    return image_geometry.crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width)


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """The middle of images, with zeros around it where they are smaller than that size, in pixels.

    Raises ValueError for a size that is not positive; InvalidArgumentError at run time, if not known before.
    """
    return image_geometry.resize_with_crop_or_pad(image, target_height, target_width)


resize_with_crop_or_pad = resize_image_with_crop_or_pad
transpose_image = transpose
