"""tf.linalg, of which some names are tf.* too: products of matrices."""

from __future__ import annotations

import functools
import importlib

from stillflow import ops
from stillflow.composites import einsum as einsums
from stillflow.composites import linear_algebra, matrix_exponential, tridiagonal
from stillflow.facade import array, array_order
from stillflow.facade.arguments import renamed
from stillflow.facade.clip import global_norm as global_norm
from stillflow.graph import dtypes

__all__ = [
    "batch_matmul",
    "cholesky",
    "cholesky_solve",
    "cross",
    "einsum",
    "eye",
    "matmul",
    "matrix_band_part",
    "matrix_determinant",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_inverse",
    "matrix_set_diag",
    "matrix_solve",
    "matrix_solve_ls",
    "matrix_triangular_solve",
    "norm",
    "qr",
    "self_adjoint_eig",
    "self_adjoint_eigvals",
    "sparse_matmul",
    "svd",
    "tensordot",
    "trace",
]


def _of_operators_too(function):
    """The function, which hands over to the method of its name where an argument is a LinearOperator."""

    @functools.wraps(function)
    def apply(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            from stillflow.linear_operators import dispatch

            result = dispatch.of_operators(function.__name__, args, kwargs)
            if result is NotImplemented:
                raise
            return result

    return apply


@_of_operators_too
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
):
    """The matrix product a * b, of matrices or of batches of them.

    Args:
      a: a tensor of two or more dimensions.
      b: a tensor of the same type; batch dimensions are broadcast.
      transpose_a, transpose_b: whether to transpose the last two dimensions first.
      adjoint_a, adjoint_b: the same, of the complex conjugate.
      a_is_sparse, b_is_sparse: whether a matrix has many zeros.
    """
    return ops.matmul(a, b, transpose_a, transpose_b, adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, name)


def sparse_matmul(a, b, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of two matrices of float32 or bfloat16, as float32."""
    return ops.sparse_mat_mul(
        a,
        b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
        name=name,
    )


def batch_matmul(x, y, adj_x=False, adj_y=False, name=None):
    """Products of matrices in batches of equal shapes; a name from before TensorFlow 1.0."""
    return ops.batch_mat_mul(x, y, adj_x=adj_x, adj_y=adj_y, name=name)


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0):
    """A matrix for each vector in the last dimension, with it on the diagonal.

    The arguments after `name` are there for later versions; TensorFlow 1.15 ignores them.
    """
    return ops.matrix_diag(diagonal, name=name)


@_of_operators_too
def matrix_diag_part(input, name="diag_part", k=0, padding_value=0):
    """The diagonals of the matrices in the last two dimensions. `k` and `padding_value` are ignored."""
    return ops.matrix_diag_part(input, name=name)


def matrix_set_diag(input, diagonal, name="set_diag", k=0):
    """The matrices in the last two dimensions of `input` with new diagonals. `k` is ignored."""
    return ops.matrix_set_diag(input, diagonal, name=name)


def matrix_band_part(input, num_lower, num_upper, name=None):
    """Matrices with zeros but for so many diagonals below and above the main one; negative keeps all."""
    return ops.matrix_band_part(input, num_lower, num_upper, name=name)


@_of_operators_too
def trace(x, name=None):
    """The sum of the main diagonal of each matrix in the last two dimensions."""
    return ops.trace(x, name)


def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """An identity matrix, or a batch of them; square unless `num_columns` is given."""
    return ops.eye(num_rows, num_columns, batch_shape, dtype, name)


def cross(a, b, name=None):
    """Cross products of the vectors of three elements in the last dimension."""
    return ops.cross(a, b, name=name)


def tensordot(a, b, axes, name=None):
    """The product of two tensors, summed over `axes`: how many of a's last and b's first, or a list for each."""
    return linear_algebra.tensordot(a, b, axes, name)


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    """The norm of vectors along `axis`, of matrices for a pair of axes, or of everything.

    `ord` is "euclidean", 1, inf, any positive number for vectors, or "fro" for matrices.
    """
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    return linear_algebra.norm(tensor, ord, axis, bool(keepdims), name)


def einsum(equation, *inputs, **kwargs):
    """Sums of products over the axes that `equation`, as "ij,jk->ik", names; see numpy.einsum.

    Raises TypeError for keyword arguments other than `name`.
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"invalid keyword arguments for this function: {', '.join(sorted(kwargs))}")
    return einsums.einsum(equation, *inputs, name=name)


