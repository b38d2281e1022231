"""Sums of several tensors: AddN and AccumulateNV2."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape, as_shape, merge
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.names import public
from stillflow.ops.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

_NUMBERS = (
    "float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64"
)

add_n_op = define_op(
    "AddN(inputs: N * T) -> (sum: T)",
    f"N: int >= 1; T: {{{_NUMBERS}, variant}}",
    elementwise="add",
    kernel="add_n(inputs)",
    broadcasts=False,
    commutative=True,
    aggregate=True,
)
accumulate_nv2 = define_op(
    "AccumulateNV2(inputs: N * T) -> (sum: T)",
    f"N: int >= 1; T: {{{_NUMBERS}}}; shape: shape",
    elementwise="add",
    kernel="add_n(inputs)",
    broadcasts=False,
    commutative=True,
    aggregate=True,
)


@add_n_op.shape_rule
def _(context):
    merged = context.shapes[-1]
    for i in range(len(context.shapes) - 2, -1, -1):
        combined = merge(context.shapes[i], merged)
        if combined is False:
            message = incompatible(context.shapes[i], merged)
            raise ShapeError(f"{message}\n\tFrom merging shape {i} with other shapes.")
        merged = combined
    return merged


@accumulate_nv2.shape_rule
def _(context):
    return context.attrs["shape"]._dims


@add_n_op.folded_value
def _(context):
    values = [context.value(i) for i in range(context.attrs["N"])]
    if any(value is None for value in values) or not context.attrs["T"].is_integer:
        return None
    return np.sum(values, 0, values[0].dtype)


@add_n_op.gradient
@accumulate_nv2.gradient
def _(op, grad):
    return [grad] * len(op._inputs)


_WANTED = "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"


@public("add_n", "math.add_n")
@dispatched
def add_n(inputs, name=None):
    """The sum of a list of tensors (or IndexedSlices) of one shape and type.

    Raises:
      ValueError: if there is none, or their shapes or types differ.
    """
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(_WANTED)
    inputs = convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, (Tensor, IndexedSlices)) for x in inputs):
        raise ValueError(_WANTED)
    if len(inputs) > 1:
        return add_n_op(inputs, name=name)
    value = convert_to_tensor(inputs[0])
    return ops.identity(value, name=name) if name else value


@public("accumulate_n", "math.accumulate_n")
def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of a list of tensors of one shape and type.

    Args:
      shape: what is known of the shape besides.
      tensor_dtype: the type that they must have.

    Raises:
      ValueError: if there is none, or their shapes or types differ.
      TypeError: if they are not of `tensor_dtype`.
    """
    wanted = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not inputs or not isinstance(inputs, (list, tuple)):
        raise ValueError(wanted)
    inputs = convert_n_to_tensor_or_indexed_slices(inputs)
    if not all(isinstance(x, Tensor) and x.dtype == inputs[0].dtype for x in inputs):
        raise ValueError(wanted)
    shape = TensorShape(None) if shape is None else as_shape(shape)
    for tensor in inputs:
        shape = shape.merge_with(tensor.shape)
    if tensor_dtype is not None and tensor_dtype != inputs[0].dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {inputs[0].dtype}")
    if len(inputs) > 1:
        return accumulate_nv2(inputs, shape=shape, name=name)
    return inputs[0] if name is None else ops.identity(inputs[0], name=name)
