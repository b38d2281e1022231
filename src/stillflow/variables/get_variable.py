"""tf.get_variable and its kin: variables by name, in the current variable scope."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.scope import default_variable_store, get_variable_scope, variable_scope


@public("get_variable")
def get_variable(
    name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
    caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
    constraint=None, synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
):  # fmt: skip
    """The variable of that name in the current variable scope: a new one, or a known one where the scope says so.

    Args:
      name: the name, put after the scope's.
      shape: the shape; not to be given when `initializer` is a value.
      dtype: the type; float32 by default.
      initializer: a callable (see tf.initializers), or the initial value. By default that of the scope, else
        glorot_uniform, or zeros for types that are not floating.
      regularizer: a function from the variable to a loss, put into GraphKeys.REGULARIZATION_LOSSES.
      trainable: whether optimizers change it by default.
      collections: the collections to add it to; by default [GraphKeys.GLOBAL_VARIABLES].
      caching_device: where to read it.
      partitioner: a function from shape and dtype to the number of parts along each axis.
      validate_shape: whether the initial value's shape must be known.
      use_resource: whether it is a resource variable; by default what the scope says, and then what
        tf.enable_resource_variables has said.
      custom_getter: a function that is called with `getter`, and all arguments, instead.
      constraint: a function from the value after an update to the value to keep.
      synchronization, aggregation: how the copies of a distributed variable are brought together.

    Raises:
      ValueError: if the variable exists and is not to be reused, does not exist and is, or is another kind.
    """
    return get_variable_scope().get_variable(
        default_variable_store(), name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
        trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
        validate_shape=validate_shape, use_resource=use_resource, custom_getter=custom_getter,
        constraint=constraint, synchronization=synchronization, aggregation=aggregation,
    )  # fmt: skip


def get_partitioned_variables(name, shape, slicing, initializer, dtype, trainable, collections, reuse):
    """The parts of a variable that is cut as `slicing` says, in a scope of its own."""
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: "
            f"shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    if isinstance(initializer, Tensor):
        dtype = initializer.dtype.base_dtype
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        if scope.custom_getter is not None:
            raise ValueError(
                "create_partitioned_variables does not work in a scope with a custom getter; use get_variable with "
                f"a partitioner. Current custom getter: {scope.custom_getter}."
            )
        with name_scope(None):
            return list(
                default_variable_store().get_partitioned(
                    scope.name, lambda **_: slicing, shape, dtypes.as_dtype(dtype),
                    scope.initializer if initializer is None else initializer, scope.reuse,
                    regularizer=scope.regularizer, trainable=trainable, collections=collections,
                    caching_device=scope.caching_device, validate_shape=True, constraint=scope.constraint,
                )
            )  # fmt: skip


@public("get_local_variable")
def get_local_variable(
    name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False, collections=None,
    caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
    constraint=None, synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
):  # fmt: skip
    """Like get_variable, for a variable that is not trained and goes into GraphKeys.LOCAL_VARIABLES."""
    return get_variable(
        name, shape, dtype, initializer, regularizer, False, [*(collections or ()), GraphKeys.LOCAL_VARIABLES],
        caching_device, partitioner, validate_shape, use_resource, custom_getter, constraint, synchronization,
        aggregation,
    )  # fmt: skip


@public("variable_op_scope")
def variable_op_scope(
    values, name_or_scope, default_name=None, initializer=None, regularizer=None, caching_device=None,
    partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, constraint=None,
):  # fmt: skip
    """The old argument order of variable_scope."""
    return variable_scope(
        name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner, custom_getter,
        reuse, dtype, use_resource, constraint,
    )  # fmt: skip


@public("create_partitioned_variables")
def create_partitioned_variables(
    shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None, name=None, reuse=None
):
    """A list of variables that are the parts of one; `slicing` says how many parts there are along each axis.

    Raises ValueError unless all of `slicing` but one number are 1.
    """
    return get_partitioned_variables(name, shape, slicing, initializer, dtype, trainable, collections, reuse)
