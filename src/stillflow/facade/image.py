"""tf.image: images decoded and encoded, their windows and boxes."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import image_decoding
from stillflow.composites.image_types import convert_image_dtype as convert_image_dtype
from stillflow.facade.image_color import *
from stillflow.facade.image_geometry import *
from stillflow.facade.image_patches import extract_image_patches as extract_image_patches
from stillflow.facade.image_patches import extract_patches as extract_patches
from stillflow.facade.image_resize import *
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope


def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=None,
    seed2=None,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """A part of an image, at random, that covers enough of one of its boxes.

    Args:
      image_size: integers [height, width, depth].
      bounding_boxes: float32 [batch, boxes, 4]: top, left, bottom and right as parts of 1.
      seed, seed2: the op's own; without them they are the operating system's.
      min_object_covered: how much of one box must be covered at least.
      aspect_ratio_range: between what width / height is; [0.75, 1.33] by default.
      area_range: between what parts of the image's area; [0.05, 1] by default.
      max_attempts: after how many attempts it is the whole image; 100 by default.
      use_image_if_no_bounding_boxes: whether the image stands for a box if there is none.

    Returns:
      (begin, size, bboxes): [y, x, 0] and [height, width, -1] for tf.slice, and the part as a box, [1, 1, 4].
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return ops.sample_distorted_bounding_box_v2(
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed,
            seed2=seed2,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
            name=name,
        )


def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    """The pixels of a PNG file, [height, width, channels].

    Args:
      contents: a string scalar: what the file holds.
      channels: 1 for gray, 3 for RGB, 4 for RGBA, 0 for what the file has.
      dtype: uint8 or uint16.

    Raises:
      At run time tf.errors.InvalidArgumentError for a file that is damaged or none.
    """
    return ops.decode_png(contents, channels=channels, dtype=dtype, name=name)


def decode_jpeg(
    contents, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1,
    dct_method="", name=None,
):  # fmt: skip
    """The pixels of a JPEG file, uint8 [height, width, channels]; needs the extra `images`.

    Args:
      contents: a string scalar: what the file holds.
      channels: 1 for gray, 3 for RGB, 0 for what the file has.
      ratio: 1, 2, 4 or 8: how many times smaller the image is to be.
      fancy_upscaling: whether colors are made smooth, which is slower.
      try_recover_truncated: whether a file that is cut off gives as much as it has.
      acceptable_fraction: accepted.
      dct_method: "INTEGER_FAST", "INTEGER_ACCURATE", or "" for the first.

    Raises:
      At run time tf.errors.InvalidArgumentError for a file that is damaged or none, UnimplementedError without
      the extra.
    """
    return ops.decode_jpeg(
        contents, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction, dct_method=dct_method,
        name=name,
    )  # fmt: skip


def decode_and_crop_jpeg(
    contents, crop_window, channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False,
    acceptable_fraction=1, dct_method="", name=None,
):  # fmt: skip
    """The part of a JPEG file's pixels that `crop_window` names: [top, left, height, width]; see decode_jpeg."""
    return ops.decode_and_crop_jpeg(
        contents, crop_window, channels=channels, ratio=ratio, fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated, acceptable_fraction=acceptable_fraction, dct_method=dct_method,
        name=name,
    )  # fmt: skip


def decode_gif(contents, name=None):
    """The frames of a GIF file, uint8 [frames, height, width, 3]; needs the extra `images`."""
    return ops.decode_gif(contents, name=name)


def decode_bmp(contents, channels=0, name=None):
    """The pixels of a BMP file, uint8 [height, width, channels]; `channels` must be 0 or what the file has."""
    return ops.decode_bmp(contents, channels=channels, name=name)


def encode_png(image, compression=-1, name=None):
    """An image, uint8 or uint16 [height, width, 1 to 4 channels], as a PNG file; zlib's level is `compression`."""
    return ops.encode_png(image, compression=compression, name=name)


def encode_jpeg(
    image, format="", quality=95, progressive=False, optimize_size=False, chroma_downsampling=True,
    density_unit="in", x_density=300, y_density=300, xmp_metadata="", name=None,
):  # fmt: skip
    """An image, uint8 [height, width, 1 or 3 channels], as a JPEG file; needs the extra `images`.

    Args:
      image: the pixels.
      format: "grayscale" or "rgb"; "" for what the channels say.
      quality: from 0 to 100.
      progressive, optimize_size: kinds of files that load step by step, and that are smaller.
      chroma_downsampling: whether colors have half the resolution.
      density_unit, x_density, y_density: how many pixels lie on an inch ("in") or centimeter ("cm").
      xmp_metadata: what the file says about the image.

    Raises:
      At run time tf.errors.InvalidArgumentError for other images, UnimplementedError without the extra.
    """
    return ops.encode_jpeg(
        image, format=format, quality=quality, progressive=progressive, optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling, density_unit=density_unit, x_density=x_density,
        y_density=y_density, xmp_metadata=xmp_metadata, name=name,
    )  # fmt: skip


def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None):
    """[height, width, channels] of a JPEG file, without decoding it."""
    return ops.extract_jpeg_shape(contents, output_type=output_type, name=name)


def is_jpeg(contents, name=None):
    """Whether a string begins as JPEG files do."""
    return image_decoding.is_jpeg(contents, name)


def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The pixels of a JPEG, PNG, GIF or BMP file, [height, width, channels], or [frames, height, width, 3] of a GIF.

    Args:
      contents: a string scalar: what the file holds.
      channels: how many there are to be; None or 0 for what the file has.
      dtype: the type of the pixels; see `convert_image_dtype`.
      expand_animations: whether to return all frames of a GIF rather than the first.

    Raises:
      ValueError: for a number of channels other than 0, 1, 3 and 4.
      At run time tf.errors.InvalidArgumentError for other files, damaged ones, or channels that a format has not.
    """
    return image_decoding.decode_image(contents, channels, dtype, name, expand_animations)


def adjust_jpeg_quality(image, jpeg_quality, name=None):
    """An image as it is after it was written as a JPEG file of that quality, from 0 to 100, and read again.

    Needs the extra `images`.
    """
    return image_decoding.adjust_jpeg_quality(image, jpeg_quality, name)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """adjust_jpeg_quality with a random quality, at least the first and below the second.

    Raises ValueError for bounds in the wrong order or not from 0 to 100.
    """
    return image_decoding.random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed)
