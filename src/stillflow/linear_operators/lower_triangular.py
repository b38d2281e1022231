"""LinearOperatorLowerTriangular: a lower triangular matrix, which is solved with by substitution."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators import matrices
from stillflow.linear_operators.arguments import tensor_or_reference
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.diag import assert_no_zeros
from stillflow.names import public


@public("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangles of matrices [..., n, n]; what is above their diagonals is not read.

    Args:
      tril: a tensor or variable.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for fewer than two dimensions, or if `is_square` is False.
    """

    def __init__(
        self,
        tril,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowerTriangular",
    ):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with name_scope(name, values=[tril]):
            self._tril = tensor_or_reference(tril, "tril")
            if self._tril.shape.rank is not None and self._tril.shape.rank < 2:
                raise ValueError(f"Argument tril must have at least 2 dimensions.  Found: {self._tril}")
            super().__init__(
                self._tril.dtype,
                [self._tril],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )

    def _shape(self):
        return self._tril.shape

    def _shape_tensor(self):
        return ops.shape(self._tril)

    def _to_dense(self):
        return ops.matrix_band_part(self._tril, -1, 0)

    def _diagonal(self):
        return matrices.diag_part(self._tril)

    def _assert_non_singular(self):
        return assert_no_zeros(self._diagonal())

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return ops.matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _determinant(self):
        return ops.reduce_prod(self._diagonal(), axis=[-1])

    def _log_abs_determinant(self):
        return ops.reduce_sum(ops.log(ops.abs(self._diagonal())), axis=[-1])

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = ops.adjoint(rhs) if adjoint_arg else rhs
        return matrices.triangular_solve(self._to_dense(), rhs, True, adjoint)