# ---- tf.linalg alone --------------------------------------------------------------------------------------


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of a matrix and a vector, or of batches of them; see `matmul`."""
    return ops.matvec(a, b, transpose_a, adjoint_a, a_is_sparse, b_is_sparse, name)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x / sqrt(max(sum(x * x), epsilon)); see tf.nn.l2_normalize."""
    from stillflow.facade import nn_layers

    return nn_layers.l2_normalize(x, axis, epsilon, name, dim)


def qr(input, full_matrices=False, name=None):
    """An orthogonal matrix q and an upper triangular one r whose product is `input`, a matrix or batches of them.

    Args:
      input: float32 or float64 [..., m, n].
      full_matrices: whether q is [..., m, m] and r [..., m, n], or q [..., m, p] and r [..., p, n], p = min(m, n).

    Returns:
      A named tuple (q, r). Its gradient needs a static shape and m >= n, and m = n with full matrices.
    """
    return ops.qr_op(input, full_matrices=full_matrices, name=name)


def matrix_triangular_solve(matrix, rhs, lower=True, adjoint=False, name=None):
    """x of matrix * x = rhs for a triangular matrix, or batches of them.

    Args:
      matrix: float32 or float64 [..., n, n]; the triangle that is zero is not read.
      rhs: of that type [..., n, k].
      lower: whether the matrix is lower triangular rather than upper.
      adjoint: whether to solve with the transposed matrix.

    Raises:
      InvalidArgumentError: if the shapes do not fit, or the diagonal has a zero.
    """
    return ops.matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint, name=name)


@_of_operators_too
def cholesky(input, name=None):
    """A lower triangular matrix whose product with its transposed one is `input`, of which the lower half is read.

    Args:
      input: float32, float64 or float16 [..., n, n], symmetric and positive definite.

    Raises InvalidArgumentError if a matrix is not positive definite.
    """
    return ops.cholesky(input, name=name)


def cholesky_solve(chol, rhs, name=None):
    """x of a * x = rhs, for the triangular factor that `cholesky` gives of a. rhs is [..., n, k]."""
    return ops.cholesky_solve(chol, rhs, name)


@_of_operators_too
def matrix_inverse(input, adjoint=False, name=None):
    """The inverse of each matrix [..., n, n], transposed if `adjoint`.

    Raises InvalidArgumentError if a matrix is not invertible.
    """
    return ops.matrix_inverse(input, adjoint=adjoint, name=name)


@_of_operators_too
def matrix_solve(matrix, rhs, adjoint=False, name=None):
    """x of matrix * x = rhs, for a matrix [..., n, n], transposed if `adjoint`, and rhs [..., n, k].

    Raises InvalidArgumentError if a matrix is not invertible.
    """
    return ops.matrix_solve(matrix, rhs, adjoint=adjoint, name=name)


def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """x with the least |matrix * x - rhs|^2 + l2_regularizer * |x|^2.

    Args:
      matrix: [..., m, n]; with fewer rows than columns, x is the shortest solution.
      rhs: [..., m, k].
      l2_regularizer: zero or more.
      fast: whether to solve the normal equations; otherwise matrices may be of any rank, and `l2_regularizer` does
        not count.

    Returns:
      [..., n, k]. Its gradient needs `fast`.
    """
    return ops.matrix_solve_ls(matrix, rhs, l2_regularizer, fast, name)


@_of_operators_too
def matrix_determinant(input, name=None):
    """The determinant of each matrix [..., n, n]."""
    return ops.matrix_determinant(input, name=name)


def slogdet(input, name=None):
    """(sign, log_abs_determinant): the sign of each determinant and the logarithm of its magnitude."""
    return ops.log_matrix_determinant(input, name=name)


def logdet(matrix, name=None):
    """The logarithm of the determinant of each positive definite matrix [..., n, n]."""
    if hasattr(matrix, "log_abs_determinant"):
        from stillflow.linear_operators import dispatch

        return dispatch.logdet(matrix, name)
    return ops.logdet(matrix, name)


def self_adjoint_eig(tensor, name=None):
    """(e, v): the eigenvalues of symmetric matrices in ascending order, and the eigenvectors as columns.

    Args:
      tensor: float32, float64 or float16 [..., n, n], of which the lower half is read.

    Raises InvalidArgumentError if a matrix has elements that are not finite.
    """
    e, v = ops.self_adjoint_eig_v2(tensor, name=name)
    return e, v


