"""Transpose and InvertPermutation: the dimensions of an array in another order."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

plain_transpose = define_op(
    "Transpose(x: T, perm: Tperm) -> (y: T)",
    "T: type; Tperm: {int32, int64} = int32",
    kernel="transpose(x, perm)",
    traits="moves_elements",
)
conjugate_transpose = define_op(
    "ConjugateTranspose(x: T, perm: Tperm) -> (y: T)",
    "T: type; Tperm: {int32, int64} = int32",
    kernel="conjugate_transpose(x, perm)",
)
invert_permutation = define_op(
    "InvertPermutation(x: T) -> (y: T)",
    "T: {int32, int64} = int32",
    kernel="invert_permutation(x)",
    differentiable=False,
    public="invert_permutation math.invert_permutation",
    doc="y with y[x[i]] = i, for an integer vector that is a permutation of 0, 1, ..., n - 1.",
)


@plain_transpose.shape_rule
@conjugate_transpose.shape_rule
def _(context):
    dims, perm_shape = context.shapes
    perm_length = plain.with_rank(perm_shape, 1)[0]
    perm = context.value(1)
    if perm is not None:
        rank = perm.size
    elif dims is not None:
        rank = len(dims)
    else:
        rank = perm_length
    if rank is None:
        return None
    if dims is not None and perm_length not in (None, len(dims)):
        raise ShapeError(f"Dimension must be {len(dims)} but is {perm_length}")
    dims = plain.with_rank(dims, rank)
    if perm is None:
        return dims if rank <= 1 else (None,) * rank
    for axis in perm.tolist():
        if not -rank <= axis < rank:
            raise ShapeError(f"perm dim {axis} is out of range of input rank {rank}")
    return tuple(dims[axis] for axis in perm.tolist())


@plain_transpose.folded_value
def _(context):
    value, perm = context.value(0), context.value(1)
    if value is None or perm is None or sorted(perm.tolist()) != list(range(value.ndim)):
        return None
    return value.transpose(perm.tolist())


@invert_permutation.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 1)


@invert_permutation.folded_value
def _(context):
    value = context.value(0)
    if value is None or sorted(value.tolist()) != list(range(value.size)):
        return None
    return np.argsort(value).astype(value.dtype)


@public("transpose")
def transpose(a, perm=None, name="transpose", conjugate=False):
    """A tensor with its dimensions in another order: dimension i is dimension perm[i] of `a`.

    Args:
      a: a tensor.
      perm: an integer vector, a permutation of [0, rank); by default the order is reversed.
      name: a name for the operation.
      conjugate: whether complex elements are conjugated.

    Raises:
      ValueError: if `perm` has another length.
      InvalidArgumentError: when run, if it is no permutation of the dimensions.
    """
    with name_scope(name, "transpose", [a]) as scope:
        is_conjugate = conjugate and a.dtype.is_complex
        transpose_op = conjugate_transpose if is_conjugate else plain_transpose
        if perm is not None:
            return transpose_op(a, perm, name=scope)
        a = convert_to_tensor(a, name="a")
        if a._dims:
            perm = (len(a._dims) - 1) - np.arange(len(a._dims))
        else:
            rank = ops.rank_op(a)
            perm = (rank - 1) - ops.range_op(0, rank, 1)
        result = transpose_op(a, perm, name=scope)
        if a._dims is not None:
            result.set_shape(a._dims[::-1])
        return result


@public("matrix_transpose", "linalg.matrix_transpose", "linalg.transpose")
def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """`a` with its last two dimensions exchanged. Raises ValueError for less than two."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        if a._dims is None:
            rank = ops.rank(a)
            perm = ops.concat((ops.range_op(0, rank - 2, 1), [rank - 1, rank - 2]), 0)
        else:
            count = len(a._dims)
            if count < 2:
                raise ValueError(f"Argument 'a' should be a (batch) matrix, with rank >= 2.  Found: {a.shape}")
            perm = [*range(count - 2), count - 1, count - 2]
        return transpose(a, perm=perm, conjugate=conjugate)


@plain_transpose.gradient
def _(op, grad):
    return transpose(grad, invert_permutation(op._inputs[1])), None


@conjugate_transpose.gradient
def _(op, grad):
    return transpose(grad, invert_permutation(op._inputs[1]), conjugate=True), None
