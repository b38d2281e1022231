"""tf.* and tf.dtypes.*: conversions between element types."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes

__all__ = ["cast", "saturate_cast", "to_bfloat16", "to_double", "to_float", "to_int32", "to_int64"]


def cast(x, dtype, name=None):
    """A tensor, SparseTensor or IndexedSlices with elements of another type; floats are truncated to integers."""
    return ops.cast(x, dtype, name)


def saturate_cast(value, dtype, name=None):
    """`cast` that takes what does not fit to the nearest value that does."""
    return ops.saturate_cast(value, dtype, name)


def to_float(x, name="ToFloat"):
    """`x` as float32."""
    return ops.cast(x, dtypes.float32, name)


def to_double(x, name="ToDouble"):
    """`x` as float64."""
    return ops.cast(x, dtypes.float64, name)


def to_int32(x, name="ToInt32"):
    """`x` as int32."""
    return ops.cast(x, dtypes.int32, name)


def to_int64(x, name="ToInt64"):
    """`x` as int64."""
    return ops.cast(x, dtypes.int64, name)


def to_bfloat16(x, name="ToBFloat16"):
    """`x` as bfloat16."""
    return ops.cast(x, dtypes.bfloat16, name)
