"""tf.linalg, of which some names are tf.* too: products of matrices."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import einsum as einsums
from stillflow.composites import linear_algebra
from stillflow.facade import array, array_order
from stillflow.facade.arguments import renamed
from stillflow.graph import dtypes

__all__ = [
    "batch_matmul",
    "cross",
    "einsum",
    "eye",
    "matmul",
    "matrix_band_part",
    "matrix_diag",
    "matrix_diag_part",
    "matrix_set_diag",
    "matrix_triangular_solve",
    "norm",
    "qr",
    "sparse_matmul",
    "tensordot",
    "trace",
]


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


def matrix_diag_part(input, name="diag_part", k=0, padding_value=0):
    """The diagonals of the matrices in the last two dimensions. `k` and `padding_value` are ignored."""
    return ops.matrix_diag_part(input, name=name)


def matrix_set_diag(input, diagonal, name="set_diag", k=0):
    """The matrices in the last two dimensions of `input` with new diagonals. `k` is ignored."""
    return ops.matrix_set_diag(input, diagonal, name=name)


def matrix_band_part(input, num_lower, num_upper, name=None):
    """Matrices with zeros but for so many diagonals below and above the main one; negative keeps all."""
    return ops.matrix_band_part(input, num_lower, num_upper, name=name)


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


band_part = matrix_band_part
diag = matrix_diag
diag_part = matrix_diag_part
set_diag = matrix_set_diag
tensor_diag = array_order.diag
tensor_diag_part = array_order.diag_part
triangular_solve = matrix_triangular_solve
transpose = array.matrix_transpose
matrix_transpose = array.matrix_transpose
