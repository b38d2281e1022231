"""TensorFlow's protobuf messages, made from one descriptor file in a pool of our own.

Nothing here clashes with a TensorFlow that is imported in the same process, and the file works with every
protobuf release since 4.25. Loaded when a message is first asked for.
"""

from __future__ import annotations

import functools
from pathlib import Path


@functools.cache
def pool():
    from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, wrappers_pb2

    found = descriptor_pool.DescriptorPool()
    for module in (any_pb2, wrappers_pb2):
        found.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    content = (Path(__file__).parent / "messages.binpb").read_bytes()
    for file in descriptor_pb2.FileDescriptorSet.FromString(content).file:
        found.AddSerializedFile(file.SerializeToString())
    return found


@functools.cache
def message(name: str):
    """The class of a message, such as "GraphDef" or "AttrValue.ListValue". KeyError if there is none."""
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(pool().FindMessageTypeByName(f"tensorflow.{name}"))


def packed(proto):
    """An Any message with another message in it."""
    from google.protobuf import message_factory

    kind = message_factory.GetMessageClass(pool().FindMessageTypeByName("google.protobuf.Any"))
    return kind(type_url=f"type.googleapis.com/{proto.DESCRIPTOR.full_name}", value=to_bytes(proto))


@functools.cache
def enum(name: str):
    """The values of an enum, such as "DataType", by name."""
    found = pool().FindEnumTypeByName(f"tensorflow.{name}")
    return {value.name: value.number for value in found.values}


def to_bytes(proto) -> bytes:
    """The message as bytes that are the same in every process."""
    return proto.SerializeToString(deterministic=True)
