"""tf.image: images of another size. Images are [height, width, channels], or batches of them."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import image_resize

__all__ = [
    "ResizeMethod",
    "resize",
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_image_with_pad",
    "resize_images",
    "resize_nearest_neighbor",
]


class ResizeMethod:
    """The methods of resize_images."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def resize_images(
    images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None
):
    """Images of the height and width that `size` says, in pixels.

    Args:
      images: 3 or 4 dimensions.
      size: two integers, or a tensor of int32.
      method: one of ResizeMethod.
      align_corners: whether the pixels in the corners keep their places.
      preserve_aspect_ratio: whether to go only as far as the ratio of height to width allows.

    Returns:
      float32, but of the images' type for nearest neighbors, and where the size is what it was.

    Raises:
      ValueError: for images of another rank, a size of another form, or a method that there is not.
    """
    return image_resize.resize_images(images, size, method, align_corners, preserve_aspect_ratio, name)


def resize_image_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, align_corners=False):
    """Images as large as fits into that height and width, in pixels, with zeros around them; see `resize_images`.

    Raises ValueError for a size that is not positive; InvalidArgumentError if it is seen at run time.
    """
    return image_resize.resize_image_with_pad(image, target_height, target_width, method, align_corners)


def resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Batches of images resized by linear interpolation, as float32.

    `half_pixel_centers` says that pixels are where their centers are, and excludes `align_corners`.
    """
    return ops.resize_bilinear(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Batches of images resized by taking the nearest pixels; see `resize_bilinear`."""
    return ops.resize_nearest_neighbor(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Batches of images resized by cubic interpolation, as float32; see `resize_bilinear`."""
    return ops.resize_bicubic(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_area(images, size, align_corners=False, name=None):
    """Batches of images resized by means over the pixels that each new one covers, as float32."""
    return ops.resize_area(images, size, align_corners=align_corners, name=name)


resize = resize_images
