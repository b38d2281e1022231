"""hann_window and hamming_window."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor


@public("signal.hann_window")
def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """0.5 - 0.5 cos(2 pi i / n), for i below `window_length`.

    Args:
      window_length: an integer scalar.
      periodic: whether n is an even length itself, and not the length less one.
      dtype: a floating-point type; others are a ValueError.
      name: of the nodes' scope.
    """
    return _raised_cosine(name, "hann_window", window_length, periodic, dtype, 0.5, 0.5)


@public("signal.hamming_window")
def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    """0.54 - 0.46 cos(2 pi i / n); see `hann_window`."""
    return _raised_cosine(name, "hamming_window", window_length, periodic, dtype, 0.54, 0.46)


def _raised_cosine(name, default_name, length, periodic, dtype, a, b):
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {dtype}")
    with name_scope(name, default_name, [length, periodic]):
        length = convert_to_tensor(length, dtype=dtypes.int32, name="window_length")
        length.shape.assert_has_rank(0)
        known_length = constant_value(length)
        if known_length == 1:
            return ops.ones([1], dtype=dtype)
        periodic = ops.cast(convert_to_tensor(periodic, dtype=dtypes.bool_, name="periodic"), dtypes.int32)
        periodic.shape.assert_has_rank(0)
        is_even = 1 - ops.floor_mod(length, 2)
        n = ops.cast(length + periodic * is_even - 1, dtype=dtype)
        positions = ops.cast(ops.range(length), dtype)
        angles = ops.constant(2 * math.pi, dtype=dtype) * positions / n

        def window():
            return ops.cast(a - b * ops.cos(angles), dtype=dtype)

        if known_length is not None:
            return window()
        return cond(ops.equal(length, 1), lambda: ops.ones([1], dtype=dtype), window)
