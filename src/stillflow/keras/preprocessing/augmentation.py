"""Pictures turned, moved, sheared, enlarged, and made brighter, at random. Needs SciPy."""

from __future__ import annotations

import numpy as np

from stillflow.keras.preprocessing.pictures import array_to_img, img_to_array
from stillflow.names import public


def flip_axis(x, axis):
    """x in the opposite order along an axis."""
    return np.flip(np.asarray(x), axis)


def _affine_matrix(theta, tx, ty, shear, zx, zy):
    """The product of rotation, shift, shear and zoom; None if there is nothing to do."""
    matrices = []
    if theta != 0:
        theta = np.deg2rad(theta)
        matrices.append([[np.cos(theta), -np.sin(theta), 0], [np.sin(theta), np.cos(theta), 0], [0, 0, 1]])
    if tx != 0 or ty != 0:
        matrices.append([[1, 0, tx], [0, 1, ty], [0, 0, 1]])
    if shear != 0:
        shear = np.deg2rad(shear)
        matrices.append([[1, -np.sin(shear), 0], [0, np.cos(shear), 0], [0, 0, 1]])
    if zx != 1 or zy != 1:
        matrices.append([[zx, 0, 0], [0, zy, 0], [0, 0, 1]])
    product = None
    for matrix in matrices:
        product = np.array(matrix) if product is None else np.dot(product, np.array(matrix))
    return product


@public("keras.preprocessing.image.apply_affine_transform")
def apply_affine_transform(
    x, theta=0, tx=0, ty=0, shear=0, zx=1, zy=1, row_axis=0, col_axis=1, channel_axis=2, fill_mode="nearest",
    cval=0.0, order=1,
):  # fmt: skip
    """A picture turned, moved, sheared and enlarged about its middle.

    Args:
      x: an array of three dimensions.
      theta, shear: angles in degrees.
      tx, ty: how many pixels to move along rows and columns.
      zx, zy: factors of zoom; less than 1 enlarges.
      row_axis, col_axis, channel_axis: the axes.
      fill_mode: what is beyond the border: "constant", "nearest", "reflect" or "wrap".
      cval: the value beyond the border, for "constant".
      order: the order of interpolation.

    Raises:
      ImportError: without SciPy.
    """
    try:
        from scipy import ndimage
    except ImportError:
        raise ImportError("Image transformations require SciPy. Install SciPy.") from None
    matrix = _affine_matrix(theta, tx, ty, shear, zx, zy)
    if matrix is None:
        return x
    middle = [float(x.shape[axis]) / 2 + 0.5 for axis in (row_axis, col_axis)]
    there, back = np.eye(3), np.eye(3)
    there[:2, 2], back[:2, 2] = middle, [-value for value in middle]
    matrix = np.dot(np.dot(there, matrix), back)
    channels = [
        ndimage.affine_transform(channel, matrix[:2, :2], matrix[:2, 2], order=order, mode=fill_mode, cval=cval)
        for channel in np.rollaxis(x, channel_axis, 0)
    ]
    return np.rollaxis(np.stack(channels, axis=0), 0, channel_axis + 1)


@public("keras.preprocessing.image.random_rotation")
def random_rotation(
    x, rg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1
):
    """A picture turned by up to `rg` degrees; see `apply_affine_transform`."""
    theta = np.random.uniform(-rg, rg)
    return apply_affine_transform(
        x, theta=theta, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order
    )


@public("keras.preprocessing.image.random_shift")
def random_shift(
    x, wrg, hrg, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1
):
    """A picture moved by up to the shares `wrg` of its width and `hrg` of its height."""
    tx = np.random.uniform(-hrg, hrg) * x.shape[row_axis]
    ty = np.random.uniform(-wrg, wrg) * x.shape[col_axis]
    return apply_affine_transform(
        x, tx=tx, ty=ty, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order
    )


@public("keras.preprocessing.image.random_shear")
def random_shear(
    x, intensity, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1
):
    """A picture sheared by up to `intensity` degrees; see `apply_affine_transform`."""
    shear = np.random.uniform(-intensity, intensity)
    return apply_affine_transform(
        x, shear=shear, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order
    )


@public("keras.preprocessing.image.random_zoom")
def random_zoom(
    x, zoom_range, row_axis=1, col_axis=2, channel_axis=0, fill_mode="nearest", cval=0.0, interpolation_order=1
):
    """A picture zoomed by factors between two numbers. Raises ValueError unless there are two."""
    if len(zoom_range) != 2:
        raise ValueError(f"`zoom_range` should be a tuple or list of two floats. Received: {zoom_range}")
    zx, zy = (1, 1) if tuple(zoom_range) == (1, 1) else np.random.uniform(zoom_range[0], zoom_range[1], 2)
    return apply_affine_transform(
        x, zx=zx, zy=zy, channel_axis=channel_axis, fill_mode=fill_mode, cval=cval, order=interpolation_order
    )


@public("keras.preprocessing.image.apply_channel_shift")
def apply_channel_shift(x, intensity, channel_axis=0):
    """A picture with a number added to all of it, within its least and greatest."""
    x = np.rollaxis(x, channel_axis, 0)
    shifted = np.clip(x + intensity, np.min(x), np.max(x))
    return np.rollaxis(shifted, 0, channel_axis + 1)


@public("keras.preprocessing.image.random_channel_shift")
def random_channel_shift(x, intensity_range, channel_axis=0):
    """A picture with a number of up to `intensity_range` added to all of it, within its least and greatest."""
    intensity = np.random.uniform(-intensity_range, intensity_range)
    return apply_channel_shift(x, intensity, channel_axis=channel_axis)


@public("keras.preprocessing.image.apply_brightness_shift")
def apply_brightness_shift(x, brightness):
    """A picture made brighter by a factor. Raises ImportError without Pillow."""
    try:
        from PIL import ImageEnhance
    except ImportError:
        raise ImportError("Using brightness shifts requires PIL. Install PIL or Pillow.") from None
    return img_to_array(ImageEnhance.Brightness(array_to_img(x)).enhance(brightness))


@public("keras.preprocessing.image.random_brightness")
def random_brightness(x, brightness_range):
    """A picture made brighter by a factor between two numbers. Raises ValueError unless there are two."""
    if len(brightness_range) != 2:
        raise ValueError(f"`brightness_range should be tuple or list of two floats. Received: {brightness_range}")
    return apply_brightness_shift(x, np.random.uniform(brightness_range[0], brightness_range[1]))
