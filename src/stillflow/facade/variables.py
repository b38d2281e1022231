"""tf.*: variables."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.batch_places import batch_places
from stillflow.variables.readiness import (
    assert_variables_initialized,
    report_uninitialized_variables,
    tables_initializer,
)
from stillflow.variables.resource_variable import is_resource_variable
from stillflow.variables.variable import (
    Variable,
    global_variables,
    global_variables_initializer,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    trainable_variables,
    use_resources_by_default,
    variables_initializer,
)

__all__ = [
    "Variable",
    "all_variables",
    "assert_variables_initialized",
    "assign",
    "assign_add",
    "assign_sub",
    "batch_scatter_update",
    "count_up_to",
    "disable_resource_variables",
    "enable_resource_variables",
    "global_variables",
    "global_variables_initializer",
    "initialize_all_tables",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "is_variable_initialized",
    "local_variables",
    "local_variables_initializer",
    "model_variables",
    "moving_average_variables",
    "report_uninitialized_variables",
    "resource_variables_enabled",
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
    "tables_initializer",
    "trainable_variables",
    "variables_initializer",
]


# Names from before TensorFlow 1.0.
initialize_all_tables = tables_initializer


def all_variables():
    """`global_variables` under the name that it had before TensorFlow 1.0."""
    return global_variables()


initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer
initialize_variables = variables_initializer


def enable_resource_variables():
    """From now on variables are resource variables where nothing says otherwise."""
    use_resources_by_default(True)


def disable_resource_variables():
    """From now on variables are reference variables where nothing says otherwise."""
    use_resources_by_default(False)


def resource_variables_enabled():
    """Whether variables are resource variables where nothing says otherwise."""
    return use_resources_by_default()


def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """A tensor that, when computed, sets the variable `ref` to `value`."""
    if is_resource_variable(ref):
        return ref.assign(value, name=name)
    return ops.assign(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)


def assign_add(ref, value, use_locking=None, name=None):
    """A tensor that, when computed, adds `value` to the variable `ref`."""
    if is_resource_variable(ref):
        return ref.assign_add(value)
    return ops.assign_add(ref, value, use_locking=use_locking, name=name)


def assign_sub(ref, value, use_locking=None, name=None):
    """A tensor that, when computed, subtracts `value` from the variable `ref`."""
    if is_resource_variable(ref):
        return ref.assign_sub(value)
    return ops.assign_sub(ref, value, use_locking=use_locking, name=name)


def count_up_to(ref, limit, name=None):
    """A tensor that, when computed, counts a scalar integer variable up by one; its value is that before.

    Raises:
      ValueError: if the variable is known not to be a scalar.
      At run time: tf.errors.OutOfRangeError when the variable has reached `limit`.
    """
    if is_resource_variable(ref):
        return ops.resource_count_up_to(ref.handle, limit=limit, T=ref.dtype, name=name)
    return ops.count_up_to(ref, limit=limit, name=name)


def _scatter(function, ref, indices, updates, use_locking, name):
    if is_resource_variable(ref):
        return ref._scatter_rows(function, indices, updates, name)
    return function(ref, indices, updates, use_locking=use_locking, name=name)


def _scatter_nd(function, ref, indices, updates, use_locking, name):
    if is_resource_variable(ref):
        return ref._scatter_parts(function, indices, updates, name)
    return function(ref, indices, updates, use_locking=use_locking, name=name)


def is_variable_initialized(variable):
    """A bool tensor: whether the variable has a value in the session that computes it."""
    return variable.is_initialized()


def scatter_update(ref, indices, updates, use_locking=True, name=None):
    """A tensor that, when computed, sets rows `indices` of the variable `ref` to `updates`."""
    return _scatter(ops.scatter_update, ref, indices, updates, use_locking, name)


def scatter_add(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, adds `updates` to rows `indices` of the variable `ref`."""
    return _scatter(ops.scatter_add, ref, indices, updates, use_locking, name)


def scatter_sub(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, subtracts `updates` from rows `indices` of the variable `ref`."""
    return _scatter(ops.scatter_sub, ref, indices, updates, use_locking, name)


def scatter_mul(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, multiplies rows `indices` of the variable `ref` by `updates`."""
    return _scatter(ops.scatter_mul, ref, indices, updates, use_locking, name)


def scatter_div(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, divides rows `indices` of the variable `ref` by `updates`."""
    return _scatter(ops.scatter_div, ref, indices, updates, use_locking, name)


def scatter_min(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, takes the lesser of rows `indices` of the variable `ref` and `updates`."""
    return _scatter(ops.scatter_min, ref, indices, updates, use_locking, name)


def scatter_max(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, takes the greater of rows `indices` of the variable `ref` and `updates`."""
    return _scatter(ops.scatter_max, ref, indices, updates, use_locking, name)


def scatter_nd_update(ref, indices, updates, use_locking=True, name=None):
    """A tensor that, when computed, sets parts of the variable `ref` to `updates`.

    The last dimension of `indices` holds index tuples.
    """
    return _scatter_nd(ops.scatter_nd_update, ref, indices, updates, use_locking, name)


def scatter_nd_add(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, adds `updates` to parts of the variable `ref`.

    The last dimension of `indices` holds index tuples.
    """
    return _scatter_nd(ops.scatter_nd_add, ref, indices, updates, use_locking, name)


def scatter_nd_sub(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, subtracts `updates` from parts of the variable `ref`.

    The last dimension of `indices` holds index tuples.
    """
    return _scatter_nd(ops.scatter_nd_sub, ref, indices, updates, use_locking, name)


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """What, when computed, sets ref[i, ..., indices[i, ..., j]] to updates[i, ..., j].

    Raises ValueError if the rank of `indices` is not known.
    """
    with name_scope(name):
        places = batch_places(indices)
        return scatter_nd_update(ref, places, updates, use_locking=use_locking)
