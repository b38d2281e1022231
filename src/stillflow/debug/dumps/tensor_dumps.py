"""Dumped tensors: files with an Event message each, and what their names say."""

from __future__ import annotations

import os

import numpy as np

from stillflow.files import gfile
from stillflow.formats import protobuf
from stillflow.graph.tensor_proto import make_ndarray
from stillflow.names import public
from stillflow.session.debug_dumps import DEVICE_TAG, METADATA_FILE_PREFIX


class InconvertibleTensorProto:
    """A TensorProto that is no array: the handle of a resource, or a tensor that had no value yet."""

    def __init__(self, tensor_proto, initialized=True):
        self._tensor_proto = tensor_proto
        self._initialized = initialized

    def __str__(self):
        return ("" if self._initialized else "Uninitialized tensor:\n") + str(self._tensor_proto)

    @property
    def initialized(self):
        """Whether it had a value."""
        return self._initialized


@public("python.debug.has_inf_or_nan")
def has_inf_or_nan(datum, tensor):
    """Whether an array has an infinity or a NaN; False for strings and for what is not an array.

    Args:
      datum: what the debugger knows of the array; not used.
      tensor: the array, or an InconvertibleTensorProto.
    """
    if not isinstance(tensor, (np.ndarray, np.generic)) or not np.issubdtype(tensor.dtype, np.number):
        return False
    return not bool(np.isfinite(tensor).all())


def read_event(path):
    """The Event message in a file. Raises OpError if it cannot be read, DecodeError if it is none."""
    with gfile.GFile(path, "rb") as file:
        return protobuf.message("Event").FromString(file.read())


@public("python.debug.load_tensor_from_event_file")
def load_tensor_from_event_file(event_file_path):
    """The tensor of a dump: an array, or an InconvertibleTensorProto for what is none.

    Raises tf.errors.OpError if the file cannot be read.
    """
    return load_tensor_from_event(read_event(event_file_path))


@public("python.debug.load_tensor_from_event")
def load_tensor_from_event(event):
    """The tensor of an Event message: an array, or an InconvertibleTensorProto for what is none."""
    proto = event.summary.value[0].tensor
    is_empty = any(dim.size == 0 for dim in proto.tensor_shape.dim)
    if not (proto.tensor_content or proto.string_val or is_empty):
        return InconvertibleTensorProto(proto, False)
    try:
        return make_ndarray(proto)
    except ValueError:
        return InconvertibleTensorProto(proto)


def device_path_to_device_name(device_dir):
    """The device whose dumps are in a folder."""
    text = os.path.basename(device_dir).removeprefix(METADATA_FILE_PREFIX + DEVICE_TAG)
    return "/".join(part.replace("device_", "device:").replace("_", ":", 1) for part in text.split(","))


@public("python.debug.DebugTensorDatum")
class DebugTensorDatum:
    """One dumped tensor: what its file's name says. The value is read from the file when it is asked for.

    Args:
      dump_root: the folder of the run's dumps.
      debug_dump_rel_path: the file, below it: DEVICE/SCOPE/NODE_OUTPUT_DEBUGOP_TIME.

    Raises ValueError for a file of another name.
    """

    def __init__(self, dump_root, debug_dump_rel_path):
        path = os.path.normpath(debug_dump_rel_path).split(os.sep)
        device, scopes, base = path[0], path[1:-1], path[-1]
        parts = base.rsplit("_", 3)
        if len(parts) < 4:
            raise ValueError(f"Dump file path does not conform to the naming pattern: {base}")
        node, slot, self._debug_op, self._extended_timestamp = parts
        self._device_name = device_path_to_device_name(device)
        self._timestamp = int(self._extended_timestamp.partition("-")[0])
        self._output_slot = int(slot)
        self._node_name = "/".join([*scopes, node])
        self._file_path = os.path.join(dump_root, debug_dump_rel_path)
        exists = gfile.Exists(self._file_path)
        self._dump_size_bytes = gfile.Stat(self._file_path).length if exists else None

    def __repr__(self):
        return f"{{DebugTensorDatum ({self.device_name}) {self.tensor_name} @ {self.debug_op} @ {self.timestamp}}}"

    __str__ = __repr__

    def get_tensor(self):
        """The value: an array, or an InconvertibleTensorProto. Raises tf.errors.OpError if the file is gone."""
        return load_tensor_from_event_file(self.file_path)

    @property
    def timestamp(self):
        """When it was dumped, in microseconds since 1970."""
        return self._timestamp

    @property
    def extended_timestamp(self):
        """The time as in the file's name, a text; "-1" follows where two dumps have the same time."""
        return self._extended_timestamp

    @property
    def debug_op(self):
        """The debug op that wrote it, "DebugIdentity" for the tensor itself."""
        return self._debug_op

    @property
    def device_name(self):
        """The device of the tensor."""
        return self._device_name

    @property
    def node_name(self):
        """The node that the tensor is an output of."""
        return self._node_name

    @property
    def output_slot(self):
        """Which output it is."""
        return self._output_slot

    @property
    def tensor_name(self):
        """The tensor's name, "node:0"."""
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self):
        """The tensor's name with the debug op, "node:0:DebugIdentity"."""
        return f"{self.tensor_name}:{self.debug_op}"

    @property
    def file_path(self):
        """The file."""
        return self._file_path

    @property
    def dump_size_bytes(self):
        """The size of the file in bytes, None if there is none."""
        return self._dump_size_bytes
