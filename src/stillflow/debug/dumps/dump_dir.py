"""DebugDumpDir: all that a watched run has written, to be looked through."""

from __future__ import annotations

import collections
import json
import os
import re

from stillflow.debug.dumps import causality
from stillflow.debug.dumps.debug_graphs import DebugGraph, get_node_name
from stillflow.debug.dumps.tensor_dumps import (  # noqa: F401  names of this module in TensorFlow
    DebugTensorDatum,
    InconvertibleTensorProto,
    device_path_to_device_name,
    has_inf_or_nan,
    load_tensor_from_event,
    load_tensor_from_event_file,
    read_event,
)
from stillflow.debug.dumps.tracing import trace
from stillflow.files import gfile
from stillflow.formats import protobuf
from stillflow.names import public, public_module
from stillflow.platform import logging
from stillflow.session.debug_dumps import (  # noqa: F401
    CORE_METADATA_TAG,
    DEVICE_TAG,
    GRAPH_FILE_TAG,
    HASH_TAG,
    METADATA_FILE_PREFIX,
)
from stillflow.session.debug_dumps import device_path as device_name_to_device_path  # noqa: F401

public_module("python.debug.lib.debug_data")

FETCHES_INFO_FILE_TAG = "fetches_info_"
FEED_KEYS_INFO_FILE_TAG = "feed_keys_info_"

CoreMetadata = collections.namedtuple(
    "CoreMetadata",
    ["global_step", "session_run_index", "executor_step_index", "input_names", "output_names", "target_nodes"],
)


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """There is no dump of that tensor and debug op."""


def extract_core_metadata_from_event_proto(event):
    """What an Event message says of a run, as a named tuple."""
    found = json.loads(event.log_message.message)
    return CoreMetadata(*[found[name] for name in CoreMetadata._fields])


class _Device:
    """The dumps of one device, and its graph."""

    def __init__(self, name):
        self.name = name
        self.data: list = []  # by time
        self.graph_path = None
        self.graph = None  # DebugGraph
        self.watches: dict = {}  # node -> {output: debug ops}
        self.data_of: dict = {}  # watch key -> DebugTensorDatums

    def load(self, dump_root, folder):
        for root, _, files in gfile.Walk(folder):
            for name in files:
                path = os.path.join(root, name)
                if name.startswith(METADATA_FILE_PREFIX + GRAPH_FILE_TAG):
                    self.graph_path = path
                else:
                    self.data.append(DebugTensorDatum(dump_root, os.path.relpath(path, dump_root)))
        self.data.sort(key=lambda datum: datum.extended_timestamp)
        for datum in self.data:
            slots = self.watches.setdefault(datum.node_name, {})
            slots.setdefault(datum.output_slot, {})[datum.debug_op] = None
            self.data_of.setdefault(datum.watch_key, []).append(datum)

    def load_graph(self, client_graphs, validates):
        graph_def = None
        if self.graph_path is not None:
            graph_def = protobuf.message("GraphDef").FromString(read_event(self.graph_path).graph_def)
        else:
            logging.warn(
                f"Failed to load partition graphs for device {self.name} from disk. As a fallback, the client graphs "
                "will be used. This may cause mismatches in device names."
            )
            graph_def = next((g for g in client_graphs or () if any(n.device == self.name for n in g.node)), None)
        if graph_def is None:
            return
        self.graph = DebugGraph(graph_def, device_name=self.name)
        if not validates:
            return
        for datum in self.data:
            if datum.node_name not in self.graph.node_inputs:
                raise ValueError(
                    f"Node name '{datum.node_name}' is not found in partition graphs of device {self.name}."
                )
        causality.check(self.graph, self.data, {(datum.node_name, datum.output_slot) for datum in self.data})


