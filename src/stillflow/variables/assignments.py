"""tf.assign, tf.scatter_add and their kin: changes of variables of either kind."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.variables.batch_places import batch_places
from stillflow.variables.resource_variable import is_resource_variable


@public("assign")
def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Sets a variable, once the returned tensor is computed.

    Args:
      ref: a variable, or the part `variable[...]` of one.
      value: a tensor of the variable's type and shape, or what becomes one.
      validate_shape: whether the shape must be the variable's. With False a reference variable takes another shape;
        resource variables ignore it.
      use_locking: accepted for compatibility; updates are always atomic.
      name: a name for the operation.

    Returns:
      A tensor, the reference of a reference variable; for a resource variable what its `assign` returns: it reads
      the new value.

    Raises:
      ValueError: if the shapes differ.
      TypeError, ValueError: if `value` is a tensor of another type.
    """
    if not ref.dtype._is_ref_dtype:
        return ref.assign(value, name=name)
    return ops.assign(ref, value, validate_shape=validate_shape, use_locking=use_locking, name=name)


@public("assign_add")
def assign_add(ref, value, use_locking=None, name=None):
    """A tensor that, when computed, adds `value` to the variable `ref`."""
    if not ref.dtype._is_ref_dtype:
        return ref.assign_add(value)
    return ops.assign_add(ref, value, use_locking=use_locking, name=name)


@public("assign_sub")
def assign_sub(ref, value, use_locking=None, name=None):
    """A tensor that, when computed, subtracts `value` from the variable `ref`."""
    if not ref.dtype._is_ref_dtype:
        return ref.assign_sub(value)
    return ops.assign_sub(ref, value, use_locking=use_locking, name=name)


@public("count_up_to")
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


@public("python.ops.state_ops.is_variable_initialized")
@public("is_variable_initialized")
def is_variable_initialized(variable):
    """A bool tensor: whether the variable has a value in the session that computes it."""
    if isinstance(variable, Tensor):
        return ops.is_variable_initialized(variable)
    return variable.is_initialized()


@public("scatter_update")
def scatter_update(ref, indices, updates, use_locking=True, name=None):
    """A tensor that, when computed, sets rows `indices` of the variable `ref` to `updates`."""
    return _scatter(ops.scatter_update, ref, indices, updates, use_locking, name)


@public("scatter_add")
def scatter_add(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, adds `updates` to rows `indices` of the variable `ref`."""
    return _scatter(ops.scatter_add, ref, indices, updates, use_locking, name)


@public("scatter_sub")
def scatter_sub(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, subtracts `updates` from rows `indices` of the variable `ref`."""
    return _scatter(ops.scatter_sub, ref, indices, updates, use_locking, name)


@public("scatter_mul")
def scatter_mul(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, multiplies rows `indices` of the variable `ref` by `updates`."""
    return _scatter(ops.scatter_mul, ref, indices, updates, use_locking, name)


@public("scatter_div")
def scatter_div(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, divides rows `indices` of the variable `ref` by `updates`."""
    return _scatter(ops.scatter_div, ref, indices, updates, use_locking, name)


@public("scatter_min")
def scatter_min(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, takes the lesser of rows `indices` of the variable `ref` and `updates`."""
    return _scatter(ops.scatter_min, ref, indices, updates, use_locking, name)


@public("scatter_max")
def scatter_max(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, takes the greater of rows `indices` of the variable `ref` and `updates`."""
    return _scatter(ops.scatter_max, ref, indices, updates, use_locking, name)


@public("scatter_nd_update")
def scatter_nd_update(ref, indices, updates, use_locking=True, name=None):
    """A tensor that, when computed, sets parts of the variable `ref` to `updates`.

    The last dimension of `indices` holds index tuples.
    """
    return _scatter_nd(ops.scatter_nd_update, ref, indices, updates, use_locking, name)


@public("scatter_nd_add")
def scatter_nd_add(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, adds `updates` to parts of the variable `ref`.

    The last dimension of `indices` holds index tuples.
    """
    return _scatter_nd(ops.scatter_nd_add, ref, indices, updates, use_locking, name)


@public("scatter_nd_sub")
def scatter_nd_sub(ref, indices, updates, use_locking=False, name=None):
    """A tensor that, when computed, subtracts `updates` from parts of the variable `ref`.

    The last dimension of `indices` holds index tuples.
    """
    return _scatter_nd(ops.scatter_nd_sub, ref, indices, updates, use_locking, name)


@public("batch_scatter_update")
def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """What, when computed, sets ref[i, ..., indices[i, ..., j]] to updates[i, ..., j].

    Raises ValueError if the rank of `indices` is not known.
    """
    with name_scope(name):
        places = batch_places(indices)
        return scatter_nd_update(ref, places, updates, use_locking=use_locking)
