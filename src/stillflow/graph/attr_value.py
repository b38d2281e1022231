"""AttrValue: attributes of nodes as messages and as the plain values that nodes keep."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.graph import dtypes, tensor_proto
from stillflow.graph.function_call import FunctionCall
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_value import TensorValue


def set_message(proto, value):
    """Writes a plain value into an AttrValue."""
    if isinstance(value, (tuple, list)):
        proto.list.SetInParent()
        for item in value:
            _append(proto.list, item)
    elif isinstance(value, bool):
        proto.b = value
    elif isinstance(value, int):
        proto.i = value
    elif isinstance(value, float):
        proto.f = value
    elif isinstance(value, bytes):
        proto.s = value
    elif isinstance(value, dtypes.DType):
        proto.type = value.as_datatype_enum
    elif isinstance(value, TensorShape):
        proto.shape.CopyFrom(value.as_proto())
    elif isinstance(value, TensorValue):
        proto.tensor.CopyFrom(tensor_proto.to_message(value))
    elif isinstance(value, FunctionCall):
        _set_call(proto.func, value)
    else:
        raise TypeError(f"Not an attribute: {value!r}")


def _set_call(proto, call):
    """Writes a FunctionCall into a NameAttrList."""
    proto.name = call.name
    for key, value in call.attrs.items():
        set_message(proto.attr[key], value)


def _append(proto, item):
    if isinstance(item, bool):
        proto.b.append(item)
    elif isinstance(item, int):
        proto.i.append(item)
    elif isinstance(item, float):
        proto.f.append(item)
    elif isinstance(item, bytes):
        proto.s.append(item)
    elif isinstance(item, dtypes.DType):
        proto.type.append(item.as_datatype_enum)
    elif isinstance(item, TensorShape):
        proto.shape.append(item.as_proto())
    elif isinstance(item, TensorValue):
        proto.tensor.append(tensor_proto.to_message(item))
    elif isinstance(item, FunctionCall):
        _set_call(proto.func.add(), item)
    else:
        raise TypeError(f"Not an attribute: {item!r}")


def from_message(proto):
    """The plain value of an AttrValue. Raises ValueError for one without a value."""
    kind = proto.WhichOneof("value")
    if kind == "list":
        for name in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
            items = getattr(proto.list, name)
            if len(items):
                return tuple(_plain(name, item) for item in items)
        return ()
    if kind is None or kind == "placeholder":
        raise ValueError("AttrValue has no value")
    return _plain(kind, getattr(proto, kind))


def as_given_out(value):
    """A plain value as Operation.get_attr returns it: lists, and messages for shapes, tensors and functions."""
    if isinstance(value, tuple):
        return [as_given_out(item) for item in value]
    if isinstance(value, (TensorShape, TensorValue, FunctionCall)):
        proto = protobuf.message("AttrValue")()
        set_message(proto, value)
        return getattr(proto, proto.WhichOneof("value"))
    return value


def _plain(kind, value):
    if kind == "type":
        return dtypes.as_dtype(value)
    if kind == "shape":
        return TensorShape(value)
    if kind == "tensor":
        return tensor_proto.from_message(value)
    if kind == "func":
        return FunctionCall(value.name, {key: from_message(attr) for key, attr in value.attr.items()})
    return value
