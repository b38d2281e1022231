"""with_shape and with_same_shape: tensors whose shapes are checked, as early as that can be."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor


@public("contrib.framework.with_same_shape")
def with_same_shape(expected_tensor, tensor):
    """`tensor`, of the shape of `expected_tensor`: see with_shape."""
    with name_scope(f"{tensor.op.name}/", values=[expected_tensor, tensor]):
        shape = expected_tensor.shape
        if shape.is_fully_defined():
            return with_shape(shape.as_list(), tensor)
        return with_shape(ops.shape(expected_tensor, name="expected_shape"), tensor)


@public("contrib.framework.with_shape")
def with_shape(expected_shape, tensor):
    """`tensor`, which fails when it is run if it has another shape, where that is not known before.

    Args:
      expected_shape: int32 sizes: a list, an array or a tensor. A tensor of one element is made a scalar for [].
      tensor: any tensor that is not sparse.

    Raises ValueError if the shape is known to be another one, and for shapes that are none.
    """
    if isinstance(tensor, SparseTensor):
        raise ValueError("SparseTensor not supported.")
    expected = _sizes(expected_shape, tensor)
    is_known = not isinstance(expected, Tensor)
    found = tensor.shape
    if not is_known or not found.is_fully_defined():
        with name_scope(f"{tensor.op.name}/", values=[tensor]):
            if is_known and len(expected) == 0:
                return ops.reshape(tensor, [])
            with get_default_graph().control_dependencies([_assert_shape(expected, tensor)]):
                result = ops.identity(tensor)
            if is_known:
                result.set_shape(expected)
            return result
    if not found.is_compatible_with(expected):
        if len(expected) == 0 and found.is_compatible_with([1]):
            with name_scope(f"{tensor.op.name}/", values=[tensor]):
                return ops.reshape(tensor, [])
        raise ValueError(f"Invalid shape for tensor {tensor.name}, expected {expected}, got {found}.")
    return tensor


def _sizes(expected, tensor):
    """An int32 tensor or array. Raises ValueError for another type or rank."""
    if isinstance(expected, (list, tuple)):
        expected = np.asarray(expected, np.int32) if not expected or _are_ints(expected) else np.asarray(expected)
    if isinstance(expected, np.ndarray) and expected.ndim > 1:
        raise ValueError(f"Invalid rank {expected.ndim} for shape {expected} expected of tensor {tensor.name}.")
    dtype = expected.dtype.base_dtype if isinstance(expected, Tensor) else getattr(expected, "dtype", None)
    if dtype is not None and dtype != (dtypes.int32 if isinstance(expected, Tensor) else np.int32):
        raise ValueError(f"Invalid dtype {expected.dtype} for shape {expected} expected of tensor {tensor.name}.")
    return expected


def _are_ints(values):
    return np.asarray(values).dtype == np.int64


def _assert_shape(expected, tensor):
    with name_scope("assert_shape", values=[tensor]) as scope:
        actual = ops.shape(tensor, name="actual")
        if isinstance(expected, TensorShape) and not expected.is_fully_defined():
            expected = [size or -1 for size in expected.as_list()]
        message = [f"Wrong shape for {tensor.name} [expected] [actual].", expected, actual]
        return assert_that(_is_shape(expected, tensor, actual), message, name=scope)


def _is_shape(expected, tensor, actual):
    with name_scope("is_shape", values=[tensor]) as scope:
        rank = ops.size(expected)
        with name_scope("is_rank", values=[tensor]) as rank_scope:
            rank = convert_to_tensor(rank, name="expected")
            is_rank = ops.equal(rank, ops.rank(tensor, name="actual"), name=rank_scope)
        with name_scope("shape_tensor_equal", values=[expected, actual]) as sizes_scope:
            is_any, is_same = ops.equal(expected, -1), ops.equal(expected, actual, "equal")
            are_sizes = ops.reduce_all(
                ops.logical_or(is_any, is_same, name="exclude_partial_shape"), name=sizes_scope
            )
        return ops.logical_and(is_rank, are_sizes, name=scope)
