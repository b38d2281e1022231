"""Pictures as arrays, and as files. Needs Pillow."""

from __future__ import annotations

import io
import warnings

import numpy as np

from stillflow.layers.core.settings import floatx, image_data_format
from stillflow.names import public

FORMATS = ("png", "jpg", "jpeg", "bmp", "ppm", "tif", "tiff")
_INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "hamming", "box", "lanczos")


def _pillow(function):
    """PIL.Image. Raises ImportError without Pillow."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(f"Could not import PIL.Image. The use of `{function}` requires PIL.") from None
    return Image


@public("keras.preprocessing.image.array_to_img")
def array_to_img(x, data_format=None, scale=True, dtype=None):
    """A Pillow image of an array of three dimensions, with 1, 3 or 4 channels.

    Args:
      x: the array.
      data_format: "channels_last" or "channels_first".
      scale: whether the least element becomes 0 and the greatest 255.
      dtype: the type to compute in; `floatx` by default.

    Raises:
      ImportError: without Pillow.
      ValueError: for another rank, number of channels or format.
    """
    image = _pillow("array_to_img")
    x = np.asarray(x, dtype=dtype or floatx())
    data_format = data_format or image_data_format()
    if x.ndim != 3:
        raise ValueError(f"Expected image array to have rank 3 (single image). Got array with shape: {x.shape}")
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Invalid data_format: {data_format}")
    if data_format == "channels_first":
        x = x.transpose(1, 2, 0)
    if scale:
        x = x - np.min(x)
        greatest = np.max(x)
        if greatest != 0:
            x /= greatest
        x *= 255
    channels = x.shape[2]
    if channels in (3, 4):
        return image.fromarray(x.astype("uint8"))
    if channels != 1:
        raise ValueError(f"Unsupported channel number: {channels}")
    return image.fromarray(x[:, :, 0].astype("int32" if np.max(x) > 255 else "uint8"))


@public("keras.preprocessing.image.img_to_array")
def img_to_array(img, data_format=None, dtype=None):
    """An array of three dimensions of a Pillow image.

    Args:
      img: the image.
      data_format: "channels_last" or "channels_first".
      dtype: the array's type; `floatx` by default.

    Raises:
      ValueError: for another format, or what is no image.
    """
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    x = np.asarray(img, dtype=dtype or floatx())
    if x.ndim not in (2, 3):
        raise ValueError(f"Unsupported image shape: {x.shape}")
    x = x if x.ndim == 3 else x[:, :, np.newaxis]
    return x.transpose(2, 0, 1) if data_format == "channels_first" else x


@public("keras.preprocessing.image.save_img")
def save_img(path, x, data_format=None, file_format=None, scale=True, **kwargs):
    """Writes an array as a picture.

    Args:
      path: the file.
      x, data_format, scale: see `array_to_img`.
      file_format: the format; by default that of the file's name.
      kwargs: further arguments of Pillow's `Image.save`.
    """
    picture = array_to_img(x, data_format=data_format, scale=scale)
    if picture.mode == "RGBA" and file_format in ("jpg", "jpeg"):
        warnings.warn("The JPG format does not support RGBA images, converting to RGB.", stacklevel=2)
        picture = picture.convert("RGB")
    picture.save(path, format=file_format, **kwargs)


@public("keras.preprocessing.image.load_img")
def load_img(path, grayscale=False, color_mode="rgb", target_size=None, interpolation="nearest"):
    """A Pillow image of a file.

    Args:
      path: the file.
      grayscale: the old spelling of color_mode="grayscale".
      color_mode: "grayscale", "rgb" or "rgba".
      target_size: (height, width), or None for its own.
      interpolation: how it is resized: "nearest", "bilinear", "bicubic", "lanczos", "box" or "hamming".

    Raises:
      ImportError: without Pillow.
      ValueError: for another mode or interpolation.
    """
    image = _pillow("load_img")
    if grayscale is True:
        warnings.warn('grayscale is deprecated. Please use color_mode = "grayscale"', stacklevel=2)
        color_mode = "grayscale"
    with open(path, "rb") as file:
        picture = image.open(io.BytesIO(file.read()))
    modes = {"grayscale": ("L", "I;16", "I"), "rgba": ("RGBA",), "rgb": ("RGB",)}
    if color_mode not in modes:
        raise ValueError('color_mode must be "grayscale", "rgb", or "rgba"')
    if picture.mode not in modes[color_mode]:
        picture = picture.convert(modes[color_mode][0])
    if target_size is not None and picture.size != (target_size[1], target_size[0]):
        if interpolation not in _INTERPOLATIONS:
            raise ValueError(
                f"Invalid interpolation method {interpolation} specified. Supported methods are "
                f"{', '.join(_INTERPOLATIONS)}"
            )
        picture = picture.resize((target_size[1], target_size[0]), image.Resampling[interpolation.upper()])
    return picture
