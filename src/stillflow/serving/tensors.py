"""Tensors of requests: what "instances", "inputs" and "examples" in JSON mean."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import numpy as np

from stillflow.errors import InvalidArgumentError, UnimplementedError
from stillflow.graph import dtypes
from stillflow.serving.json_text import debug_text, type_name
from stillflow.serving.status import invalid, unimplemented

_RANGES = {
    dtypes.int8: (-(2**31), 2**31), dtypes.int16: (-(2**31), 2**31), dtypes.int32: (-(2**31), 2**31),
    dtypes.uint8: (-(2**31), 2**31), dtypes.int64: (-(2**63), 2**63), dtypes.uint32: (0, 2**32),
    dtypes.uint64: (0, 2**64),
}  # fmt: skip


def is_base64(value):
    """Whether a value is {"b64": text}, which means bytes."""
    return isinstance(value, dict) and value.keys() == {"b64"} and isinstance(value["b64"], str)


def bytes_of(value):
    """The bytes of a string of JSON, or of {"b64": text}."""
    if isinstance(value, str):
        try:
            return value.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            raise invalid("JSON Parse error: The surrogate pair in string is invalid. at offset: 0") from None
    if not is_base64(value):
        raise invalid(f"JSON Value: {debug_text(value)} not formatted correctly for base64 data")
    text = value["b64"].replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise invalid("Unable to base64 decode") from None


def _checked(value, dtype):
    """A value of JSON as one of the type."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if dtype == dtypes.string:
        if isinstance(value, (str, dict)):
            return bytes_of(value)
    elif isinstance(value, dict):
        pass
    elif dtype in (dtypes.float32, dtypes.float64):
        if is_number:
            return value
    elif dtype == dtypes.bool_:
        if isinstance(value, bool):
            return value
    elif dtype in _RANGES:
        low, high = _RANGES[dtype]
        if isinstance(value, int) and is_number and low <= value < high:
            return value
    else:
        raise unimplemented(f"Conversion of JSON Value: {debug_text(value)} to type: {dtype.name}")
    raise invalid(
        f"JSON Value: {debug_text(value)} Type: {type_name(value)} is not of expected type: "
        f"{'float' if dtype == dtypes.float32 else 'double' if dtype == dtypes.float64 else dtype.name}"
    )


def _shape_of(value):
    """The shape that the first elements of nested lists have."""
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return shape


def _fill(value, level, shape, dtype, found):
    if not isinstance(value, list):
        if level != len(shape):
            raise invalid(
                f"JSON Value: {debug_text(value)} found at incorrect level: {level + 1} in the JSON DOM. Expected at "
                f"level: {len(shape)}"
            )
        found.append(_checked(value, dtype))
        return
    if level >= len(shape):
        raise invalid(f"Encountered list at unexpected level: {level} expected < {len(shape)}")
    if len(value) != shape[level]:
        raise invalid(
            f"Encountered list at unexpected size: {len(value)} at level: {level} expected size: {shape[level]}"
        )
    for item in value:
        _fill(item, level + 1, shape, dtype, found)


def _flat(value, dtype):
    """(elements, shape) of nested lists."""
    found: list = []
    shape = _shape_of(value)
    _fill(value, 0, shape, dtype, found)
    return found, shape


def _array(elements, shape, dtype):
    # A number too large for its type becomes infinite, or wraps, as it does in a protocol buffer.
    with np.errstate(over="ignore"):
        kind = object if dtype == dtypes.string else np.float64 if dtype.is_floating else dtype.as_numpy_dtype
        if dtype in (dtypes.int8, dtypes.int16, dtypes.uint8):
            kind = np.int64
        array = np.empty(len(elements), kind)
        array[:] = elements
        return array.reshape(shape).astype(object if dtype == dtypes.string else dtype.as_numpy_dtype)


