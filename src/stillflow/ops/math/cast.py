"""Cast: the same values in another element type."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

cast_op = define_op(
    "Cast(x: SrcT) -> (y: DstT)",
    "SrcT: type; DstT: type; Truncate: bool = false",
    elementwise="cast",
    kernel="cast(x | DstT, Truncate)",
)
cast_op.shape_rule(unchanged_shape)

_FLOATING = frozenset(
    (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.complex64, dtypes.complex128)
)


@cast_op.gradient
def _(op, grad):
    source, target = op._inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    return cast(grad, source) if source in _FLOATING and target in _FLOATING else None


@cast_op.constant_value
def _value(context):
    value, source, target = context.value(0), context.attrs["SrcT"], context.attrs["DstT"]
    if value is None or dtypes.string in (source, target) or context.attrs["Truncate"]:
        return None
    if source.is_complex and not target.is_complex:
        value, source = value.real, source.real_dtype
    if target.is_integer and source.is_floating and not np.all(np.abs(value) < 2**31):
        return None  # numpy does not say what becomes of what does not fit
    return np.asarray(value.astype(target.as_numpy_dtype))


@public("cast", "dtypes.cast")
@dispatched
def cast(x, dtype, name=None):
    """`x` with elements of another type; tensors that have it already come back as they are.

    Args:
      x: a tensor, IndexedSlices, SparseTensor, or what becomes a tensor.
      dtype: the type to have.

    Returns:
      The same kind as x. Floats become integers by truncation.
    """
    target = dtypes.as_dtype(dtype).base_dtype
    # A resource variable is read by what takes it.
    if (isinstance(x, Tensor) or hasattr(x, "_handle")) and x.dtype == target:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, target, name=scope), x.indices, x.dense_shape)
        if hasattr(x, "dense_shape"):
            return type(x)(x.indices, cast(x.values, target, name=scope), x.dense_shape)
        x = convert_to_tensor(x, name="x")
        return x if x.dtype.base_dtype is target else cast_op(x, DstT=target, name=scope)


@public("saturate_cast", "dtypes.saturate_cast")
@dispatched
def saturate_cast(value, dtype, name=None):
    """`cast` that takes what does not fit to the nearest value that does."""
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype is dtypes.bool_:
            raise TypeError(f"Cannot find minimum value of {dtype}.")
        if value.dtype.min < dtype.min:
            value = ops.maximum(value, convert_to_tensor(dtype.min, dtype=value.dtype, name="min"))
        if value.dtype.max > dtype.max:
            value = ops.minimum(value, convert_to_tensor(dtype.max, dtype=value.dtype, name="max"))
        return cast(value, dtype, name=scope)


@public("to_float")
def to_float(x, name="ToFloat"):
    """`x` as float32."""
    return cast(x, dtypes.float32, name)


@public("to_double")
def to_double(x, name="ToDouble"):
    """`x` as float64."""
    return cast(x, dtypes.float64, name)


@public("to_int32")
def to_int32(x, name="ToInt32"):
    """`x` as int32."""
    return cast(x, dtypes.int32, name)


@public("to_int64")
def to_int64(x, name="ToInt64"):
    """`x` as int64."""
    return cast(x, dtypes.int64, name)


@public("to_bfloat16")
def to_bfloat16(x, name="ToBFloat16"):
    """`x` as bfloat16."""
    return cast(x, dtypes.bfloat16, name)


@public("to_complex64")
def to_complex64(x, name="ToComplex64"):
    """`x` as complex64."""
    return cast(x, dtypes.complex64, name)


@public("to_complex128")
def to_complex128(x, name="ToComplex128"):
    """`x` as complex128."""
    return cast(x, dtypes.complex128, name)
