"""Watched runs: those whose RunOptions say which tensors a debugger wants to see, and where they are to be written.

A watched run has a plan of its own, which shows each watched tensor when it has been computed (stillflow.plan.watch).
Other runs know nothing of it.
"""

from __future__ import annotations

import collections
import itertools
import threading
from dataclasses import dataclass

import numpy as np

from stillflow import errors
from stillflow.graph import dtypes
from stillflow.host import py_functions
from stillflow.plan.placement import check_devices
from stillflow.plan.prune import needed_operations
from stillflow.session import debug_dumps, debug_ops, feeds
from stillflow.session.partition_graphs import argument_name, partition_graphs

# Watches of one request whose plans are kept: a program that dumps each run to a folder of its own has many.
_MOST_KEPT = 4

# Ops whose output is their input, also if it is a handle.
_HANDING_ON = ("Switch", "RefSwitch", "Enter", "RefEnter", "Exit", "RefExit", "Identity", "RefIdentity")

_run_numbers = itertools.count(1)


@dataclass(frozen=True)
class Watched:
    """What is done with one tensor: the debug ops, and the URLs that get what they write."""

    ops: tuple
    urls: tuple


class _Watches:
    """What DebugTensorWatch messages say. Raises FailedPreconditionError for those that contradict themselves."""

    def __init__(self, messages):
        self._by_label: dict = {}  # "node:0" -> DebugTensorWatch
        self._default_ops: list = []
        self._default_urls: list = []
        self.urls: list = []
        for watch in messages:
            if watch.debug_ops and watch.debug_urls:
                self.urls += [url for url in watch.debug_urls if url not in self.urls]
                self._add(watch)
        for url in self.urls:
            debug_dumps.root_of(url)

    def _add(self, watch):
        if watch.node_name == "*":
            if watch.output_slot != -1:
                raise _failed(
                    f'output_slot is expected to be -1 for wildcard node name ("*"), but got {watch.output_slot}'
                )
            self._default_ops += watch.debug_ops
            self._default_urls += watch.debug_urls
        elif watch.output_slot < 0:
            raise _failed(
                "A negative output_slot in DebugTensorWatch is valid only for the wildcard node name "
                f'("*"), but got node name {watch.node_name}'
            )
        else:
            self._by_label[f"{watch.node_name}:{watch.output_slot}"] = watch

    def of(self, node, slot, dtype, device=None):
        """The Watched of a tensor, or None. Raises FailedPreconditionError if a debug op is not made for it."""
        label = f"{node}:{slot}"
        watch = self._by_label.get(label)
        if watch is None and not (self._default_ops and self._by_label):
            return None
        texts = self._default_ops if watch is None else watch.debug_ops
        urls = self._default_urls if watch is None else watch.debug_urls
        for text in texts:
            try:
                gated = debug_ops.parse(text)[1].get("gated_grpc", "false")
                debug_ops.truth(gated)
            except debug_ops.Unmade as error:
                raise _failed(f"Failed to create Copy/CopyHost node for tensor {label}, due to: {error}") from None
            except ValueError:
                message = f"Invalid string for bool value: {gated}"
                raise _failed(f"Failed to create Copy/CopyHost node for tensor {label}, due to: {message}") from None
        is_tolerant = watch is not None and watch.tolerate_debug_op_creation_failures
        ops = [self._op(text, i, dtype, label, is_tolerant) for i, text in enumerate(texts)]
        return Watched(tuple(ops), tuple(urls))

    @staticmethod
    def _op(text, index, dtype, label, is_tolerant):
        try:
            return debug_ops.make(text, index, dtype, label)
        except debug_ops.Unmade as error:
            if is_tolerant:
                return debug_ops.DebugOp(text.partition("(")[0], {"gated_grpc": False}, is_made=False)
            raise _failed(f"Failed to create debug node {text} for tensor {label}, due to: {error}") from None


def _failed(message):
    return errors.FailedPreconditionError(None, None, message)


class _Shown:
    """Writes the values of one tensor when a plan shows it. Of a handle it writes what it is the handle of."""

    def __init__(self, tensor, node, slot, watched, device, is_handle=False):
        self._dtype = tensor._dtype
        self._dims = tensor._dims if tensor._dims is not None and None not in tensor._dims else ()
        self._handle = _handle(tensor, device) if is_handle else None
        self._files = [
            (op, debug_dumps.TensorFile(device, node, slot, op.name, watched.urls))
            for op in watched.ops
            if op.is_made
        ]

    def __call__(self, *values):
        """Takes the value, or none for a handle or a variable without a value."""
        array = _as_array(values[0], self._dtype) if values else None
        dims = self._dims if array is None else array.shape
        for op, file in self._files:
            if op.name != "DebugIdentity":
                written = debug_ops.apply(op, array, dims, self._dtype)
                if written is not None:
                    dtype = dtypes.as_dtype(written.dtype)
                    file.write(debug_dumps.proto_of(dtype, written.shape, written), written.nbytes)
            elif self._handle is not None:
                file.write(self._handle, 0)
            else:
                file.write(debug_dumps.proto_of(self._dtype, dims, array), _bytes_of(array))