def predict_inputs(request, inputs):
    """({name: array}, whether rows were asked for) of a request for predictions.

    Args:
      request: the request, an object of JSON.
      inputs: {name: DType}, those of the signature.

    Raises InvalidArgumentError for a request that does not fit.
    """
    one_of_both = "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist "
    if "instances" in request:
        if "inputs" in request:
            raise invalid(f"JSON Value: {debug_text(request)} {one_of_both}")
        instances = request["instances"]
        if not isinstance(instances, list):
            raise invalid(f"JSON Value: {debug_text(request)} Expecting 'instances' to be an list/array")
        if not instances:
            raise invalid(f"JSON Value: {debug_text(request)} No values in 'instances' array")
        return _of_rows(instances, inputs), True
    if "inputs" in request:
        return _of_columns(request["inputs"], inputs), False
    raise invalid("Missing 'inputs' or 'instances' key")


class _Rows:
    """The elements of one input, gathered row by row."""

    def __init__(self, name, inputs):
        if name not in inputs:
            raise invalid(f"JSON object: does not have named input: {name}")
        self._dtype = inputs[name]
        self._elements: list = []
        self._first: Any = None  # (how many elements, shape) of the first row

    def add(self, value):
        elements, shape = _flat(value, self._dtype)
        if self._first is None:
            self._first = len(elements), shape
        elif self._first[0] != len(elements):
            raise invalid(f"Expecting tensor size: {self._first[0]} but got: {len(elements)}")
        elif self._first[1] != shape:
            raise invalid(f"Expecting shape {_spelled(self._first[1])} but got: {_spelled(shape)}")
        self._elements += elements

    def array(self, count):
        return _array(self._elements, [count, *self._first[1]], self._dtype)


def _spelled(shape):
    return f"[{','.join(map(str, shape))}]"


def _of_rows(instances, inputs):
    first = instances[0]
    if not isinstance(first, dict) and len(inputs) > 1:
        raise invalid(
            "instances is a plain list, but expecting list of objects as multiple input tensors required as per "
            "tensorinfo_map"
        )
    has_names = isinstance(first, dict) and not is_base64(first)
    rows: dict = {}
    for number, item in enumerate(instances):
        is_object = isinstance(item, dict) and not is_base64(item)
        if has_names and not is_object:
            raise invalid(f"Expecting object but got list at item {number} of input list")
        if is_object and not has_names:
            raise invalid(f"Expecting value/list but got object at item {number} of input list")
        for name, value in item.items() if has_names else [(next(iter(inputs)), item)]:
            try:
                if name not in rows:
                    rows[name] = _Rows(name, inputs)
                rows[name].add(value)
            except (InvalidArgumentError, UnimplementedError) as error:
                key = f" key: {name}" if has_names else ""
                kind = "Invalid argument" if isinstance(error, InvalidArgumentError) else "Unimplemented"
                raise invalid(
                    f"Failed to process element: {number}{key} of 'instances' list. Error: {kind}: {error.message}"
                ) from None
        if has_names and item.keys() != inputs.keys():
            raise invalid(
                f"Failed to process element: {number} of 'instances' list. JSON object: {debug_text(item)} keys must "
                f"be equal to: {','.join(sorted(inputs))}"
            )
    return {name: gathered.array(len(instances)) for name, gathered in rows.items()}


def _of_columns(values, inputs):
    if not isinstance(values, dict) or is_base64(values):
        if len(inputs) > 1:
            raise invalid(
                "inputs is a plain value/list, but expecting an object as multiple input tensors required as per "
                "tensorinfo_map"
            )
        values = {next(iter(inputs)): values}
    found = {}
    for name, dtype in inputs.items():
        if name not in values:
            raise invalid(f"Missing named input: {name} in 'inputs' object.")
        elements, shape = _flat(values[name], dtype)
        found[name] = _array(elements, shape, dtype)
    return found


def base64_text(value):
    """Bytes in base64."""
    return base64.b64encode(value).decode()
