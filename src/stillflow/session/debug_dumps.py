"""Dumps of watched tensors: files with Event messages, in the folders and under the names of TensorFlow's debugger.

    ROOT/_tfdbg_core_metadata_sessionrun00000000000001_TIME                 what was run
    ROOT/_tfdbg_device_,job_localhost,.../_tfdbg_graph_hashHASH_TIME        the graph that was run
    ROOT/_tfdbg_device_,job_localhost,.../SCOPE/NODE_OUTPUT_DEBUGOP_TIME    a tensor

Times are in microseconds, and no two dumps of a process have the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time

from stillflow import errors
from stillflow.formats import protobuf
from stillflow.graph import dtypes

METADATA_FILE_PREFIX = "_tfdbg_"
CORE_METADATA_TAG = "core_metadata_"
GRAPH_FILE_TAG = "graph_"
DEVICE_TAG = "device_"
HASH_TAG = "hash"

_FILE_SCHEME = "file://"
_BYTES_LIMIT = 100 << 30


def device_path(device):
    """The folder of a device's dumps."""
    return METADATA_FILE_PREFIX + DEVICE_TAG + device.replace(":", "_").replace("/", ",")


class _Clock:
    """Microseconds, each later than the one before."""

    def __init__(self):
        self._lock = threading.Lock()
        self._last = 0

    def now(self):
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last


class _Allowance:
    """How many bytes of tensors may be written: TFDBG_DISK_BYTES_LIMIT, by default 100 GiB, between two resets."""

    def __init__(self):
        self._lock = threading.Lock()
        self._used = 0

    def reset(self):
        with self._lock:
            self._used = 0

    def take(self, size, label):
        """Raises ResourceExhaustedError if there is not so much left."""
        limit = int(os.environ.get("TFDBG_DISK_BYTES_LIMIT") or _BYTES_LIMIT)
        with self._lock:
            if size and self._used + size >= limit:
                raise errors.ResourceExhaustedError(
                    None,
                    None,
                    f"TensorFlow Debugger has exhausted file-system byte-size allowance ({limit}), therefore it "
                    f"cannot dump an additional {size} byte(s) of tensor data for the debug tensor {label}. You may "
                    "use the environment variable TFDBG_DISK_BYTES_LIMIT to set a higher limit.",
                )
            self._used += size


clock = _Clock()
allowance = _Allowance()


def root_of(url):
    """The folder that a debug URL names. Raises UnimplementedError for grpc://, UnavailableError for others."""
    scheme = url[: len(_FILE_SCHEME)].lower()
    if scheme == _FILE_SCHEME:
        return url[len(_FILE_SCHEME) :]
    if scheme == "grpc://":
        message = f"Tensors cannot be sent to a debug server ({url}): a watch writes files, under a file:// URL"
        raise errors.UnimplementedError(None, None, message)
    raise errors.UnavailableError(None, None, f"Invalid debug target URL: {url}")


def _write(path, event):
    """Writes an Event, with the time at the end of the file's name."""
    now = clock.now()
    event.wall_time = float(now)
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        message = f"Failed to create directory  {folder} because the path exists as a file "
        raise errors.FailedPreconditionError(None, None, message) from None
    with open(f"{path}_{now}", "wb") as file:
        file.write(event.SerializeToString())


def write_metadata(root, run_index, metadata):
    """Writes what was run: a dict of global_step, session_run_index and so on."""
    event = protobuf.message("Event")()
    event.log_message.message = json.dumps(metadata, separators=(",", ":"))
    _write(os.path.join(root, f"{METADATA_FILE_PREFIX}{CORE_METADATA_TAG}sessionrun{run_index:014d}"), event)


def write_graph(root, device, graph_def):
    """Writes the graph of a device, unless it is there."""
    data = graph_def.SerializeToString()
    number = int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")
    name = f"{METADATA_FILE_PREFIX}{GRAPH_FILE_TAG}{HASH_TAG}{number}"
    folder = os.path.join(root, device_path(device))
    if os.path.isdir(folder) and any(found.startswith(f"{name}_") for found in os.listdir(folder)):
        return
    _write(os.path.join(folder, name), protobuf.message("Event")(graph_def=data))


class TensorFile:
    """Where the dumps of one debug op on one tensor go."""

    def __init__(self, device, node, slot, op_name, urls):
        self._label = f"{node}:{slot}"
        self._tag = node
        self._watch_key = f"{node}:{slot}:{op_name}"
        self._paths = [os.path.join(root_of(url), device_path(device), f"{node}_{slot}_{op_name}") for url in urls]
        self._content = json.dumps(
            {"device": device, "outputSlot": slot, "numChunks": 1, "chunkIndex": 0}, separators=(",", ":")
        ).encode()

    def write(self, tensor_proto, size):
        """Writes a TensorProto that stands for `size` bytes of values."""
        for path in self._paths:
            allowance.take(size, self._label)
            event = protobuf.message("Event")()
            value = event.summary.value.add(node_name=self._watch_key, tag=self._tag)
            value.metadata.plugin_data.plugin_name = "debugger"
            value.metadata.plugin_data.content = self._content
            value.tensor.CopyFrom(tensor_proto)
            _write(path, event)


def proto_of(dtype, dims, array=None):
    """The TensorProto of an array; without one, of a tensor that has no value yet."""
    proto = protobuf.message("TensorProto")(dtype=dtype.base_dtype.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    for size in dims:
        proto.tensor_shape.dim.add(size=size)
    if array is None:
        return proto
    if dtype.base_dtype is dtypes.string:
        proto.string_val.extend(array.ravel().tolist())
    else:
        proto.tensor_content = array.tobytes()
    return proto


def handle_proto(dtype, device, container, name):
    """The TensorProto of the handle of a resource, which says where it is and what it is called."""
    if dtype._is_ref_dtype:
        proto = protobuf.message("TensorProto")(dtype=dtype.base_dtype.as_datatype_enum)
        proto.tensor_shape.dim.add(size=2)
        proto.string_val.extend([container.encode(), name.encode()])
        return proto
    proto = proto_of(dtype, ())
    handle = protobuf.message("ResourceHandleProto")(device=device, container=container, name=name)
    # A list of one text: its length in base 128, and the text.
    data = handle.SerializeToString() if dtype is dtypes.resource else b""
    proto.tensor_content = _varint(len(data)) + data
    return proto


def _varint(number):
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])
