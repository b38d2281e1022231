"""StructureCoder: nested structures of plain values, shapes, types and specifications as StructuredValue messages."""

from __future__ import annotations

import collections
from typing import Any

from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec
from stillflow.names import public


@public("python.saved_model.nested_structure_coder.NotEncodableError")
class NotEncodableError(Exception):
    """A structure has something in it that no message can be made of."""


@public("python.saved_model.nested_structure_coder.StructureCoder")
class StructureCoder:
    """Makes messages of structures, and structures of messages.

    A namedtuple comes back as one of another class with the same name and fields.
    """

    def encode_structure(self, nested_structure):
        """The StructuredValue message of lists, tuples, namedtuples and dicts of: None, bool, int, float, str,
        TensorShape, DType, TensorSpec and other specifications.

        Raises NotEncodableError for anything else.
        """
        message = protobuf.message("StructuredValue")()
        _fill(message, nested_structure)
        return message

    def can_encode(self, nested_structure):
        """Whether `encode_structure` accepts it."""
        try:
            self.encode_structure(nested_structure)
        except NotEncodableError:
            return False
        return True

    def decode_proto(self, proto):
        """The structure of a StructuredValue message.

        Raises:
          NotEncodableError: if there is nothing in it.
          ValueError: for a specification of a class that is not known.
        """
        kind = proto.WhichOneof("kind")
        if kind not in _DECODERS:
            raise NotEncodableError(f"No encoder for object [{proto}] of type [{type(proto)}].")
        return _DECODERS[kind](getattr(proto, kind), self.decode_proto)


def _is_named_tuple(value):
    names = getattr(value, "_fields", None)
    return isinstance(value, tuple) and names is not None and all(isinstance(name, str) for name in names)


# ---- Encoding -------------------------------------------------------------------------------------------------


def _fill(message, value):
    for kind, field in _PLAIN:
        if isinstance(value, kind):
            setattr(message, field, value)
            return
    if value is None:
        message.none_value.SetInParent()
    elif isinstance(value, list):
        _fill_items(message.list_value, value)
    elif _is_named_tuple(value):
        message.named_tuple_value.name = type(value).__name__
        for name in value._fields:
            pair = message.named_tuple_value.values.add(key=name)
            _fill(pair.value, getattr(value, name))
    elif isinstance(value, tuple):
        _fill_items(message.tuple_value, value)
    elif isinstance(value, dict):
        message.dict_value.SetInParent()
        for key, item in value.items():
            _fill(message.dict_value.fields[key], item)
    elif isinstance(value, TensorShape):
        message.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, dtypes.DType):
        message.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, TensorSpec):
        spec = message.tensor_spec_value
        spec.shape.CopyFrom(value.shape.as_proto())
        spec.dtype = value.dtype.as_datatype_enum
        spec.name = value.name or ""
    elif isinstance(value, TypeSpec) and value.has_messages():
        spec = message.type_spec_value
        spec.type_spec_class = protobuf.enum("TypeSpecProto.TypeSpecClass")[value.CLASS_IN_MESSAGES]
        spec.type_spec_class_name = type(value).__name__
        _fill(spec.type_state, value._serialize())
    else:
        raise NotEncodableError(f"No encoder for object [{value}] of type [{type(value)}].")


# In this order: a bool is an int, too.
_PLAIN = ((bool, "bool_value"), (float, "float64_value"), (int, "int64_value"), (str, "string_value"))


def _fill_items(message, values):
    message.SetInParent()
    for value in values:
        _fill(message.values.add(), value)


# ---- Decoding -------------------------------------------------------------------------------------------------


def _plain(value, decode):
    return value


def _named_tuple(value, decode):
    items = {pair.key: decode(pair.value) for pair in value.values}
    return collections.namedtuple(value.name, items)(**items)


def _tensor_spec(value, decode):
    return TensorSpec(TensorShape(value.shape), dtypes.as_dtype(value.dtype), value.name or None)


def _type_spec(value, decode):
    names = {number: name for name, number in protobuf.enum("TypeSpecProto.TypeSpecClass").items()}
    kind = TypeSpec.of_messages(names.get(value.type_spec_class))
    if kind is None:
        raise ValueError(
            f"The type '{value.type_spec_class_name}' is not supported by this version of TensorFlow. (The object "
            "you are loading must have been created with a newer version of TensorFlow.)"
        )
    return kind._deserialize(decode(value.type_state))


_DECODERS: dict[str, Any] = {
    "none_value": lambda value, decode: None,
    "float64_value": _plain,
    "int64_value": _plain,
    "string_value": _plain,
    "bool_value": _plain,
    "tensor_shape_value": lambda value, decode: TensorShape(value),
    "tensor_dtype_value": lambda value, decode: dtypes.as_dtype(value),
    "tensor_spec_value": _tensor_spec,
    "type_spec_value": _type_spec,
    "list_value": lambda value, decode: [decode(item) for item in value.values],
    "tuple_value": lambda value, decode: tuple(decode(item) for item in value.values),
    "dict_value": lambda value, decode: {key: decode(item) for key, item in value.fields.items()},
    "named_tuple_value": _named_tuple,
}
