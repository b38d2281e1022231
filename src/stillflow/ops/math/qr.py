"""Qr and MatrixTriangularSolve: a matrix as an orthogonal one times a triangular one, and solving with the latter."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.ops import dims as plain
from stillflow.ops.math.factors import solution
from stillflow.ops.registry import define_op

_TYPES = "{float64, float32, float16, complex64, complex128}"

qr_op = define_op(
    "Qr(input: T) -> (q: T, r: T)",
    f"full_matrices: bool = false; T: {_TYPES}",
    kernel="qr(input | full_matrices)",
    public="qr linalg.qr",
    doc="""An orthogonal matrix q and an upper triangular one r whose product is `input`, a matrix or batches of
    them.

    Args:
      input: float32 or float64 [..., m, n].
      full_matrices: whether q is [..., m, m] and r [..., m, n], or q [..., m, p] and r [..., p, n], p =
      min(m, n).

    Returns:
      A named tuple (q, r). Its gradient needs a static shape and m >= n, and m = n with full matrices.
    """,
)
matrix_triangular_solve = define_op(
    "MatrixTriangularSolve(matrix: T, rhs: T) -> (output: T)",
    f"lower: bool = true; adjoint: bool = false; T: {_TYPES}",
    kernel="matrix_triangular_solve(matrix, rhs | lower, adjoint)",
    public="matrix_triangular_solve linalg.triangular_solve",
    doc="""x of matrix * x = rhs for a triangular matrix, or batches of them.

    Args:
      matrix: float32 or float64 [..., n, n]; the triangle that is zero is not read.
      rhs: of that type [..., n, k].
      lower: whether the matrix is lower triangular rather than upper.
      adjoint: whether to solve with the adjoint of the matrix.

    Raises:
      InvalidArgumentError: if the shapes do not fit, or the diagonal has a zero.
    """,
)


@qr_op.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 2)
    if dims is None:
        return [None, None]
    *batch, m, n = dims
    if context.attrs["full_matrices"]:
        p = m
    else:
        p = None if m is None or n is None else min(m, n)
    return [(*batch, m, p), (*batch, p, n)]


@matrix_triangular_solve.shape_rule
def _(context):
    return solution(context, is_square=True)


def _adjoint(matrix):
    with name_scope(None, "adjoint", [matrix]):
        return ops.matrix_transpose(matrix, conjugate=True)


def _transposed_solve(x, r):
    """x times the inverse of the adjoint of r, for an upper triangular r."""
    return _adjoint(matrix_triangular_solve(r, _adjoint(x), lower=False, adjoint=False))


@qr_op.gradient
def _(op, dq, dr):
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError(f"QrGrad not implemented for dtype: {q.dtype}")
    dims = r._dims
    if dims is None or dims[-1] is None or dims[-2] is None:
        raise NotImplementedError("QrGrad not implemented with dynamic shapes.")
    if dims[-1] != dims[-2]:
        raise NotImplementedError(
            "QrGrad not implemented when ncols > nrows or full_matrices is true and ncols != nrows."
        )
    qdq = ops.matmul(q, dq, adjoint_a=True)
    q_part = qdq - _adjoint(qdq)
    rdr = ops.matmul(r, dr, adjoint_b=True)
    r_part = rdr - _adjoint(rdr)
    lower = ops.matrix_band_part(q_part + r_part, -1, 0)
    inside = ops.matmul(q, dr + _transposed_solve(lower, r))
    return inside + _transposed_solve(dq - ops.matmul(q, qdq), r)


@matrix_triangular_solve.gradient
def _(op, grad):
    is_adjoint, is_lower = op._attrs["adjoint"], op._attrs["lower"]
    solution = op.outputs[0]
    by_rhs = matrix_triangular_solve(op.inputs[0], grad, lower=is_lower, adjoint=not is_adjoint)
    if is_adjoint:
        by_matrix = -ops.matmul(solution, by_rhs, adjoint_b=True)
    else:
        by_matrix = -ops.matmul(by_rhs, solution, adjoint_b=True)
    return ops.matrix_band_part(by_matrix, *((-1, 0) if is_lower else (0, -1))), by_rhs
