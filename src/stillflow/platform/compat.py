"""tf.compat: text and bytes, and tf.compat.v1, which is tf."""

from __future__ import annotations

import contextlib
import datetime
import numbers
from collections import abc as collections_abc  # noqa: F401 - a name of TensorFlow's module

import numpy as np

from stillflow.names import public, public_module

public_module("python.util.compat")

# `import tensorflow.compat.v1` asks for a package.
__path__: list[str] = []

bytes_or_text_types = public("compat.bytes_or_text_types")((bytes, str))
integral_types = public("compat.integral_types")((numbers.Integral, np.integer))
real_types = public("compat.real_types")((numbers.Real, np.integer, np.floating))
complex_types = public("compat.complex_types")((numbers.Complex, np.number))

# What TensorFlow 1.15.5 was ready for, and what programs are in `forward_compatibility_horizon`, the innermost last.
_horizons = [datetime.date(2019, 8, 21)]


@public("compat.as_bytes")
def as_bytes(bytes_or_text, encoding="utf-8"):
    """Text, bytes or a bytearray as bytes. Raises TypeError for others."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, (bytes, bytearray)):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@public("compat.as_str", "compat.as_text")
def as_text(bytes_or_text, encoding="utf-8"):
    """Text or bytes as text. Raises TypeError for others."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


@public("compat.as_str_any")
def as_str_any(value):
    """Bytes decoded, anything else as str() has it."""
    return as_text(value) if isinstance(value, bytes) else str(value)


@public("compat.path_to_str")
def path_to_str(path):
    """A path object as a string; anything else as it is."""
    return as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


@public("compat.forward_compatible")
def forward_compatible(year, month, day):
    """Whether programs may be written that releases up to that day cannot read."""
    return datetime.date(year, month, day) < _horizons[-1]


@public("compat.forward_compatibility_horizon")
@contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    """A context in which `forward_compatible` answers as if releases up to that day could read what is new."""
    _horizons.append(datetime.date(year, month, day))
    try:
        yield
    finally:
        _horizons.pop()
