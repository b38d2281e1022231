"""What modules of generated messages offer, tensorflow.core.framework.graph_pb2 and its kin."""

from __future__ import annotations

from stillflow.formats import protobuf


def find(name: str):
    """A message, an enum, or the value of an enum, by its name in a module. Raises KeyError if there is none."""
    try:
        return protobuf.message(name)
    except KeyError:
        pass
    for file in protobuf.files():
        enum = file.enum_types_by_name.get(name)
        if enum is not None:
            from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

            return EnumTypeWrapper(enum)
        for enum in file.enum_types_by_name.values():
            if name in enum.values_by_name:
                return enum.values_by_name[name].number
    raise KeyError(name)
