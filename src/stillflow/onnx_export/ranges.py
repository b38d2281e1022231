"""Between which bounds random numbers lie: dropout with nothing to drop compares them with one of these."""

from __future__ import annotations

import numpy as np

from stillflow.graph import shape_inference

_UNKNOWN = (-np.inf, np.inf)


def range_of(tensor):
    """(low, high), of which `high` is never reached: what uniform numbers times and plus constants are between."""
    op = tensor.op
    value = shape_inference.folded_value(tensor)
    if value is not None and np.size(value) == 1 and tensor.dtype.is_floating:
        return (float(value), float(value))
    if op.type == "RandomUniform":
        return (0.0, 1.0)
    if op.type not in ("Add", "AddV2", "Mul", "Sub"):
        return _UNKNOWN
    (low, high), (other_low, other_high) = range_of(op.inputs[0]), range_of(op.inputs[1])
    if not np.isfinite([low, high, other_low, other_high]).all():
        return _UNKNOWN
    if op.type == "Sub":
        return (low - other_high, high - other_low)
    if op.type == "Mul":
        return (low * other_low, high * other_high) if low >= 0 and other_low >= 0 else _UNKNOWN
    return (low + other_low, high + other_high)
