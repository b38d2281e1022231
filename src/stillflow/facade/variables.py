"""tf.*: variables."""

from __future__ import annotations

from stillflow import ops
from stillflow.variables import (
    Variable,
    global_variables,
    global_variables_initializer,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    trainable_variables,
    variables_initializer,
)

__all__ = [
    "Variable",
    "all_variables",
    "assign",
    "assign_add",
    "assign_sub",
    "global_variables",
    "global_variables_initializer",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "is_variable_initialized",
    "local_variables",
    "local_variables_initializer",
    "model_variables",
    "moving_average_variables",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd_add",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "trainable_variables",
    "variables_initializer",
]

# Names from before TensorFlow 1.0.
all_variables = global_variables
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer
initialize_variables = variables_initializer


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """A tensor that, when computed, sets the variable `ref` to `value`."""
    return ops.assign(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    """A tensor that, when computed, adds `value` to the variable `ref`."""
    return ops.assign_add(ref, value, use_locking=use_locking, name=name)


def assign_sub(ref, value, use_locking=None, name=None):
    """A tensor that, when computed, subtracts `value` from the variable `ref`."""
    return ops.assign_sub(ref, value, use_locking=use_locking, name=name)


def is_variable_initialized(variable):
    """A bool tensor: whether the variable has a value in the session that computes it."""
    return ops.is_variable_initialized(variable._ref())


def scatter_update(ref, indices, updates, use_locking=True, name=None):
    """A tensor that, when computed, sets rows `indices` of the variable `ref` to `updates`."""
    return ops.scatter_update(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_add(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, adds `updates` to rows `indices` of the variable `ref`."""
    return ops.scatter_add(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_sub(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, subtracts `updates` from rows `indices` of the variable `ref`."""
    return ops.scatter_sub(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_mul(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, multiplies rows `indices` of the variable `ref` by `updates`."""
    return ops.scatter_mul(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_div(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, divides rows `indices` of the variable `ref` by `updates`."""
    return ops.scatter_div(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_min(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, takes the lesser of rows `indices` of the variable `ref` and `updates`."""
    return ops.scatter_min(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_max(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, takes the greater of rows `indices` of the variable `ref` and `updates`."""
    return ops.scatter_max(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_nd_update(ref, indices, updates, use_locking=True, name=None):
    """A tensor that, when computed, sets parts of the variable `ref` to `updates`.

    The last dimension of `indices` holds index tuples.
    """
    return ops.scatter_nd_update(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_nd_add(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, adds `updates` to parts of the variable `ref`.

    The last dimension of `indices` holds index tuples.
    """
    return ops.scatter_nd_add(ref, indices, updates, use_locking=use_locking, name=name)


def scatter_nd_sub(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, subtracts `updates` from parts of the variable `ref`.

    The last dimension of `indices` holds index tuples.
    """
    return ops.scatter_nd_sub(ref, indices, updates, use_locking=use_locking, name=name)