def _handle(tensor, device):
    op = tensor.op
    while op.type in _HANDING_ON:
        op = op.inputs[0].op
    attrs = op._attrs
    container = (attrs.get("container") or b"localhost").decode()
    name = (attrs.get("shared_name") or op.name.encode()).decode()
    return debug_dumps.handle_proto(tensor._dtype, device, container, name)


def _as_array(value, dtype):
    if dtype.base_dtype is dtypes.string:
        return np.asarray(value, object)
    return np.asarray(value)


def _bytes_of(array):
    if array is None:
        return 0
    if array.dtype == object:
        return sum(8 + len(text) for text in array.ravel().tolist())
    return array.nbytes


class _Watch:
    """What the plans of one set of watches ask: which tensors are watched, and who is to be shown them."""

    def __init__(self, watches, devices):
        self._watches = watches
        self._devices = devices
        self._functions: dict = {}  # Tensor -> the registered function

    def watches(self, tensor):
        return self._watched(tensor) is not None

    def _watched(self, tensor):
        return self._watches.of(tensor.op.name, tensor.value_index, tensor._dtype)

    def token(self, tensor, is_handle):
        if tensor not in self._functions:
            device = self._devices.name_for(tensor.op._device)
            watched = self._watched(tensor)
            shown = _Shown(tensor, tensor.op.name, tensor.value_index, watched, device, is_handle)
            self._functions[tensor] = py_functions.register_own(shown)
        return self._functions[tensor].token

    def show_feeds(self, fed, values):
        """Writes what is fed, where all nodes are watched; TensorFlow has nodes of its own for it."""
        for i, (tensor, value) in enumerate(zip(fed, values, strict=True)):
            name = argument_name(tensor, i)
            watched = self._watches.of(name, 0, tensor._dtype.base_dtype)
            if watched is not None and tensor._dtype.base_dtype not in (dtypes.resource, dtypes.variant):
                device = self._devices.name_for(tensor.op._device)
                _Shown(tensor, name, 0, watched, device)(feeds.convert(tensor, value))


class _WatchedPlans:
    """What there is for one set of watches: the plans, the graphs that are written, and how often they have run."""

    def __init__(self, messages, tensors, targets, fed, devices, make_plans):
        watches = _Watches(messages)
        self.urls = watches.urls
        self.watch = _Watch(watches, devices)
        operations = needed_operations(tensors, targets, fed)
        check_devices(operations, devices)
        self.graphs = partition_graphs(operations, fed, tensors, devices, watches.of)
        self.plans = make_plans(self.watch)
        self.run_count = 0


class WatchedRuns:
    """The watched runs of one set of fetches and feeds.

    Args:
      tensors, targets, fed: as for PlansByShape.
      devices: the session's.
      make_plans: a function that returns the PlansByShape for a watch.
    """

    def __init__(self, tensors, targets, fed, devices, make_plans):
        self._tensors = tensors
        self._targets = targets
        self._fed = fed
        self._devices = devices
        self._make_plans = make_plans
        self._kept: collections.OrderedDict = collections.OrderedDict()  # the watches as bytes -> _WatchedPlans
        self._lock = threading.Lock()

    def run(self, values, options, timeout_nanos, trace):
        """(plan, results, [(device, GraphDef)]) of a run.

        Raises:
          tf.errors.FailedPreconditionError: for watches that TensorFlow's debugger does not take.
          tf.errors.UnimplementedError: for a debug URL of gRPC.
          tf.errors.ResourceExhaustedError: for more bytes than are allowed.
        """
        debug_options = options.debug_options
        if debug_options.reset_disk_byte_usage:
            debug_dumps.allowance.reset()
        with self._lock:
            watched = self._find(debug_options.debug_tensor_watch_opts)
            run_number, step_number = next(_run_numbers), watched.run_count
            watched.run_count += 1
        metadata = {
            "global_step": debug_options.global_step, "session_run_index": run_number,
            "executor_step_index": step_number, "input_names": sorted(tensor.name for tensor in self._fed),
            "output_names": [tensor.name for tensor in self._tensors],
            "target_nodes": [op.name for op in self._targets],
        }  # fmt: skip
        for url in watched.urls:
            root = debug_dumps.root_of(url)
            for device, graph_def in watched.graphs:
                debug_dumps.write_graph(root, device, graph_def)
            debug_dumps.write_metadata(root, run_number, metadata)
        watched.watch.show_feeds(self._fed, values)
        plan, results = watched.plans.run_traced(values, timeout_nanos, trace)
        return plan, results, watched.graphs

    def _find(self, messages):
        key = tuple(watch.SerializeToString(deterministic=True) for watch in messages)
        if key not in self._kept:
            self._kept[key] = _WatchedPlans(
                messages, self._tensors, self._targets, self._fed, self._devices, self._make_plans
            )
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]
