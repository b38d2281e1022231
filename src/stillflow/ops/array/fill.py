"""Tensors with one value in every element: Fill, ZerosLike, OnesLike, and tf.zeros and tf.ones over them."""

from __future__ import annotations

import functools
import operator

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import Dimension, TensorShape
from stillflow.graph.shape_inference import ShapeError, constant_value
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

# Constants of fewer elements are written into the graph; larger ones are filled when the graph runs.
_MOST_CONSTANT_ELEMENTS = 1000

fill_op = define_op(
    "Fill(dims: index_type, value: T) -> (output: T)",
    "T: type; index_type: {int32, int64} = int32",
    kernel="fill(dims, value)",
)
zeros_like_op = define_op("ZerosLike(x: T) -> (y: T)", "T: type", kernel="zeros_like(x)", differentiable=False)
ones_like_op = define_op(
    "OnesLike(x: T) -> (y: T)",
    "T: {bfloat16, float16, float32, float64, int8, uint8, int16, uint16, int32, int64, complex64, complex128, bool}",
    kernel="ones_like(x)",
    differentiable=False,
)


@fill_op.shape_rule
def _(context):
    dims, value = context.shapes
    plain.with_rank(dims, 1)
    plain.with_rank(value, 0)
    whole = context.value(0)
    spelled = plain.spelled(context)
    if whole is not None and np.any(whole < 0):
        raise ShapeError("Fill dimensions must be >= 0")
    return spelled


@fill_op.constant_value
def _(context):
    dims, value = context.partial_value(0), context.value(1)
    if value is None or dims is None or None in dims:
        return None
    return np.full(dims, value, value.dtype)


@fill_op.gradient
def _(op, grad):
    return None, ops.reduce_sum(grad)


@zeros_like_op.shape_rule
@ones_like_op.shape_rule
def _(context):
    return context.shapes[0]


@public("fill")
def fill(dims, value, name=None):
    """A tensor of shape `dims` with `value` in every element.

    Args:
      dims: an int32 or int64 vector.
      value: a scalar.
    """
    result = fill_op(dims, value, name=name)
    return _with_static_shape(result, dims)


def _with_static_shape(tensor, shape):
    """`tensor` with what `shape` says while a function is built, where inference could not see it."""
    if not isinstance(shape, Tensor) or not get_default_graph().building_function:
        return tensor
    value = constant_value(shape)
    if value is not None:
        tensor.set_shape([size if size >= 0 else None for size in value.ravel().tolist()])
    return tensor


@public("zeros")
def zeros(shape, dtype=dtypes.float32, name=None):
    """A tensor of zeros, of False, or of empty strings.

    Args:
      shape: integers, a TensorShape, or an integer vector tensor.
      dtype: the element type.
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    value = {dtypes.bool_: False, dtypes.string: ""}.get(dtype, 0)
    return _filled(shape, value, dtype, "zeros", name)


@public("ones")
def ones(shape, dtype=dtypes.float32, name=None):
    """A tensor of ones, or of True.

    Args:
      shape: integers, a TensorShape, or an integer vector tensor.
      dtype: the element type, a number's or bool.
      name: a name for the operation.
    """
    dtype = dtypes.as_dtype(dtype).base_dtype
    return _filled(shape, True if dtype is dtypes.bool_ else 1, dtype, "ones", name)


def _filled(shape, value, dtype, default_name, name):
    with name_scope(name, default_name, [shape]) as scope:
        if not isinstance(shape, Tensor):
            _ask_for_size(shape)
            try:
                known = TensorShape(shape)
                count = None if isinstance(shape, (int, np.integer, Dimension)) else known.num_elements()
                if count is not None and count < _MOST_CONSTANT_ELEMENTS:
                    return ops.constant(value, dtype, known.as_list(), name=scope)
                shape = convert_to_tensor(known)
            except (TypeError, ValueError):  # there are tensors among the sizes
                shape = convert_to_tensor(shape, dtypes.int32)
        if not shape._dims:  # a scalar, or of unknown rank
            shape = ops.reshape(shape, [-1])
        return fill(shape, ops.constant(value, dtype), name=scope)


def _ask_for_size(shape):
    """Adds the nodes with which TensorFlow asks, in vain, whether a shape with tensors among its sizes is small."""
    if isinstance(shape, (list, tuple)) and any(hasattr(size, "op") for size in shape):
        ops.less(functools.reduce(operator.mul, shape), _MOST_CONSTANT_ELEMENTS)


@public("zeros_like")
@dispatched
def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """A tensor of zeros of another tensor's shape.

    Args:
      tensor: a tensor.
      dtype: the element type, that of `tensor` by default.
      name: a name for the operation.
      optimize: whether the result is a constant where the shape is known.
    """
    with name_scope(name, "zeros_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        if optimize and tensor.shape.is_fully_defined() and tensor.dtype is not dtypes.variant:
            return zeros(tensor.shape, dtype or tensor.dtype, name=scope)  # False, too, is no type to TensorFlow here
        dtype = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
        if dtype is not None and dtype is not tensor.dtype.base_dtype:
            return zeros(ops.shape_internal(tensor, optimize=optimize), dtype, name=scope)
        return zeros_like_op(tensor, name=scope)


@public("ones_like")
@dispatched
def ones_like(tensor, dtype=None, name=None, optimize=True):
    """A tensor of ones of another tensor's shape.

    Args:
      tensor: a tensor.
      dtype: the element type, that of `tensor` by default.
      name: a name for the operation.
      optimize: whether the result is a constant where the shape is known.
    """
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        ones_shape = ops.shape_internal(tensor, optimize=optimize)
        result = ones(ones_shape, dtype or tensor.dtype.base_dtype, name=scope)
        result.set_shape(tensor.shape)
        return result
