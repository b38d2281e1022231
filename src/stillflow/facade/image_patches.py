"""tf.extract_image_patches, which is tf.image.extract_image_patches too, and tf.image.extract_patches."""

from __future__ import annotations

from stillflow import ops
from stillflow.facade.arguments import renamed

__all__ = ["extract_image_patches"]


def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    """The elements under a window at all its places, side by side.

    Args:
      images: [batch, rows, columns, depth], any number type.
      ksizes: [1, rows, columns, 1]: the size of the window; `sizes` is its newer name.
      strides: [1, rows, columns, 1]: how far apart places are.
      rates: [1, rows, columns, 1]: how far apart the elements in a window are.
      padding: "VALID" for places inside the images, "SAME" for as many as there are strides in them.

    Returns:
      [batch, places, places, rows * columns * depth of the window]; zeros stand for what is outside.
    """
    ksizes = renamed("sizes", sizes, "ksizes", ksizes)
    return extract_patches(images, ksizes, strides, rates, padding, name)


def extract_patches(images, sizes, strides, rates, padding, name=None):
    """`extract_image_patches` as it is called in tf.image."""
    return ops.extract_image_patches(images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name)
