"""tridiagonal_solve and tridiagonal_matmul: diagonals given as rows, as a sequence, or in matrices."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import dimension_value
from stillflow.names import public


def _size_of_matrices(diagonals):
    rows, columns = dimension_value(diagonals.shape[-2]), dimension_value(diagonals.shape[-1])
    if rows and columns and rows != columns:
        raise ValueError(f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}")
    return rows, columns


def _tridiagonal_solve(diagonals, rhs, diagonals_format, transpose_rhs, conjugate_rhs, name, partial_pivoting):
    if diagonals_format == "sequence":
        diagonals = _stacked(diagonals)
    elif diagonals_format == "matrix":
        diagonals = _out_of_matrices(diagonals)
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    rank, rhs_rank = len(diagonals.shape), len(rhs.shape)
    _check_ranks(diagonals, rhs, rank, rhs_rank)
    if rhs_rank == rank - 1:
        rhs = ops.conj(rhs) if conjugate_rhs else rhs
        rhs = ops.expand_dims(rhs, -1)
        _check_sizes(diagonals, rhs)
        return ops.squeeze(ops.tridiagonal_solve(diagonals, rhs, partial_pivoting=partial_pivoting, name=name), [-1])
    if transpose_rhs:
        rhs = ops.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = ops.conj(rhs)
    _check_sizes(diagonals, rhs)
    result = ops.tridiagonal_solve(diagonals, rhs, partial_pivoting=partial_pivoting, name=name)
    return ops.matrix_transpose(result) if transpose_rhs else result


def _check_ranks(diagonals, rhs, rank, rhs_rank):
    if rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    if rhs_rank not in (rank, rank - 1):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {rhs_rank}")
    if dimension_value(diagonals.shape[-2]) not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {diagonals.shape[-2]}")
    if not diagonals.shape[:-2].is_compatible_with(rhs.shape[: rank - 2]):
        raise ValueError(f"Batch shapes {diagonals.shape[:-2]} and {rhs.shape[: rank - 2]} are incompatible")


def _check_sizes(diagonals, rhs):
    if not diagonals.shape[-1:].is_compatible_with(rhs.shape[-2:-1]):
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, got "
            f"{diagonals.shape[-1]} and {rhs.shape[-2]}"
        )


def _stacked(diagonals):
    """Three diagonals, of which those beside the main one may be one element shorter, as rows."""
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    above, main, below = diagonals
    for other in (below, above):
        if not other.shape[:-1].is_compatible_with(main.shape[:-1]):
            raise ValueError(
                "Tensors representing the three diagonals must have the same shape,except for the last dimension, "
                f"got {below.shape}, {main.shape}, {above.shape}"
            )
    size = dimension_value(main.shape[-1])
    below = _padded(below, "subdiagonal", [1, 0], size)
    above = _padded(above, "superdiagonal", [0, 1], size)
    return ops.stack((above, main, below), axis=-2)


def _padded(diagonal, name, sides, size):
    length = dimension_value(diagonal.shape[-1])
    if not length or length == size:
        return diagonal
    if size is None or length != size - 1:
        raise ValueError(f"Expected {name} to be have length {size} or {size and size - 1}, got {length}.")
    return ops.pad(diagonal, [[0, 0]] * (len(diagonal.shape) - 1) + [sides])


def _out_of_matrices(matrices):
    rows, columns = _size_of_matrices(matrices)
    size = rows or columns
    if not size:
        raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
    nothing = [0, 0]
    indices = [
        [[i + 1, i] if i + 1 < size else nothing, [i, i], [i - 1, i] if i > 0 else nothing] for i in range(size)
    ]
    return ops.transpose(ops.gather_nd(ops.transpose(matrices), indices))


@public("linalg.tridiagonal_matmul")
def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Products of matrices of three diagonals with [..., n, k]; see tridiagonal_solve.

    All three tensors of a "sequence" are [..., n].
    """
    if diagonals_format == "compact":
        above, main, below = diagonals[..., 0, :], diagonals[..., 1, :], diagonals[..., 2, :]
    elif diagonals_format == "sequence":
        above, main, below = diagonals
    elif diagonals_format == "matrix":
        rows, columns = _size_of_matrices(diagonals)
        if not (rows and columns):
            raise ValueError('The size of the matrix needs to be known for diagonals_format="matrix"')
        main = ops.matrix_diag_part(diagonals, name="diag_part")
        diagonals = ops.transpose(diagonals)
        nothing = [0, 0]
        above = ops.gather_nd(diagonals, [*[[i + 1, i] for i in range(rows - 1)], nothing])
        above = ops.transpose(above)
        below = ops.gather_nd(diagonals, [nothing, *[[i - 1, i] for i in range(1, rows)]])
        below = ops.transpose(below)
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    above, main, below = (ops.expand_dims(diagonal, -2) for diagonal in (above, main, below))
    return ops.tridiagonal_mat_mul(above, main, below, rhs, name=name)


@public("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals,
    rhs,
    diagonals_format="compact",
    transpose_rhs=False,
    conjugate_rhs=False,
    name=None,
    partial_pivoting=True,
):
    """x of matrix * x = rhs for matrices of three diagonals.

    Args:
      diagonals: "compact": [..., 3, n], the diagonals above, on and below the main one; the last element of the first
        and the first of the last do not count. "sequence": three tensors [..., n], or n - 1 for those beside the main
        one. "matrix": [..., n, n], of which only the diagonals are read.
      rhs: [..., n] or [..., n, k].
      diagonals_format: one of these.
      transpose_rhs, conjugate_rhs: whether `rhs` and the result are transposed, and `rhs` conjugated.
      partial_pivoting: whether rows may be swapped, which takes longer and is more exact.

    Raises:
      ValueError: for shapes that do not fit; InvalidArgumentError at run time for matrices without inverse.
    """
    return _tridiagonal_solve(diagonals, rhs, diagonals_format, transpose_rhs, conjugate_rhs, name, partial_pivoting)
