"""What layers use where they are not told otherwise: the type of weights, the order of an image's dimensions."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.names import public

_settings = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}


@public("keras.backend.floatx")
def floatx():
    """The name of the type of weights: "float16", "float32" or "float64"."""
    return _settings["floatx"]


@public("keras.backend.set_floatx")
def set_floatx(value):
    """Sets what `floatx` returns. Raises ValueError for another name than of these three types."""
    if value not in ("float16", "float32", "float64"):
        raise ValueError(f"Unknown floatx type: {value}")
    _settings["floatx"] = str(value)


@public("keras.backend.epsilon")
def epsilon():
    """A small number that is added to what may be 0 and is divided by."""
    return _settings["epsilon"]


@public("keras.backend.set_epsilon")
def set_epsilon(value):
    """Sets what `epsilon` returns."""
    _settings["epsilon"] = value


@public("keras.backend.image_data_format")
def image_data_format():
    """ "channels_last" or "channels_first": the order of an image's dimensions."""
    return _settings["image_data_format"]


@public("keras.backend.set_image_data_format")
def set_image_data_format(data_format):
    """Sets what `image_data_format` returns. Raises ValueError for anything but the two orders."""
    if data_format not in ("channels_last", "channels_first"):
        raise ValueError(f"Unknown data_format: {data_format}")
    _settings["image_data_format"] = str(data_format)


@public("keras.backend.cast_to_floatx")
def cast_to_floatx(x):
    """An array of the type `floatx`."""
    import numpy as np

    return np.asarray(x, dtype=dtypes.as_dtype(floatx()).as_numpy_dtype)
