"""TridiagonalSolve and TridiagonalMatMul: matrices of three diagonals."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_TYPES = "T: {float64, float32, complex64, complex128}"
tridiagonal_solve = define_op(
    "TridiagonalSolve(diagonals: T, rhs: T) -> (output: T)",
    f"partial_pivoting: bool = true; {_TYPES}",
    kernel="tridiagonal_solve(diagonals, rhs | partial_pivoting)",
)
tridiagonal_mat_mul = define_op(
    "TridiagonalMatMul(superdiag: T, maindiag: T, subdiag: T, rhs: T) -> (output: T)",
    _TYPES,
    kernel="tridiagonal_mat_mul(superdiag, maindiag, subdiag, rhs)",
)


@tridiagonal_solve.shape_rule
def _(context):
    diagonals = plain.with_rank_at_least(context.shapes[0], 2)
    rhs = plain.with_rank_at_least(context.shapes[1], 2)
    if diagonals is None or rhs is None:
        return rhs
    if len(diagonals) != len(rhs):
        raise ShapeError(f"Expected the rank of rhs to be {len(diagonals)}, got {len(rhs)}")
    batch = plain.merged(diagonals[:-2], rhs[:-2])
    plain.merged_size(diagonals[-2], 3)
    return (*batch, plain.merged_size(diagonals[-1], rhs[-2]), rhs[-1])


@tridiagonal_mat_mul.shape_rule
def _(context):
    rhs = plain.with_rank_at_least(context.shapes[3], 2)
    for diagonal in context.shapes[:3]:
        diagonal = plain.with_rank_at_least(diagonal, 2)
        if diagonal is None:
            continue
        plain.merged_size(diagonal[-2], 1)
        if rhs is not None:
            rhs = (*plain.merged(rhs[:-2], diagonal[:-2]), plain.merged_size(rhs[-2], diagonal[-1]), rhs[-1])
    return rhs


# ---- Gradients --------------------------------------------------------------------------------------------------


def _shifted(x, rows, sides):
    """Some rows of matrices, with so many zeros before and after along the last two dimensions."""
    zeros = ops.zeros((ops.rank(x) - 2, 2), dtypes.int32)
    paddings = ops.concat([zeros, ops.constant(sides)], axis=0)
    return ops.pad(x[..., rows, :], paddings)


def _up(x):
    """The rows one further up, and zeros in the last."""
    return _shifted(x, slice(1, None), [[0, 1], [0, 0]])


def _down(x):
    """The rows one further down, and zeros in the first."""
    return _shifted(x, slice(None, -1), [[1, 0], [0, 0]])


@tridiagonal_mat_mul.gradient
def _(op, grad):
    above, main, below = (ops.matrix_transpose(diagonal, conjugate=True) for diagonal in op._inputs[:3])
    rhs = ops.conj(op._inputs[3])
    by_above = ops.reduce_sum(_up(rhs) * grad, axis=-1)
    by_main = ops.reduce_sum(rhs * grad, axis=-1)
    by_below = ops.reduce_sum(_down(rhs) * grad, axis=-1)
    by_rhs = _down(above * grad) + main * grad + _up(below * grad)
    by_above, by_main, by_below = (ops.expand_dims(each, -2) for each in (by_above, by_main, by_below))
    return by_above, by_main, by_below, by_rhs


@tridiagonal_solve.gradient
def _(op, grad):
    diagonals, solution = op._inputs[0], op._outputs[0]
    transposed = _transposed(diagonals)
    by_rhs = tridiagonal_solve(transposed, grad, partial_pivoting=op._attrs["partial_pivoting"])
    return -_diagonals_of_product(by_rhs, solution), by_rhs


def _transposed(diagonals):
    """The diagonals of the transposed matrix."""
    main = diagonals[..., 1, :]
    if diagonals.shape.is_fully_defined():
        zeros = ops.zeros([*diagonals.shape.as_list()[:-2], 1], diagonals.dtype)
        above = ops.concat((diagonals[..., 2, 1:], zeros), axis=-1)
        below = ops.concat((zeros, diagonals[..., 0, :-1]), axis=-1)
    else:
        rank = ops.rank(diagonals)
        zeros = ops.zeros((rank - 2, 2), dtypes.int32)
        paddings = ops.concat((zeros, ops.constant([[0, 1]])), axis=0)
        above = ops.pad(diagonals[..., 2, 1:], paddings)
        paddings = ops.concat((zeros, ops.constant([[1, 0]])), axis=0)
        below = ops.pad(diagonals[..., 0, :-1], paddings)
    return ops.stack([above, main, below], axis=-2)


def _diagonals_of_product(x, y):
    """Three diagonals of x * y transposed."""
    main = ops.reduce_sum(x * y, axis=-1)
    if y.shape.is_fully_defined():
        zeros = ops.zeros([*x.shape.as_list()[:-2], 1, x.shape.as_list()[-1]], x.dtype)
        above = ops.reduce_sum(x * ops.concat((y[..., 1:, :], zeros), axis=-2), axis=-1)
        below = ops.reduce_sum(x * ops.concat((zeros, y[..., :-1, :]), axis=-2), axis=-1)
    else:
        rank = ops.rank(y)
        zeros = ops.zeros((rank - 2, 2), dtypes.int32)
        paddings = ops.concat((zeros, ops.constant([[0, 1], [0, 0]])), axis=0)
        above = ops.reduce_sum(x * ops.pad(y[..., 1:, :], paddings), axis=-1)
        paddings = ops.concat((zeros, ops.constant([[1, 0], [0, 0]])), axis=0)
        below = ops.reduce_sum(x * ops.pad(y[..., :-1, :], paddings), axis=-1)
    return ops.stack([above, main, below], axis=-2)