def self_adjoint_eigvals(tensor, name=None):
    """The eigenvalues of symmetric matrices [..., n, n] in ascending order."""
    return ops.self_adjoint_eigvals(tensor, name)


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """(s, u, v) with tensor = u * diag(s) * v transposed, or s alone.

    Args:
      tensor: float32, float64 or float16 [..., m, n].
      full_matrices: whether u is [..., m, m] and v [..., n, n] rather than [..., m, p] and [..., n, p].
      compute_uv: whether to return u and v.

    Returns:
      The singular values [..., p], p = min(m, n), in descending order, and orthonormal columns.
    """
    return ops.svd(tensor, full_matrices, compute_uv, name)


def lu(input, output_idx_type=dtypes.int32, name=None):
    """(lu, p): both triangular factors in one matrix, of the rows `p` of `input`; l has ones on its diagonal.

    Raises InvalidArgumentError if a matrix is not invertible.
    """
    return ops.lu(input, output_idx_type=output_idx_type, name=name)


@_of_operators_too
def adjoint(matrix, name=None):
    """Each matrix in the last two dimensions transposed."""
    return ops.adjoint(matrix, name)


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """How many singular values of each matrix [..., m, n] are above `tol`, by default about rounding errors.

    Raises TypeError for integers, ValueError for fewer than two dimensions.
    """
    return linear_algebra.matrix_rank(a, tol, validate_args, name)


def pinv(a, rcond=None, validate_args=False, name=None):
    """The pseudo-inverse [..., n, m] of each matrix [..., m, n].

    Singular values below `rcond` times the largest count as zero. Raises TypeError for integers, ValueError for
    fewer than two dimensions.
    """
    return linear_algebra.pinv(a, rcond, validate_args, name)


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor / its norm, the norm), where the norm keeps its dimensions; see `norm`."""
    return linear_algebra.normalize(tensor, ord, axis, name)


det = matrix_determinant
eigh = self_adjoint_eig
eigvalsh = self_adjoint_eigvals
inv = matrix_inverse
lstsq = matrix_solve_ls
solve = matrix_solve
band_part = matrix_band_part
diag = matrix_diag
diag_part = matrix_diag_part
set_diag = matrix_set_diag
tensor_diag = array_order.diag
tensor_diag_part = array_order.diag_part
triangular_solve = matrix_triangular_solve
transpose = array.matrix_transpose
matrix_transpose = array.matrix_transpose


def expm(input, name=None):
    """The exponential of each matrix [..., n, n]: 1 + a + a a / 2 + ...

    Raises ValueError for other types than float16, float32 and float64.
    """
    return matrix_exponential.matrix_exponential(input, name)


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
      transpose_rhs, conjugate_rhs: whether `rhs` and the result are transposed; real numbers are their conjugates.
      partial_pivoting: whether rows may be swapped, which takes longer and is more exact.

    Raises:
      ValueError: for shapes that do not fit; InvalidArgumentError at run time for matrices without inverse.
    """
    return tridiagonal.tridiagonal_solve(diagonals, rhs, diagonals_format, transpose_rhs, name, partial_pivoting)


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """Products of matrices of three diagonals with [..., n, k]; see tridiagonal_solve.

    All three tensors of a "sequence" are [..., n].
    """
    return tridiagonal.tridiagonal_matmul(diagonals, rhs, diagonals_format, name)


# Class -> the module of stillflow.linear_operators that has it, which is imported when it is first asked for.
_OPERATORS = {
    "LinearOperator": "base",
    "LinearOperatorAdjoint": "adjoint",
    "LinearOperatorBlockDiag": "block_diag",
    "LinearOperatorComposition": "composition",
    "LinearOperatorDiag": "diag",
    "LinearOperatorFullMatrix": "full_matrix",
    "LinearOperatorHouseholder": "householder",
    "LinearOperatorIdentity": "identity",
    "LinearOperatorInversion": "inversion",
    "LinearOperatorKronecker": "kronecker",
    "LinearOperatorLowRankUpdate": "low_rank_update",
    "LinearOperatorLowerTriangular": "lower_triangular",
    "LinearOperatorScaledIdentity": "identity",
    "LinearOperatorZeros": "zeros",
}


def __getattr__(name):
    if name not in _OPERATORS:
        raise AttributeError(f"module 'stillflow.facade.linalg' has no attribute {name!r}")
    module = importlib.import_module(f"stillflow.linear_operators.{_OPERATORS[name]}")
    value = globals()[name] = getattr(module, name)
    return value
