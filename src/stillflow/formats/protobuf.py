"""TensorFlow's protobuf messages, made from one descriptor file in a pool of our own.

Nothing here clashes with a TensorFlow that is imported in the same process, and the file works with every
protobuf release since 4.25. Loaded when a message is first asked for.
"""

from __future__ import annotations

import functools
import threading
from pathlib import Path

import numpy as np

from stillflow.names import public_names

# Messages that programs make themselves, and their public names.
_PUBLIC = public_names(
    {
        "AdviceProto": "profiler.AdviceProto",
        "AttrValue": "AttrValue",
        "BytesList": "train.BytesList",
        "CheckpointState": "train.CheckpointState",
        "ClusterDef": "train.ClusterDef",
        "ConfigProto": "ConfigProto",
        "Event": "Event summary.Event",
        "Example": "train.Example",
        "Feature": "train.Feature",
        "FeatureList": "train.FeatureList",
        "FeatureLists": "train.FeatureLists",
        "Features": "train.Features",
        "FloatList": "train.FloatList",
        "GPUOptions": "GPUOptions",
        "GraphDef": "GraphDef",
        "GraphNodeProto": "profiler.GraphNodeProto",
        "GraphOptions": "GraphOptions",
        "HistogramProto": "HistogramProto",
        "Int64List": "train.Int64List",
        "JobDef": "train.JobDef",
        "LogMessage": "LogMessage",
        "MetaGraphDef": "MetaGraphDef",
        "MultiGraphNodeProto": "profiler.MultiGraphNodeProto",
        "NameAttrList": "NameAttrList",
        "NodeDef": "NodeDef",
        "OpLogProto": "profiler.OpLogProto",
        "OptimizerOptions": "OptimizerOptions",
        "RunMetadata": "RunMetadata",
        "RunOptions": "RunOptions",
        "SaverDef": "train.SaverDef",
        "SequenceExample": "train.SequenceExample",
        "ServerDef": "train.ServerDef",
        "SessionLog": "SessionLog summary.SessionLog",
        "Summary": "Summary summary.Summary",
        "SummaryDescription": "summary.SummaryDescription",
        "SummaryMetadata": "SummaryMetadata",
        "TaggedRunMetadata": "summary.TaggedRunMetadata",
        "TensorInfo": "TensorInfo",
        "TrackableObjectGraph": "contrib.checkpoint.CheckpointableObjectGraph",
        "EmbeddingInfo": "contrib.tensorboard.plugins.projector.EmbeddingInfo",
        "ProjectorConfig": "contrib.tensorboard.plugins.projector.ProjectorConfig",
        "SpriteMetadata": "contrib.tensorboard.plugins.projector.SpriteMetadata",
    }
)

_PACKAGES = ("tensorflow.", "tensorflow.boosted_trees.", "tensorflow.tpu.", "tensorflow.tfprof.", "")


# A message has one class, also if several threads ask for it at once; functools.cache would call a function twice.
_lock = threading.RLock()


def pool():
    with _lock:
        return _pool()


@functools.cache
def _pool():
    from google.protobuf import any_pb2, descriptor_pool, wrappers_pb2

    found = descriptor_pool.DescriptorPool()
    for module in (any_pb2, wrappers_pb2):
        found.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    for file in _files():
        found.AddSerializedFile(file.SerializeToString())
    return found


def _files():
    from google.protobuf import descriptor_pb2

    content = (Path(__file__).parent / "messages.binpb").read_bytes()
    return descriptor_pb2.FileDescriptorSet.FromString(content).file


@functools.cache
def files():
    """The descriptors of the files that messages are in."""
    return [pool().FindFileByName(file.name) for file in _files()]


@functools.cache
def message(name: str):
    """The class of a message, such as "GraphDef" or "AttrValue.ListValue". KeyError if there is none."""
    from google.protobuf import message_factory

    with _lock:
        found = _found(lambda package: pool().FindMessageTypeByName(f"{package}{name}"))
        kind = message_factory.GetMessageClass(found)
        if name == "Int64List":
            _take_booleans(kind)
        return kind


def _take_booleans(kind):
    """Lets Int64List be made of numpy's booleans, which were numbers to the protobuf of TensorFlow 1.15."""
    init = kind.__init__

    @functools.wraps(init)
    def init_of_numbers(self, *args, **kwargs):
        if "value" in kwargs:
            kwargs["value"] = [int(x) if isinstance(x, np.bool_) else x for x in kwargs["value"]]
        init(self, *args, **kwargs)

    kind.__init__ = init_of_numbers


def _found(find):
    """What is in the package of most messages, or in one of those that hold the messages of a part of TensorFlow."""
    for package in _PACKAGES[:-1]:
        try:
            return find(package)
        except KeyError:
            continue
    return find(_PACKAGES[-1])


def __getattr__(name):
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return message(name)


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
