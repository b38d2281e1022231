"""Scopes of a graph: names, which each thread has for itself, and what threads share until the graph switches."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from stillflow.graph import dtypes


class _Stack:
    """An attribute that is a list: one for all threads, or one per thread once the graph has switched."""

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, graph, owner=None) -> Any:
        if graph is None:
            return self
        own = graph._own_stacks
        if own is None:
            return graph.__dict__[self._name]
        if not hasattr(own, self._name):
            setattr(own, self._name, list(graph.__dict__[self._name]))
        return getattr(own, self._name)

    def __set__(self, graph, value):
        if graph._own_stacks is None:
            graph.__dict__[self._name] = value
        else:
            setattr(graph._own_stacks, self._name, value)


class ThreadScopes:
    """The names, devices, colocations and control dependencies that new nodes get."""

    _name_stacks: threading.local
    _own_stacks: threading.local | None = None
    _device_stack = _Stack()
    _colocation_stack = _Stack()
    _control_stack = _Stack()

    @property
    def _name_stack(self):
        return getattr(self._name_stacks, "current", "")

    @_name_stack.setter
    def _name_stack(self, value):
        self._name_stacks.current = value

    @property
    def _auto_cast_variable_read_dtype(self):
        """The type that variables of layers with mixed precision are cast to when they are read; None for theirs."""
        return getattr(self._name_stacks, "read_dtype", None)

    @_auto_cast_variable_read_dtype.setter
    def _auto_cast_variable_read_dtype(self, dtype):
        self._name_stacks.read_dtype = dtypes.as_dtype(dtype) if dtype else None

    @contextlib.contextmanager
    def _enable_auto_casting_variables(self, dtype):
        """A context in which variables of layers with mixed precision are cast to a type when they are read."""
        before = self._auto_cast_variable_read_dtype
        self._auto_cast_variable_read_dtype = dtype
        try:
            yield
        finally:
            self._auto_cast_variable_read_dtype = before

    @contextlib.contextmanager
    def devices_of(self, device_stack):
        """A context in which other device scopes are in force, those of the graph of a function."""
        saved, self._device_stack = self._device_stack, list(device_stack)
        try:
            yield
        finally:
            self._device_stack = saved

    def switch_to_thread_local(self):
        """Gives each thread its own devices, colocations and control dependencies from now on.

        A thread begins with those that the graph has at the time of the switch.
        """
        if self._own_stacks is None:
            self._own_stacks = threading.local()
