"""TensorProto: constants in the encodings that TensorFlow writes and reads."""

from __future__ import annotations

import numpy as np

from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.tensor_value import TensorValue
from stillflow.names import public

# Types whose values go into `tensor_content` when there is more than one and none is left out.
_CONTENT_TYPES = frozenset(
    (
        dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8, dtypes.int64,
        dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32, dtypes.uint32, dtypes.uint64,
    )
)  # fmt: skip

_FIELDS = {
    dtypes.float32: "float_val", dtypes.float64: "double_val", dtypes.int32: "int_val", dtypes.uint8: "int_val",
    dtypes.uint16: "int_val", dtypes.int16: "int_val", dtypes.int8: "int_val", dtypes.qint8: "int_val",
    dtypes.quint8: "int_val", dtypes.qint16: "int_val", dtypes.quint16: "int_val", dtypes.qint32: "int_val",
    dtypes.string: "string_val", dtypes.complex64: "scomplex_val", dtypes.complex128: "dcomplex_val",
    dtypes.int64: "int64_val", dtypes.bool_: "bool_val", dtypes.float16: "half_val",
    dtypes.bfloat16: "half_val", dtypes.uint32: "uint32_val", dtypes.uint64: "uint64_val",
}  # fmt: skip


def to_message(value: TensorValue):
    """The TensorProto as TensorFlow's Python would write it."""
    proto = protobuf.message("TensorProto")()
    proto.dtype = value.dtype.as_datatype_enum
    proto.tensor_shape.SetInParent()
    for size in value.dims:
        proto.tensor_shape.dim.add().size = size
    count = value.element_count
    if value.dtype in _CONTENT_TYPES and len(value.values) == count and count > 1 and not value.is_listed:
        proto.tensor_content = value.values.tobytes()
    elif len(value.values):
        getattr(proto, _FIELDS[value.dtype]).extend(_field_items(value))
    return proto


def _field_items(value):
    if value.dtype.is_complex:
        return value.values.view(value.values.real.dtype).tolist()
    if value.dtype in (dtypes.float16, dtypes.bfloat16):
        return value.values.view(np.uint16).tolist()
    return value.values.tolist()


def from_message(proto) -> TensorValue:
    """The constant that a TensorProto holds. Raises ValueError for one that contradicts itself."""
    dtype = dtypes.as_dtype(proto.dtype)
    dims = [dim.size for dim in proto.tensor_shape.dim]
    if proto.tensor_shape.unknown_rank or any(size < 0 for size in dims):
        raise ValueError(f"Cannot parse tensor from proto: shape {dims} is not a shape")
    count = 1
    for size in dims:
        count *= size
        if count >= 2**63:
            raise ValueError(f"Cannot parse tensor from proto: shape {dims} is too large")
    if dtype not in _FIELDS:
        raise ValueError(f"Cannot parse tensor from proto: constants of type {dtype.name} cannot be read")
    if proto.tensor_content:
        values = _content(proto.tensor_content, dtype, count)
    else:
        values = _items(getattr(proto, _FIELDS[dtype]), dtype)[:count]
    return TensorValue(dtype, dims, values, is_listed=not proto.tensor_content)


def _content(content, dtype, count):
    if dtype is dtypes.string:
        raise ValueError("Cannot parse tensor from proto: strings in tensor_content")
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    if len(content) != count * numpy_type.itemsize:
        raise ValueError(f"Cannot parse tensor from proto: {len(content)} bytes for {count} elements of {dtype.name}")
    return np.frombuffer(content, numpy_type)


def _items(items, dtype):
    if dtype is dtypes.string:
        values = np.empty(len(items), object)
        values[:] = list(items)
        return values
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return np.array(items, np.int64).astype(np.uint16).view(dtype.as_numpy_dtype)
    if dtype.is_complex:
        half = np.float32 if dtype is dtypes.complex64 else np.float64
        return np.array(items[: len(items) // 2 * 2], half).view(dtype.as_numpy_dtype)
    if dtype is dtypes.bool_:
        return np.array(items, bool)
    if dtype.is_floating:
        return np.array(items, dtype.as_numpy_dtype)
    return np.array(items, np.uint64 if dtype.is_unsigned else np.int64).astype(dtype.as_numpy_dtype)


@public("contrib.util.make_ndarray")
@public("make_ndarray")
def make_ndarray(tensor):
    """The array that a TensorProto message holds; strings as objects of bytes.

    Raises ValueError for more values than elements.
    """
    value = from_message(tensor)
    numbers = 0 if tensor.tensor_content else len(getattr(tensor, _FIELDS[value.dtype]))
    listed = numbers // (2 if value.dtype.is_complex else 1)
    if listed > value.element_count:
        raise ValueError(f"Cannot parse tensor from proto: {listed} values for {value.element_count} elements")
    if not len(value.values) and value.dtype is not dtypes.string:
        return np.zeros(value.dims, value.values.dtype)  # takes memory when it is written to
    array = value.array()
    if len(value.values) == value.element_count:
        return array.copy()  # the values may be the message's own bytes
    array.flags.writeable = True
    return array
