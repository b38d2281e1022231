"""Where new nodes of a graph are placed: devices and colocations, and where a program entered their scopes."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, NamedTuple

from stillflow.graph import device as devices
from stillflow.graph.call_sites import is_of_program
from stillflow.graph.operation import Operation
from stillflow.graph.thread_scopes import ThreadScopes
from stillflow.graph.traceable_stack import TraceableObject

_RESET_DEVICES = object()


class _DeviceScope(NamedTuple):
    device: Any  # a DeviceSpec, a function, or _RESET_DEVICES
    entered: TraceableObject  # of what was asked for


class Colocation(NamedTuple):
    """A scope whose nodes are placed with `op`, and where it was entered."""

    op: Operation
    entered: TraceableObject


class PlacementScopes(ThreadScopes):
    """The scopes of a graph that say where new nodes are placed."""

    as_graph_element: Any  # Graph's

    @contextlib.contextmanager
    def device(self, device_name_or_function):
        """New nodes get this device where nothing inside says otherwise; None forgets outer devices.

        Devices are kept on the nodes; everything runs on the CPU.
        """
        if device_name_or_function is None:
            entry = _RESET_DEVICES
        elif callable(device_name_or_function):
            entry = device_name_or_function
        else:
            entry = device_name_or_function
            if not isinstance(entry, devices.DeviceSpec):
                text = entry.to_string() if hasattr(entry, "to_string") else entry
                entry = devices.DeviceSpec.from_string(text)
        scope = _DeviceScope(entry, _entered(_display_name(device_name_or_function)))
        with self._pushed(self._device_stack, scope):
            yield

    @contextlib.contextmanager
    def colocate_with(self, op, ignore_existing=False):
        """New nodes are marked to be placed with `op`; device scopes around do not count inside."""
        if op is None and not ignore_existing:
            raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
        if op is not None and not isinstance(op, Operation):
            op = getattr(op, "op", None) or self._op_of(op)
        saved = self._device_stack, self._colocation_stack
        self._device_stack = []
        outer = [] if ignore_existing else saved[1]
        self._colocation_stack = outer if op is None else [*outer, Colocation(op, _entered(None))]
        try:
            yield
        finally:
            self._device_stack, self._colocation_stack = saved

    def _op_of(self, value):
        """The operation of what has none by itself: of a variable of eager execution, of what reads it here."""
        if hasattr(value, "read_value"):
            return value.read_value().op.inputs[0].op
        return self.as_graph_element(value).op

    def _place(self, op):
        """Gives a new node its device and what it is placed with."""
        self._apply_devices(op)
        colocations = self._colocation_stack
        if colocations:
            groups = []
            for target, _ in reversed(colocations):
                groups.extend(target.colocation_groups())
                if target._device:
                    op._device = target._device
            op._attrs["_class"] = tuple(sorted(set(groups)))
            op._colocations = tuple(colocations)

    def _apply_devices(self, op):
        scopes = self._device_stack
        if scopes:
            op._device_scopes = tuple(scopes)
        for device, _ in reversed(scopes):
            if device is _RESET_DEVICES:
                break
            if callable(device):  # what a function says counts alone, whatever scopes inside have said
                op._device = devices.name_as_given(device(op))
            else:
                op._device = devices.apply(device, op._device)

    def _apply_device_functions(self, op):
        """Tells an object, such as Keras asks with, on which device a new node would be; nothing if no scope says."""
        op._device = ""
        self._apply_devices(op)
        if op._device:
            tell = getattr(op, "_set_device_from_string", None) or op._set_device
            tell(op._device)

    @staticmethod
    @contextlib.contextmanager
    def _pushed(stack, entry):
        stack.append(entry)
        try:
            yield
        finally:
            if stack[-1] is not entry:
                raise RuntimeError("Exiting device scope without proper scope nesting")
            stack.pop()


def _display_name(device):
    """What is said of a device scope: of a function its name, file and line."""
    code = getattr(device, "__code__", None)
    if code is None:
        return device
    return f"{device.__name__}<{code.co_filename}, {code.co_firstlineno}>"


def _entered(obj):
    """`obj` with the place in the program that enters a scope."""
    frame = sys._getframe(1)
    while frame.f_back is not None and not is_of_program(frame):
        frame = frame.f_back
    return TraceableObject(obj, frame.f_code.co_filename, frame.f_lineno)