@public("python.debug.DebugDumpDir")
class DebugDumpDir:
    """The dumps of a run.

    Wherever a `device_name` may be given, it is needed only if there are several devices with what is asked for.

    Args:
      dump_root: the folder that the run's debug URLs have named.
      partition_graphs: GraphDefs of the run, for devices whose graph was not written.
      validate: whether to check that the dumps came in an order that the graph allows.

    Raises:
      OSError: if there is no such folder.
      ValueError: for files of other names, for graphs in which nodes are missing, and if the check fails.
    """

    def __init__(self, dump_root, partition_graphs=None, validate=True):
        if not gfile.IsDirectory(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._dump_root = dump_root
        self._python_graph = None
        self._core_metadata = [extract_core_metadata_from_event_proto(e) for e in self._events(CORE_METADATA_TAG)]
        self._run_fetches_info = [event.log_message.message for event in self._events(FETCHES_INFO_FILE_TAG)]
        self._run_feed_keys_info = [event.log_message.message for event in self._events(FEED_KEYS_INFO_FILE_TAG)]
        self._devices: dict = {}
        for folder in gfile.Glob(os.path.join(dump_root, f"{METADATA_FILE_PREFIX}{DEVICE_TAG}*")):
            device = _Device(device_path_to_device_name(folder))
            device.load(dump_root, folder)
            self._devices[device.name] = device
        self._node_devices: dict = {}  # node -> names of devices
        for device in self._devices.values():
            device.load_graph(partition_graphs, validate)
            if device.graph is not None:
                for node, names in device.graph.node_devices.items():
                    self._node_devices.setdefault(node, set()).update(names)

    def _events(self, tag):
        for path in gfile.Glob(os.path.join(self._dump_root, f"{METADATA_FILE_PREFIX}{tag}*")):
            yield read_event(path)

    # ---- The run ------------------------------------------------------------------------------------------------

    @property
    def core_metadata(self):
        """What was run: a named tuple, or a list of them if it was not one run."""
        return _one_or_all(self._core_metadata)

    @property
    def run_fetches_info(self):
        """What was fetched, as text; a list if it was not one run."""
        return _one_or_all(self._run_fetches_info)

    @property
    def run_feed_keys_info(self):
        """What was fed, as text; a list if it was not one run."""
        return _one_or_all(self._run_feed_keys_info)

    def set_python_graph(self, python_graph):
        """Tells of the tf.Graph that was run, for `node_traceback`."""
        self._python_graph = python_graph

    @property
    def python_graph(self):
        """The tf.Graph that `set_python_graph` has told of, or None."""
        return self._python_graph

    def node_traceback(self, element_name):
        """Where a node was made: tuples of file, line, function and source line, outermost first.

        Raises:
          LookupError: if no graph was told of.
          KeyError: if there is no such node in it.
        """
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        name = get_node_name(element_name)
        try:
            operation = self._python_graph.get_operation_by_name(name)
        except KeyError:
            raise KeyError(f'Cannot find node "{name}" in Python graph') from None
        return tuple(operation.traceback)

    # ---- Graphs -------------------------------------------------------------------------------------------------

    def devices(self):
        """The names of the devices that have dumps."""
        return list(self._devices)

    def loaded_partition_graphs(self):
        """Whether there are graphs."""
        return any(device.graph is not None for device in self._devices.values())

    def _graphs(self, message):
        graphs = {name: device.graph for name, device in self._devices.items() if device.graph is not None}
        if not graphs:
            raise LookupError(message)
        return graphs

    def partition_graphs(self):
        """The GraphDefs that were run, with the debugger's nodes. Raises LookupError if there are none."""
        return [graph.debug_graph_def for graph in self._graphs("No partition graphs have been loaded.").values()]

    def reconstructed_non_debug_partition_graphs(self):
        """{device: GraphDef without the debugger's nodes}. Raises LookupError if there are none."""
        graphs = self._graphs("No partition graphs have been loaded.")
        return {name: graph.non_debug_graph_def for name, graph in graphs.items()}

    def nodes(self, device_name=None):
        """The names of all nodes. Raises LookupError without graphs, ValueError for a device that there is not."""
        graphs = self._graphs("No partition graphs have been loaded.")
        if device_name is None:
            return [node for graph in graphs.values() for node in graph.node_inputs]
        if device_name not in graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        return graphs[device_name].node_inputs.keys()

    def node_exists(self, node_name, device_name=None):
        """Whether there is a node of that name. Raises LookupError and ValueError as `nodes` does."""
        graphs = self._graphs("Nodes have not been loaded from partition graphs yet.")
        if device_name is not None and device_name not in graphs:
            raise ValueError(f"The specified device_name '{device_name}' cannot be found.")
        return any(node_name in graph.node_inputs for graph in graphs.values())

    def node_device(self, node_name):
        """The device of a node, or a list of several. Raises LookupError without graphs, ValueError without node."""
        self._graphs("Node devices are not loaded from partition graphs yet.")
        if node_name not in self._node_devices:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return _one_or_all(list(self._node_devices[node_name]))

    def _infer_device_name(self, device_name, node_name):
        if device_name is not None:
            return device_name
        found = self._node_devices.get(node_name, ())
        if not found:
            raise ValueError(f"None of the {len(self._devices)} device(s) has a node named '{node_name}'.")
        if len(found) > 1:
            raise ValueError(
                f"There are multiple ({len(found)}) devices with nodes named '{node_name}' but device_name is not "
                "specified."
            )
        return next(iter(found))

    def _graph_of(self, node_name, device_name, what):
        graphs = self._graphs(f"{what} are not loaded from partition graphs yet.")
        return graphs[self._infer_device_name(device_name, node_name)]

    def node_attributes(self, node_name, device_name=None):
        """The attributes of a node, {name: AttrValue}. Raises LookupError without graphs, ValueError without node."""
        self._graphs("No partition graphs have been loaded.")
        return self._graph_of(node_name, device_name, "Node attributes").node_attributes[node_name]

    def node_op_type(self, node_name, device_name=None):
        """The op of a node. Raises LookupError without graphs, ValueError without node."""
        return self._graph_of(node_name, device_name, "Node op types").node_op_types[node_name]

    def node_inputs(self, node_name, is_control=False, device_name=None):
        """The inputs of a node, or what else it waits for. Raises LookupError and ValueError as `node_op_type`."""
        graph = self._graph_of(node_name, device_name, "Node inputs")
        return (graph.node_ctrl_inputs if is_control else graph.node_inputs)[node_name]

    def node_recipients(self, node_name, is_control=False, device_name=None):
        """The nodes that take a node's outputs, or wait for it. Raises as `node_op_type`."""
        graph = self._graph_of(node_name, device_name, "Node recipients")
        return (graph.node_ctrl_recipients if is_control else graph.node_recipients)[node_name]

    def transitive_inputs(self, node_name, include_control=True, include_reversed_ref=False, device_name=None):
        """All that a node depends on, depth first; the round before in a loop is left out.

        Args:
          node_name: the node.
          include_control: whether to go along control edges.
          include_reversed_ref: whether to go from a reference to what changes it.
          device_name: see the class.

        Raises LookupError and ValueError as `node_op_type`.
        """
        graph = self._graph_of(node_name, device_name, "Node inputs")
        return trace(_edges(graph, include_control, include_reversed_ref), node_name, _merges(graph))[0]

    def find_some_path(
        self, src_node_name, dst_node_name, include_control=True, include_reversed_ref=False, device_name=None
    ):
        """A way between two nodes as names, from the first on, or None. For the others see `transitive_inputs`.

        Raises ValueError if the nodes are on different devices.
        """
        source = self._infer_device_name(device_name, src_node_name)
        target = self._infer_device_name(device_name, dst_node_name)
        if source != target:
            raise ValueError(
                f"Source ({src_node_name}) and destination ({dst_node_name}) are not on the same device: {source} "
                f"vs. {target}"
            )
        graph = self._graphs("Node inputs are not loaded from partition graphs yet.")[target]
        edges = _edges(graph, include_control, include_reversed_ref)
        return trace(edges, dst_node_name, _merges(graph), destination=src_node_name)[1]

    # ---- Tensors ------------------------------------------------------------------------------------------------

    @property
    def dumped_tensor_data(self):
        """All DebugTensorDatums, by time."""
        data = [datum for device in self._devices.values() for datum in device.data]
        return data if len(self._devices) == 1 else sorted(data, key=lambda datum: datum.extended_timestamp)

    @property
    def t0(self):
        """The time of the first dump in microseconds, None without dumps."""
        return min((device.data[0].timestamp for device in self._devices.values() if device.data), default=None)

    @property
    def size(self):
        """The number of dumps."""
        return sum(len(device.data) for device in self._devices.values())

    def debug_watch_keys(self, node_name, device_name=None):
        """The watch keys of a node's dumps, "node:0:DebugIdentity"."""
        try:
            device = self._devices[self._infer_device_name(device_name, node_name)]
        except ValueError:
            return []
        slots = device.watches.get(node_name, {})
        return [f"{node_name}:{slot}:{debug_op}" for slot, debug_ops in slots.items() for debug_op in debug_ops]

    def watch_key_to_data(self, debug_watch_key, device_name=None):
        """The DebugTensorDatums of a watch key. Raises ValueError if several devices have it and none is named."""
        if device_name is None:
            found = [name for name, device in self._devices.items() if debug_watch_key in device.data_of]
            if len(found) > 1:
                raise ValueError(
                    f"The debug watch key '{debug_watch_key}' exists on multiple ({len(found)}) devices, but device "
                    "name is not specified."
                )
            if not found:
                return []
            device_name = found[0]
        elif device_name not in self._devices:
            raise ValueError(f"There is no device named '{device_name}' consisting of debug watch keys.")
        return self._devices[device_name].data_of.get(debug_watch_key, [])

    def find(self, predicate, first_n=0, device_name=None, exclude_node_names=None):
        """The DebugTensorDatums for which a predicate holds, by time.

        Args:
          predicate: a function of (DebugTensorDatum, value).
          first_n: how many to look for; all if it is not positive.
          device_name: a device; by default all.
          exclude_node_names: a regular expression; nodes whose names begin with a match are passed over.
        """
        excluded = re.compile(exclude_node_names) if exclude_node_names else None
        devices = self._devices.values() if device_name is None else [self._devices[device_name]]
        found: list = []
        for datum in (datum for device in devices for datum in device.data):
            if excluded is not None and excluded.match(datum.node_name):
                continue
            if predicate(datum, datum.get_tensor()):
                found.append(datum)
                if len(found) == first_n:
                    break
        return found

    def _data_of(self, node_name, output_slot, debug_op, device_name):
        key = f"{node_name}:{output_slot}:{debug_op}"
        device_name = self._infer_device_name(device_name, node_name)
        device = self._devices.get(device_name)
        if device is None or key not in device.data_of:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{key}" does not exist in the debug dump of device {device_name}'
            )
        return device.data_of[key]

    def get_tensors(self, node_name, output_slot, debug_op, device_name=None):
        """The values that a debug op wrote of an output of a node, one for each time that it was computed.

        Raises WatchKeyDoesNotExistInDebugDumpDirError, a ValueError, if there are none.
        """
        try:
            data = self._data_of(node_name, output_slot, debug_op, device_name)
        except WatchKeyDoesNotExistInDebugDumpDirError:
            raise
        except ValueError:
            raise WatchKeyDoesNotExistInDebugDumpDirError(
                f'Watch key "{node_name}:{output_slot}:{debug_op}" does not exist in the debug dump of device '
                f"{device_name}"
            ) from None
        return [datum.get_tensor() for datum in data]

    def get_tensor_file_paths(self, node_name, output_slot, debug_op, device_name=None):
        """The files of those values. Raises as `get_tensors`, and ValueError if no device has the node."""
        return [datum.file_path for datum in self._data_of(node_name, output_slot, debug_op, device_name)]

    def get_rel_timestamps(self, node_name, output_slot, debug_op, device_name=None):
        """When they were dumped, in microseconds after the first dump. Raises as `get_tensor_file_paths`."""
        return [datum.timestamp - self.t0 for datum in self._data_of(node_name, output_slot, debug_op, device_name)]

    def get_dump_sizes_bytes(self, node_name, output_slot, debug_op, device_name=None):
        """The sizes of those files in bytes. Raises as `get_tensor_file_paths`."""
        return [datum.dump_size_bytes for datum in self._data_of(node_name, output_slot, debug_op, device_name)]


def _one_or_all(found):
    return found[0] if len(found) == 1 else found


def _edges(graph, include_control, include_reversed_ref):
    edges = [graph.node_inputs]
    if include_control:
        edges.append(graph.node_ctrl_inputs)
    if include_reversed_ref:
        edges.append(graph.node_reversed_ref_inputs)
    return edges


def _merges(graph):
    return {node for node, op in graph.node_op_types.items() if op == "Merge"}
