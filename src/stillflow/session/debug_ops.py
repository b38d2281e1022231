"""Debug ops: what a watch writes of a tensor. DebugIdentity, DebugNanCount, DebugNumericSummary."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stillflow import errors
from stillflow.graph import dtypes

_INTEGERS = (dtypes.int64, dtypes.int32, dtypes.uint16, dtypes.int16, dtypes.uint8, dtypes.int8)
_SUMMARIZED = (dtypes.bool_, *_INTEGERS, dtypes.float32, dtypes.float64)
_COUNTED = (*_INTEGERS, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)

# {op: (dtypes that have a kernel, or None for all, attributes with their defaults)}
_OPS: dict = {
    "DebugIdentity": (None, {"gated_grpc": False}),
    "DebugNanCount": (_COUNTED, {"gated_grpc": False}),
    "DebugNumericSummary": (
        _SUMMARIZED,
        {"lower_bound": -math.inf, "upper_bound": math.inf, "mute_if_healthy": False, "gated_grpc": False},
    ),
}
_OF_OTHER_TYPES = {"T": "type", "debug_urls": "list(string)"}


class Unmade(Exception):
    """A debug op cannot be made; says why."""


@dataclass(frozen=True)
class DebugOp:
    """One debug op on one tensor, with its attributes; `is_made` is false for one whose failure is tolerated."""

    name: str
    attrs: dict
    is_made: bool = True


def parse(text):
    """The name of a debug op, and its attributes as text, from "name(key=value; key=value)". Raises Unmade."""
    name, bracket, rest = text.partition("(")
    if not bracket and ")" not in text:
        return text, {}
    malformed = Unmade(f'Malformed debug op name "{text}"')
    if not bracket or not name or ")" in rest[:-1] or rest[-1:] != ")":
        raise malformed
    attrs: dict = {}
    for part in rest[:-1].split(";"):
        if not part.strip():
            continue
        key, equals, value = part.strip().partition("=")
        if not equals or not key or not value:
            raise Unmade(f'Malformed attributes in debug op name "{text}"')
        if key in attrs:
            raise Unmade(f'Duplicate attribute name "{key}" found in the debug op: "{text}"')
        attrs[key] = value
    return name, attrs


def make(text, index, dtype, label):
    """The debug op number `index` on the tensor `label`, for its text in a watch. Raises Unmade."""
    name, given = parse(text)
    if name not in _OPS:
        raise Unmade(f"Failed to create node definition for debug op {name} on watched tensor {label}")
    kinds, attrs = _OPS[name]
    if kinds is not None and dtype.base_dtype not in kinds:
        raise Unmade(f"Failed to find kernel definition for debug op {name} on watched tensor {label}")
    node = f"__dbg_{label}_{index}_{name}"
    attrs = dict(attrs)
    unknown = []
    for key, value in given.items():
        if key in attrs:
            attrs[key] = _attribute(key, attrs[key], value, node)
        elif key in _OF_OTHER_TYPES:
            raise Unmade(f"Unsupported type of custom attribute for debug ops: {_OF_OTHER_TYPES[key]}")
        elif key not in ("device_name", "tensor_name"):  # of every debug op; the tensor says what they are
            unknown.append(key)
    if unknown:
        raise Unmade(f"{len(unknown)} attribute key(s) were not valid for debug node {node}: {', '.join(unknown)}")
    return DebugOp(name, attrs)


def _attribute(key, default, text, node):
    if isinstance(default, bool):
        try:
            return truth(text)
        except ValueError:
            raise Unmade(
                f'Invalid value string for bool-type attribute {key}of debug node {node}: "{text}"'
            ) from None
    try:
        return float(np.float32(text))
    except ValueError:
        raise Unmade(f'Invalid value string for float-type attribute {key}of debug node {node}: "{text}"') from None


def truth(text):
    """What a text says of a bool. Raises ValueError if it says nothing."""
    if text.lower() in ("true", "t", "1"):
        return True
    if text.lower() in ("false", "f", "0"):
        return False
    raise ValueError(text)


def apply(op, value, dims, dtype):
    """What `op` writes: an array, or None for nothing.

    Args:
      op: a DebugOp.
      value: the array, or None if the tensor has no value yet.
      dims: the shape that it has all the same.
      dtype: the tensor's.
    """
    if op.name == "DebugNanCount":
        has_nans = value is not None and value.dtype.kind not in "iu"
        return np.array([np.count_nonzero(np.isnan(value)) if has_nans else 0], np.int64)
    if op.name == "DebugNumericSummary":
        return _summary(op.attrs, value, dims, dtype)
    raise errors.InternalError(None, None, f"{op.name} writes the tensor itself")


def _summary(attrs, value, dims, dtype):
    summary = np.zeros(14 + len(dims))
    summary[8:12] = math.inf, -math.inf, math.nan, math.nan
    summary[12:] = dtype.base_dtype.as_datatype_enum, len(dims), *dims
    if value is not None:
        numbers = np.asarray(value, np.float64).ravel()
        finite = numbers[np.isfinite(numbers)]
        lower, upper = attrs["lower_bound"], attrs["upper_bound"]
        is_low = np.zeros(finite.shape, bool) if math.isinf(lower) else finite <= lower
        is_high = np.zeros(finite.shape, bool) if math.isinf(upper) else (finite >= upper) & ~is_low
        within = finite[~is_low & ~is_high]
        summary[:8] = (
            1, numbers.size, np.count_nonzero(np.isnan(numbers)),
            np.count_nonzero(numbers == -math.inf) + np.count_nonzero(is_low), np.count_nonzero(within < 0),
            np.count_nonzero(within == 0), np.count_nonzero(within > 0),
            np.count_nonzero(numbers == math.inf) + np.count_nonzero(is_high),
        )  # fmt: skip
        if finite.size:
            mean = _sum(finite) / finite.size
            summary[8:12] = finite.min(), finite.max(), mean, _sum((finite - mean) ** 2) / finite.size
    is_healthy = not (summary[2] or summary[3] or summary[7])
    return None if attrs["mute_if_healthy"] and is_healthy else summary


def _sum(numbers):
    """The sum from the first to the last, as TensorFlow's kernel has it."""
    return np.add.accumulate(numbers)[-1]
