"""tf.CriticalSection: parts of graphs that exclude each other."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from stillflow import ops
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group, tuple_of

CRITICAL_SECTIONS = public("python.ops.critical_section_ops.CRITICAL_SECTIONS")("critical_sections")
CRITICAL_SECTION_EXECUTIONS = public("python.ops.critical_section_ops.CRITICAL_SECTION_EXECUTIONS")(
    "critical_section_executions"
)


class _Execution(NamedTuple):
    """What one call of `execute` added: the operation that locks, the section's handle, and what is used within."""

    op: Any
    handle: Any
    resources: list
    exclusive_resource_access: bool


def _identity(value):
    """The value after the control dependencies in force; an operation becomes one of them."""
    if isinstance(value, Tensor):
        return ops.identity(value)
    if hasattr(value, "identity"):
        return value.identity()
    if isinstance(value, Operation):
        return value
    return value if value is None else ops.identity(value)


@public("CriticalSection", "contrib.framework.CriticalSection")
class CriticalSection:
    """Has functions' operations run by one run, and one call of `execute`, at a time.

    Args:
      name: the name of the node.
      shared_name: the name under which sessions share it; `name` by default.
      critical_section_def: not used, as in TensorFlow.
      import_scope: not used, as in TensorFlow.
    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def and name is not None:
            raise ValueError("critical_section_def and shared_name are mutually exclusive.")
        if critical_section_def:
            raise ValueError("Sections are not made from a CriticalSectionDef.")
        with name_scope(name, "CriticalSection", []) as scope, init_scope():
            self._handle = ops.mutex_v2(shared_name=scope if shared_name is None else shared_name, name=scope)
        _note(CRITICAL_SECTIONS, self)

    @property
    def name(self):
        return self._handle.op.name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What `fn()` returns, as tensors: its operations run while no others of this section do.

        Args:
          fn: a function without arguments.
          exclusive_resource_access: whether no other section may use the resources that `fn` uses.
          name: the scope of the nodes.

        Raises:
          ValueError: if `fn` uses the section itself, or another section uses a resource that one wants for itself.
        """
        graph = get_default_graph()
        with name_scope(name, "critical_section_execute", []):
            lock = ops.mutex_lock(self._handle)
            result, resources = _called(fn, lock)
            if any(resource is self._handle for resource in resources):
                raise ValueError(
                    "The function fn attempts to directly access the CriticalSection in which it would be running.  "
                    "This is illegal and would cause deadlocks."
                )
            self._check(resources, exclusive_resource_access)
            flat = [_identity(value) for value in nest.flatten(result)]
            with graph.control_dependencies([value for value in flat if value is not None]):
                with graph.colocate_with(self._handle):
                    unlocked = ops.consume_mutex_lock(lock)
                result = nest.pack_sequence_as(result, tuple_of(nest.flatten(result)))
            with graph.control_dependencies([unlocked]):
                outputs = nest.map_structure(_identity, result)
            _note_execution(self, lock, resources, exclusive_resource_access)
            return outputs

    def _check(self, resources, is_exclusive):
        """Raises ValueError where another section uses a resource that one of both wants for itself."""
        graph = get_default_graph()
        for execution in graph.get_collection(CRITICAL_SECTION_EXECUTIONS):
            if execution.handle is self._handle:
                continue
            if not (is_exclusive or execution.exclusive_resource_access):
                continue
            shared = [each for each in execution.resources if any(each is resource for resource in resources)]
            if shared:
                raise ValueError(
                    "This execution would access resources: "
                    f"{[each.name for each in shared]}. Either this lock (CriticalSection: {self._handle}) or lock "
                    f"'{execution.op.name}' (CriticalSection: {execution.handle}) requested exclusive resource "
                    "access of this resource. Did you mean to call execute with keyword argument "
                    "exclusive_resource_access=False?"
                )


@by_mode
def _called(function, lock):
    """(what `function` returns when it is called after the lock, the resources that its operations use)."""
    graph = get_default_graph()
    known = len(graph.get_operations())
    with graph.control_dependencies([lock]):
        result = function()
    added = list(itertools.islice(graph.get_operations(), known, None))
    _lock_after_arguments(lock.op, added)
    inputs = {tensor: None for op in added for tensor in op.inputs if tensor.dtype is dtypes.resource}
    return result, list(inputs)


def _lock_after_arguments(lock, added):
    """Has the lock wait for what the added operations need from outside: else it might be held by who waits."""
    own = {*added, lock, *lock.control_inputs, *(tensor.op for tensor in lock.inputs)}
    needed = {tensor.op: None for op in added for tensor in op.inputs}
    needed.update({before: None for op in added for before in op.control_inputs})
    outside = sorted((op for op in needed if op not in own), key=lambda op: op._id)
    if outside:
        lock._add_control_input(group(*outside))


@by_mode
def _note(key, section):
    get_default_graph().add_to_collection(key, section)


@by_mode
def _note_execution(section, lock, resources, is_exclusive):
    get_default_graph().add_to_collection(
        CRITICAL_SECTION_EXECUTIONS, _Execution(lock.op, section._handle, resources, is_exclusive)
    )
