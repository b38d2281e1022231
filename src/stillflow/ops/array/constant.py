"""Const: a value that is part of the graph."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.python_values import make_tensor_value
from stillflow.graph.shape_inference import as_partial
from stillflow.names import public
from stillflow.ops.registry import define_op

const = define_op(
    "Const() -> (output: dtype)", "value: tensor; dtype: type", special="constant", differentiable=False
)


@const.shape_rule
def _(context):
    return context.attrs["value"].dims


@const.constant_value
def _(context):
    return context.attrs["value"].array()


@const.partial_value
def _(context):
    value = context.attrs["value"]
    return as_partial(value.array()) if value.dtype.is_integer and value.element_count <= 64 else None


@public("python.ops.array_ops.constant", "python.ops.standard_ops.constant")
@public("constant")
def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A constant tensor.

    Args:
      value: a Python value, nested lists, or an array.
      dtype: the element type; by default that of the value, with Python floats as float32 and ints as int32.
      shape: the shape; fewer values than it holds are filled up with the last one.
      verify_shape: whether the value must have exactly that shape.

    Raises:
      TypeError: if the value is not of the dtype, or not of the shape to be verified.
      ValueError: for None, ragged lists, or more values than the shape holds.
    """
    graph = get_default_graph()
    tensor_value = graph.version_of(make_tensor_value)(value, dtype, shape, verify_shape)
    attrs = {"value": tensor_value, "dtype": tensor_value.dtype}
    return graph._add_node(const.op_def, [], attrs, name)._outputs[0]


# ---- Lists with tensors in them ---------------------------------------------------------------------------

_PLAIN = (np.ndarray, np.generic, int, float, complex, str, bytes, bool, type(None))


def _is_tensor_like(item):
    return isinstance(item, Tensor) or (not isinstance(item, _PLAIN) and hasattr(item, "_as_graph_element"))


def contains_tensor(values) -> bool:
    """Whether there is a tensor or variable in nested lists."""
    return any(contains_tensor(item) if isinstance(item, (list, tuple)) else _is_tensor_like(item) for item in values)


def _first_dtype(values):
    for item in values:
        found = _first_dtype(item) if isinstance(item, (list, tuple)) else None
        if found is None and _is_tensor_like(item):
            found = item.dtype.base_dtype
        if found is not None:
            return found
    return None


def pack_nested(values, dtype, name):
    """Nested lists that contain tensors as one tensor: Packs of Packs. `dtype` None takes the tensors' own.

    Raises TypeError for tensors of different types when no dtype is given.
    """
    inferred = _first_dtype(values)
    if dtype is not None and dtype is not inferred:
        values = _cast_tensors(values, dtype)
    return _pack(values, dtype or inferred, name)


def _cast_tensors(values, dtype):
    if isinstance(values, (list, tuple)):
        return [_cast_tensors(item, dtype) for item in values]
    if _is_tensor_like(values) and values.dtype.base_dtype is not dtype:
        return ops.cast_op(values, DstT=dtype)
    return values


@by_mode
def check_packed(tensor, dtype):
    """Raises TypeError for a tensor in a list that becomes one tensor of another type."""
    if tensor.dtype.base_dtype is not dtype:
        raise TypeError(
            f"Cannot convert a list containing a tensor of dtype {tensor.dtype} to {dtype} (Tensor is: {tensor!r})"
        )


def _pack(values, dtype: dtypes.DType, name):
    items = []
    is_packed = False
    with name_scope(name) as scope:
        for i, item in enumerate(values):
            if _is_tensor_like(item):
                check_packed(item, dtype)
            elif isinstance(item, (list, tuple)):
                item = _pack(item, dtype, str(i))
            is_packed = is_packed or _is_tensor_like(item)
            items.append(item)
        if not is_packed:
            return items
        tensors = [
            item if _is_tensor_like(item) else constant(item, dtype, name=str(i)) for i, item in enumerate(items)
        ]
        return ops.pack(tensors, name=scope)
