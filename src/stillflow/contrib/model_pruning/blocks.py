"""Blocks of matrices, and assignments to variables that may be partitioned."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.pool import pool
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.assignments import assign


@public("contrib.model_pruning.python.pruning_utils.kronecker_product")
def kronecker_product(mat1, mat2):
    """The Kronecker product [m p, n q] of matrices [m, n] and [p, q]."""
    (m, n), (p, q) = mat1.shape.as_list(), mat2.shape.as_list()
    product = ops.reshape(mat1, [m, 1, n, 1]) * ops.reshape(mat2, [1, p, 1, q])
    return ops.reshape(product, [m * p, n * q])


@public("contrib.model_pruning.python.pruning_utils.expand_tensor")
def expand_tensor(tensor, block_dims):
    """A matrix with a block in place of each element, which has its value.

    Args:
      tensor: a matrix.
      block_dims: the height and width of blocks, ints.

    Raises ValueError for tensors of another rank, and for another number of sizes.
    """
    if tensor.shape.ndims != 2:
        raise ValueError("Input tensor must be rank 2")
    if len(block_dims) != 2:
        raise ValueError("block_dims must have 2 elements")
    height, width = block_dims
    if height > 1:
        tensor = _repeated_rows(tensor, height)
    if width > 1:
        tensor = ops.transpose(_repeated_rows(ops.transpose(tensor), width))
    return tensor


def _repeated_rows(matrix, count):
    rows, columns = matrix.shape.as_list()
    places = (np.arange(rows, dtype=np.int32) * count + np.arange(count, dtype=np.int32)[:, None]).reshape(-1, 1)
    return ops.scatter_nd(ops.constant(places), ops.tile(matrix, [count, 1]), [rows * count, columns])


@public("contrib.model_pruning.python.pruning_utils.factorized_pool")
def factorized_pool(input_tensor, window_shape, pooling_type, strides, padding, name=None):
    """A matrix pooled along its columns first, and then along its rows.

    Args:
      input_tensor: a matrix.
      window_shape, strides: the height and width of the window and of its steps.
      pooling_type: "MAX" or "AVG".
      padding: "SAME" or "VALID".
      name: the name scope.

    Raises ValueError for tensors of another rank.
    """
    if input_tensor.shape.ndims != 2:
        raise ValueError("factorized_pool() accepts tensors of rank 2 only")
    with name_scope(name, "factorized_pool"):
        pooled = ops.reshape(input_tensor, [1, 1, *input_tensor.shape], name=input_tensor.op.name + "_aligned")
        pooled = _pooled_rows(pooled, window_shape[0], pooling_type, strides[0], padding)
        pooled = ops.transpose(pooled, perm=[0, 1, 3, 2])
        pooled = _pooled_rows(pooled, window_shape[1], pooling_type, strides[1], padding)
    return ops.squeeze(ops.transpose(pooled, perm=[0, 1, 3, 2]), axis=[0, 1])


def _pooled_rows(x, size, kind, stride, padding):
    return pool(x, window_shape=[1, size], pooling_type=kind, strides=[1, stride], padding=padding)


@public("contrib.model_pruning.python.pruning_utils.determine_partitioned_axis")
def determine_partitioned_axis(partitioned_variable):
    """The dimension along which a variable is partitioned. Raises ValueError unless there is exactly one."""
    whole, axis = partitioned_variable.get_shape().as_list(), 0
    for part in partitioned_variable:
        shorter = np.flatnonzero(np.less(part.shape.as_list(), whole))
        if len(shorter) != 1:
            raise ValueError(f"Number of partitioned axes {len(shorter)} not equal to 1")
        axis = int(shorter[0])
    return axis


@public("contrib.model_pruning.python.pruning_utils.variable_assign")
def variable_assign(var, new_value):
    """The assignment of a tensor to a variable."""
    return assign(var, new_value, name=var.op.name + "_assign")


@public("contrib.model_pruning.python.pruning_utils.partitioned_variable_assign")
def partitioned_variable_assign(partitioned_var, new_value):
    """The operation that assigns a tensor to the parts of a partitioned variable."""
    parts = list(partitioned_var)
    axis = 0 if len(parts) == 1 else determine_partitioned_axis(partitioned_var)
    sizes = np.array([part.shape.as_list()[axis] for part in parts])
    values = ops.split(new_value, convert_to_tensor(sizes, dtype=dtypes.int32), axis=axis)
    assigned = [variable_assign(part, value) for part, value in zip(parts, values, strict=True)]
    return group(*assigned, name=partitioned_var.name + "_group_assign")
