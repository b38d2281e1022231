"""scipy.misc as it was before scipy 1.2: images as arrays, over Pillow, and functions that scipy has moved.

Old programs read, resize and write their images with it. What the functions do is in scipy 1.1's reference.
"""

from __future__ import annotations

import importlib

import numpy as np

_FILTERS = {
    "nearest": "NEAREST",
    "lanczos": "LANCZOS",
    "bilinear": "BILINEAR",
    "bicubic": "BICUBIC",
    "cubic": "BICUBIC",
}
_MOVED = {
    **dict.fromkeys(("comb", "factorial", "factorial2", "factorialk", "logsumexp"), "scipy.special"),
    **dict.fromkeys(("ascent", "electrocardiogram", "face"), "scipy.datasets"),
}  # fmt: skip


def __getattr__(name):
    if name in _MOVED:
        return getattr(importlib.import_module(_MOVED[name]), name)
    raise AttributeError(f"module 'scipy.misc' has no attribute {name!r}")


def _pillow():
    return importlib.import_module("PIL.Image")


def bytescale(data, cmin=None, cmax=None, high=255, low=0):
    """Numbers from `cmin` to `cmax`, by default their own smallest and largest, as uint8 from `low` to `high`.

    Args:
      data: an array of numbers; one of uint8 stays as it is.
      cmin, cmax: what becomes `low` and `high`.
      high, low: from 0 to 255.

    Raises ValueError for limits out of range or order.
    """
    if data.dtype == np.uint8:
        return data
    if high > 255:
        raise ValueError("`high` should be less than or equal to 255.")
    if low < 0:
        raise ValueError("`low` should be greater than or equal to 0.")
    if high < low:
        raise ValueError("`high` should be greater than or equal to `low`.")
    cmin = data.min() if cmin is None else cmin
    cmax = data.max() if cmax is None else cmax
    span = cmax - cmin
    if span < 0:
        raise ValueError("`cmax` should be larger than `cmin`.")
    scaled = (data - cmin) * (float(high - low) / (span or 1)) + low
    return (scaled.clip(low, high) + 0.5).astype(np.uint8)


def toimage(arr, high=255, low=0, cmin=None, cmax=None, pal=None, mode=None, channel_axis=None):
    """A Pillow image of an array, [rows, columns] or with an axis of 3 or 4 channels.

    Args:
      arr: the array.
      high, low, cmin, cmax: as for `bytescale`.
      pal: [256, 3] or fewer colors of uint8, for mode "P".
      mode: Pillow's; by default L, RGB or RGBA as the shape says.
      channel_axis: where the channels are; by default the first axis of 3 or, without one, of 4.

    Raises ValueError for arrays that are no images, and modes that do not fit.
    """
    data = np.asarray(arr)
    if np.iscomplexobj(data):
        raise ValueError("Cannot convert a complex-valued array.")
    if data.ndim == 2:
        return _grey_image(data, high, low, cmin, cmax, pal, mode)
    if data.ndim != 3 or not {3, 4} & set(data.shape):
        raise ValueError("'arr' does not have a suitable array shape for any mode.")
    axis = channel_axis
    if axis is None:
        axis = data.shape.index(3 if 3 in data.shape else 4)
    count = data.shape[axis]
    if count not in (3, 4):
        raise ValueError("Channel axis dimension is not valid.")
    wanted = mode or ("RGB" if count == 3 else "RGBA")
    if wanted not in ("RGB", "RGBA", "YCbCr", "CMYK"):
        raise ValueError("Mode is unknown or incompatible with input array shape.")
    if (3 if wanted in ("RGB", "YCbCr") else 4) != count:
        raise ValueError("Invalid array shape for mode.")
    channels_last = np.moveaxis(bytescale(data, cmin, cmax, high, low), axis, -1)
    rows, columns = channels_last.shape[:2]
    return _pillow().frombytes(wanted, (columns, rows), channels_last.tobytes())


def _grey_image(data, high, low, cmin, cmax, pal, mode):
    size = data.shape[::-1]
    image = _pillow()
    if mode == "F":
        return image.frombytes(mode, size, data.astype(np.float32).tobytes())
    if mode == "1":
        return image.fromarray(data > high).convert("1")
    if mode == "I":
        cmin, cmax = data.min() if cmin is None else cmin, data.max() if cmax is None else cmax
        scaled = (data * 1.0 - cmin) * (high - low) / (cmax - cmin) + low
        return image.frombytes(mode, size, scaled.astype(np.int32).tobytes())
    if mode not in (None, "L", "P"):
        raise ValueError("Mode is unknown or incompatible with input array shape.")
    made = image.frombytes("L", size, bytescale(data, cmin, cmax, high, low).tobytes())
    if mode == "P" or pal is not None:
        colors = (
            np.repeat(np.arange(256, dtype=np.uint8)[:, None], 3, 1) if pal is None else np.asarray(pal, np.uint8)
        )
        made.putpalette(colors.tobytes())
    return made


def fromimage(im, flatten=False, mode=None):
    """The array of a Pillow image.

    Args:
      im: the image.
      flatten: whether colors become float32 grey values.
      mode: what to convert it to first.

    Raises TypeError for anything else.
    """
    if not isinstance(im, _pillow().Image):
        raise TypeError("Input is not a PIL image.")
    if mode is not None:
        im = im if im.mode == mode else im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name, flatten=False, mode=None):
    """The image in a file, [rows, columns] or [rows, columns, channels]; see `fromimage`."""
    return fromimage(_pillow().open(name), flatten=flatten, mode=mode)


def imsave(name, arr, format=None):
    """Writes an array as an image, scaled as `bytescale` does; channels are last.

    Args:
      name: a path or file.
      arr: [rows, columns] or [rows, columns, 3 or 4].
      format: what kind of file; by default what the name ends with says.
    """
    toimage(arr, channel_axis=2).save(name, *(() if format is None else (format,)))


def imshow(arr):
    """Shows an array as an image, in the viewer that Pillow finds."""
    toimage(arr).show()


def imresize(arr, size, interp="bilinear", mode=None):
    """An array as an image of another size: uint8, scaled as `bytescale` does.

    Args:
      arr: as for `toimage`.
      size: an integer, percent; a float, a factor; or (rows, columns).
      interp: nearest, lanczos, bilinear, bicubic or cubic.
      mode: as for `toimage`.
    """
    im = toimage(arr, mode=mode)
    kind = np.asarray(size).dtype.kind
    if kind in "iu" and np.ndim(size) == 0:
        size = tuple((np.array(im.size) * (size / 100.0)).astype(int))
    elif kind == "f" and np.ndim(size) == 0:
        size = tuple((np.array(im.size) * size).astype(int))
    else:
        size = (size[1], size[0])
    return fromimage(im.resize(tuple(map(int, size)), resample=getattr(_pillow().Resampling, _FILTERS[interp])))


def imrotate(arr, angle, interp="bilinear"):
    """An array as an image that is turned counter-clockwise by `angle` degrees; see `imresize`."""
    return fromimage(toimage(arr).rotate(angle, resample=getattr(_pillow().Resampling, _FILTERS[interp])))
