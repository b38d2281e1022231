"""Rows of variables changed by their indices, for variables of either kind."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.variables.resource_variable import is_resource_variable


def scatter_add(variable, indices, rows, use_locking=False):
    """The variable's value after rows have been added."""
    if not is_resource_variable(variable):
        return ops.scatter_add(variable, indices, rows, use_locking=use_locking)
    return _value_after(ops.resource_scatter_add(variable.handle, indices, rows), variable)


def scatter_update(variable, indices, rows, use_locking=False):
    """The variable's value after rows have been replaced."""
    if not is_resource_variable(variable):
        return ops.scatter_update(variable, indices, rows, use_locking=use_locking)
    return _value_after(ops.resource_scatter_update(variable.handle, indices, rows), variable)


def _value_after(update, variable):
    with get_default_graph().control_dependencies([update]):
        return variable.value()
