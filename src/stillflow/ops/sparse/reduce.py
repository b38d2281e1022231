"""SparseReduceSum and SparseReduceMax, with dense and with sparse results."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.math.reduction import reduced_dims, reduced_shape
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import SparseTensor, parts

_REALS = "float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64"
_NUMBERS = (
    "float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64"
)


def _reduction(name, types, operation, is_sparse, differentiable=None):
    outputs = "output_indices: int64, output_values: T, output_shape: int64" if is_sparse else "output: T"
    return define_op(
        f"{name}(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32) -> ({outputs})",
        f"keep_dims: bool = false; T: {{{types}}}",
        kernel="sparse_reduce(input_indices, input_values, input_shape, reduction_axes | keep_dims, "
        f"'{operation}', {str(is_sparse).lower()})",
        differentiable=differentiable,
    )


sparse_reduce_sum_op = _reduction("SparseReduceSum", _NUMBERS, "sum", False, differentiable=True)
sparse_reduce_sum_sparse_op = _reduction("SparseReduceSumSparse", _NUMBERS, "sum", True)
sparse_reduce_max_op = _reduction("SparseReduceMax", _REALS, "max", False)
sparse_reduce_max_sparse_op = _reduction("SparseReduceMaxSparse", _REALS, "max", True)


@sparse_reduce_sum_op.shape_rule
@sparse_reduce_max_op.shape_rule
def _(context):
    dims, axes = context.value(2), context.value(3)
    if dims is None or axes is None:
        return None
    if any(not -len(dims) <= axis < len(dims) for axis in np.atleast_1d(axes)):
        return None  # the kernel says so
    return reduced_dims(tuple(int(size) for size in dims), axes, context.attrs["keep_dims"])


@sparse_reduce_sum_sparse_op.shape_rule
@sparse_reduce_max_sparse_op.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 2)
    return [None, None, None]


@sparse_reduce_sum_op.gradient
def _(op, grad):
    """Each entry has the gradient of the element that it was added to."""
    indices, _, shape, axes = op._inputs
    kept = reduced_shape(shape, axes)
    grad = ops.reshape(grad, kept)
    scale = shape // ops.cast(kept, dtypes.int64)
    return None, ops.gather_nd(grad, indices // scale), None, None


def _all_axes(sp_input, axis, reduction_axes):
    """The axes to reduce: those that are given, or all. Raises ValueError if they are given twice."""
    if reduction_axes is not None:
        if axis is not None:
            raise ValueError("Can't specify both axis' and 'reduction_indices'.")
        axis = reduction_axes
    if axis is not None:
        return axis
    dims = sp_input.shape.rank
    if dims is not None:
        return ops.constant(np.arange(dims), dtypes.int32)
    return ops.range(0, ops.rank(sp_input))


def _reduced(op, sp_input, axis, keepdims, reduction_axes, keep_dims):
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    return op(*parts(sp_input), _all_axes(sp_input, axis, reduction_axes), keep_dims=keepdims)


@public("sparse_reduce_sum", "sparse.reduce_sum")
def sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """Sums over `axis`, or over all axes, as a dense tensor."""
    return _reduced(sparse_reduce_sum_op, sp_input, axis, keepdims, reduction_axes, keep_dims)


@public("sparse_reduce_sum_sparse", "sparse.reduce_sum_sparse")
def sparse_reduce_sum_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """Sums over `axis`, or over all axes, as a SparseTensor."""
    return SparseTensor(*_reduced(sparse_reduce_sum_sparse_op, sp_input, axis, keepdims, reduction_axes, keep_dims))


@public("sparse_reduce_max", "sparse.reduce_max")
def sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """The largest entries over `axis`, or over all axes, as a dense tensor; 0 where there is no entry."""
    return _reduced(sparse_reduce_max_op, sp_input, axis, keepdims, reduction_axes, keep_dims)


@public("sparse_reduce_max_sparse", "sparse.reduce_max_sparse")
def sparse_reduce_max_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """The largest entries over `axis`, or over all axes, as a SparseTensor."""
    return SparseTensor(*_reduced(sparse_reduce_max_sparse_op, sp_input, axis, keepdims, reduction_axes, keep_dims))
