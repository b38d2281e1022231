"""Matrices in batches: diagonals under TensorFlow's names, batch dimensions broadcast, solutions with these."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def diag(diagonal):
    return ops.matrix_diag(diagonal, name="diag")


def diag_part(matrix):
    return ops.matrix_diag_part(matrix, name="diag_part")


def set_diag(matrix, diagonal):
    return ops.matrix_set_diag(matrix, diagonal, name="set_diag")


@public("python.ops.linalg.linear_operator_util.broadcast_matrix_batch_dims")
def broadcast_batches(batch_matrices, name=None):
    """The matrices [..., m, n], each with its own m and n, with the batch dimensions of all.

    Raises ValueError for a tensor of fewer than two dimensions, or batch dimensions that do not fit.
    """
    with name_scope(name, "broadcast_matrix_batch_dims", batch_matrices):
        matrices = [convert_to_tensor(matrix) for matrix in batch_matrices]
        for matrix in matrices:
            check_is_matrix(matrix)
        if len(matrices) < 2:
            return matrices
        batch = matrices[0].shape[:-2]
        for matrix in matrices[1:]:
            batch = ops.broadcast_static_shape(batch, matrix.shape[:-2])
        if batch.is_fully_defined():
            return [
                matrix if matrix.shape[:-2] == batch else _broadcast(matrix, batch.as_list()) for matrix in matrices
            ]
        batch = ops.shape(matrices[0])[:-2]
        for matrix in matrices[1:]:
            batch = ops.broadcast_args(batch, ops.shape(matrix)[:-2])
        return [_broadcast(matrix, batch) for matrix in matrices]


@public(
    "python.ops.distributions.util.rotate_transpose",
    "contrib.distributions.python.ops.distribution_util.rotate_transpose",
)
def rotate_transpose(x, shift, name="rotate_transpose"):
    """A tensor whose dimensions are moved by `shift` places to the right, or to the left by one that is negative.

    The dimensions that leave at one end enter at the other. Raises TypeError for a shift that is no integer.
    """
    with name_scope(name, values=[x, shift]):
        x = convert_to_tensor(x, name="x")
        shift = convert_to_tensor(shift, name="shift")
        checks.assert_integer(shift)
        rank, known_shift = x.shape.rank, constant_value(shift)
        if rank is not None and known_shift is not None:
            places = int(math.fmod(known_shift, rank)) if rank > 1 else 0
            return ops.transpose(x, perm=np.roll(np.arange(rank), places)) if places else x
        rank = ops.rank(x)
        places = ops.where_v2(ops.less(shift, 0), ops.floor_mod(-shift, rank), rank - ops.floor_mod(shift, rank))
        first, last = ops.range(0, places), ops.range(places, rank)
        return ops.transpose(x, perm=ops.concat([last, first], 0))


@public("python.ops.linalg.linear_operator_util.assert_is_batch_matrix")
def check_is_matrix(tensor):
    """Raises ValueError for a tensor that is known to have fewer than two dimensions."""
    if tensor.shape.rank is not None and tensor.shape.rank < 2:
        raise ValueError(f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}")


def _broadcast(matrix, batch):
    return ops.broadcast_to(matrix, ops.concat([batch, ops.shape(matrix)[-2:]], 0))


@public("python.ops.linalg.linear_operator_util.cholesky_solve_with_broadcast")
def cholesky_solve(chol, rhs, name=None):
    """x of chol * chol' * x = rhs, for lower triangular factors."""
    with name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        chol, rhs = broadcast_batches([chol, rhs])
        return ops.cholesky_solve(chol, rhs)


@public("python.ops.linalg.linear_operator_util.matrix_solve_with_broadcast")
def solve(matrix, rhs, adjoint=False, name=None):
    """x of matrix * x = rhs, or of matrix' * x = rhs."""
    with name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        matrix, rhs = _converted(matrix, rhs)
        matrix, rhs, restored, is_adjoint = _with_batches_as_columns(matrix, rhs, adjoint)
        matrix, rhs = broadcast_batches([matrix, rhs])
        return restored(ops.matrix_solve(matrix, rhs, adjoint=adjoint and not is_adjoint))


@public("python.ops.linalg.linear_operator_util.matrix_triangular_solve_with_broadcast")
def triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """x of matrix * x = rhs, or of matrix' * x = rhs, for triangular matrices."""
    with name_scope(name, "MatrixTriangularSolve", [matrix, rhs]):
        matrix, rhs = _converted(matrix, rhs)
        matrix, rhs, restored, is_adjoint = _with_batches_as_columns(matrix, rhs, adjoint)
        if is_adjoint:
            lower = not lower
        matrix, rhs = broadcast_batches([matrix, rhs])
        solution = ops.matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint and not is_adjoint)
        return restored(solution)


def _converted(matrix, rhs):
    matrix = convert_to_tensor(matrix, name="matrix")
    return matrix, convert_to_tensor(rhs, name="rhs", dtype=matrix.dtype)


def _with_batches_as_columns(matrix, rhs, adjoint):
    """Turns batch dimensions that only `rhs` has into columns, where it then takes fewer factorings.

    Returns the matrix, the right sides, what brings solutions into the form of `rhs`, and whether the matrix is
    the adjoint already.
    """
    unchanged = matrix, rhs, lambda solution: solution, False
    if matrix.shape.rank is None or rhs.shape.rank is None or matrix.shape.rank >= rhs.shape.rank:
        return unchanged
    extra = rhs.shape.rank - matrix.shape.rank
    # TensorFlow takes these sizes whether it then needs them or not.
    ops.shape(rhs)[:extra]
    ops.shape(rhs)[extra:]
    size, columns = dimension_value(matrix.shape[-2 if adjoint else -1]), dimension_value(rhs.shape[-1])
    batches = rhs.shape[:extra]
    is_known = size is not None and columns is not None and batches.is_fully_defined()
    if is_known and (math.prod(batches.as_list()) < 2 or size <= columns):
        return unchanged
    if adjoint:
        matrix = ops.adjoint(matrix)
    extra_shape = ops.shape(rhs)[:extra]
    main_shape = ops.shape(rhs)[extra:]
    rank = rhs.shape.rank
    last = ops.transpose(rhs, [*range(extra, rank), *range(extra)])
    squashed = ops.reshape(last, ops.concat((main_shape[:-1], [-1]), 0))

    def restored(solution):
        shape = ops.concat((ops.shape(solution)[:-1], [main_shape[-1]], extra_shape), 0)
        first = rank - extra
        return ops.transpose(ops.reshape(solution, shape), [*range(first, rank), *range(first)])

    return matrix, squashed, restored, adjoint
