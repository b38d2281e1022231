"""Roots of symmetric positive definite matrices, by iterations of matrix products."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.linear_algebra import norm
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.control_flow.while_loop import while_loop


@public("contrib.opt.python.training.matrix_functions.matrix_square_root")
def matrix_square_root(mat_a, mat_a_size, iter_count=100, ridge_epsilon=1e-4):
    """The square root of a matrix, by the iteration of Denman and Beavers without inverses.

    Higham, "Stable iterations for the matrix square root", 1997, equation 2.6.

    Args:
      mat_a: symmetric and positive semidefinite.
      mat_a_size: its number of rows.
      iter_count: the most iterations.
      ridge_epsilon: what is added to the diagonal first.
    """
    identity = ops.eye(ops.cast(mat_a_size, dtypes.int32))
    mat_a = mat_a + ridge_epsilon * identity
    size = ops.sqrt(ops.reduce_sum(mat_a * mat_a))

    def is_better(i, y, last_y, z, last_z, error, last_error):
        return ops.logical_and(i < iter_count, error < last_error)

    def step(i, y, last_y, z, last_z, error, last_error):
        factor = 0.5 * (3.0 * identity - ops.matmul(z, y))
        next_y, next_z = ops.matmul(y, factor), ops.matmul(factor, z)
        root = next_y * ops.sqrt(size)
        residual = mat_a - ops.matmul(root, root)
        next_error = ops.sqrt(ops.reduce_sum(residual * residual)) / size
        return i + 1, next_y, y, next_z, z, next_error, error

    first = mat_a / size
    found = while_loop(is_better, step, [0, first, first, identity, identity, size, size + 1.0])
    return found[2] * ops.sqrt(size)


@public("contrib.opt.python.training.matrix_functions.matrix_inverse_pth_root")
def matrix_inverse_pth_root(mat_g, mat_g_size, alpha, iter_count=100, epsilon=1e-6, ridge_epsilon=1e-6):
    """A matrix to the power alpha, for an alpha of -1 / p with a whole p, by a coupled Newton iteration.

    Iannazzo, "On the Newton method for the matrix p-th root", 2006.

    Args:
      mat_g: symmetric and positive semidefinite.
      mat_g_size: its number of rows.
      alpha: the power.
      iter_count: the most iterations.
      epsilon: how far from the identity the iteration may end.
      ridge_epsilon: what is added to the diagonal first.
    """
    if mat_g_size == 1:
        return ops.pow(mat_g + ridge_epsilon, alpha)
    identity = ops.eye(ops.cast(mat_g_size, dtypes.int32))

    def goes_on(i, m, _):
        return ops.logical_and(i < iter_count, ops.reduce_max(ops.abs(m - identity)) > epsilon)

    def step(i, m, x):
        factor = (1 - alpha) * identity + alpha * m
        return i + 1, ops.matmul(_power(factor, -1.0 / alpha), m), ops.matmul(x, factor)

    damped = mat_g + ridge_epsilon * identity
    z = (1 - 1 / alpha) / (2 * norm(damped))
    return while_loop(goes_on, step, [0, damped * z, identity * ops.pow(z, -alpha)])[2]


def _power(matrix, exponent):
    """A matrix to a whole power above 0, by squaring."""
    if exponent != int(exponent) or exponent <= 0:
        raise AssertionError(f"the power {exponent} is no whole number above 0")
    exponent, found = int(exponent), None
    while exponent > 0:
        if exponent % 2:
            found = matrix if found is None else ops.matmul(matrix, found)
        exponent //= 2
        matrix = ops.matmul(matrix, matrix)
    return found
