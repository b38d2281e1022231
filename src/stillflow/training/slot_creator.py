"""Slots: the variables that an optimizer keeps for a variable, named and placed after it."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public_module
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.resource_variable import is_resource_variable
from stillflow.variables.scope import get_variable_scope, variable_scope
from stillflow.variables.slices import SaveSliceInfo
from stillflow.variables.variable import Variable

public_module("python.training.slot_creator")


def create_slot(primary, val, name, colocate_with_primary=True):
    """A variable "primary/name" with the tensor `val` as its initial value."""
    return _create(primary, val, name, val.shape.is_fully_defined(), None, None, colocate_with_primary)


def create_slot_with_initializer(primary, initializer, shape, dtype, name, colocate_with_primary=True):
    """A variable "primary/name" with an initial value made by an initializer."""
    is_known = shape.is_fully_defined()
    return _create(primary, initializer, name, is_known, shape, dtype, colocate_with_primary)


def create_zeros_slot(primary, name, dtype=None, colocate_with_primary=True):
    """A variable "primary/name" of zeros, shaped as `primary`; `dtype` is that of `primary` by default."""
    dtype = primary.dtype if dtype is None else dtype
    if primary.shape.is_fully_defined():
        return create_slot_with_initializer(primary, Zeros(), primary.shape, dtype, name, colocate_with_primary)
    value = primary.initialized_value() if isinstance(primary, Variable) else primary
    zeros = ops.zeros(ops.shape(value), dtype)
    return create_slot(primary, zeros, name, colocate_with_primary)


def _create(primary, initial_value, name, validates_shape, shape, dtype, is_colocated):
    # The name is a default name: it is made unique where another slot has it already.
    with variable_scope(None, f"{name_of(primary)}/{name}"):
        if not is_colocated:
            return _slot_variable(primary, initial_value, validates_shape, shape, dtype)
        with get_default_graph().colocate_with(primary):
            return _slot_variable(primary, initial_value, validates_shape, shape, dtype)


def _slot_variable(primary, initial_value, validates_shape, shape, dtype):
    scope = get_variable_scope()
    partitioner = scope.partitioner
    scope.set_partitioner(None)
    slot = get_variable(
        "",
        initializer=initial_value,
        trainable=False,
        shape=shape if callable(initial_value) else None,
        dtype=dtype,
        validate_shape=validates_shape,
        use_resource=is_resource_variable(primary),
    )
    scope.set_partitioner(partitioner)
    info = getattr(primary, "_save_slice_info", None)
    if info is not None:
        # A slot of a part is the same part of a slot of the whole. In a variable scope the slot's name begins with
        # that scope, too; TensorFlow cuts off as many characters all the same, and so do names in checkpoints.
        own_name = name_of(slot)[len(name_of(primary)) + 1 :]
        slot._set_save_slice_info(
            SaveSliceInfo(f"{info.full_name}/{own_name}", info.full_shape, info.var_offset, info.var_shape)
        )
    return slot


def name_of(primary):
    """What the names of slots begin with."""
    return primary._shared_name if isinstance(primary, Variable) else primary.op.name
