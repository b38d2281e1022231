"""tf.linalg, of which some names are tf.* too: products of matrices."""

from __future__ import annotations

from stillflow import ops

__all__ = ["batch_matmul", "matmul", "sparse_matmul"]


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


# ---- tf.linalg alone --------------------------------------------------------------------------------------


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of a matrix and a vector, or of batches of them; see `matmul`."""
    return ops.matvec(a, b, transpose_a, adjoint_a, a_is_sparse, b_is_sparse, name)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x / sqrt(max(sum(x * x), epsilon)); see tf.nn.l2_normalize."""
    from stillflow.facade import nn_layers

    return nn_layers.l2_normalize(x, axis, epsilon, name, dim)
