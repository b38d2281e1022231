"""LinearOperatorLowRankUpdate: an operator plus a product of a few columns and rows."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.linear_operators import matrices
from stillflow.linear_operators.arguments import tensor_or_reference
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.diag import LinearOperatorDiag
from stillflow.linear_operators.identity import LinearOperatorIdentity
from stillflow.names import public


@public("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """base + u d v', with matrices u [..., m, k], v [..., n, k] and the diagonal matrix d.

    Solutions and determinants take those of the base, and a matrix of k rows (Woodbury's formula).

    Args:
      base_operator: an operator.
      u: a tensor or variable.
      diag_update: the diagonal of d, [..., k]; None for ones.
      v: like `u`, which it is by default.
      is_diag_update_positive: whether the diagonal is positive.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for hints that contradict each other, or shapes that do not fit.
    """

    def __init__(
        self,
        base_operator,
        u,
        diag_update=None,
        v=None,
        is_diag_update_positive=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowRankUpdate",
    ):
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive.  "
                    "However, user set 'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        is_symmetric = base_operator.is_self_adjoint and v is None
        self._use_cholesky = base_operator.is_positive_definite and is_symmetric and is_diag_update_positive
        if is_symmetric and not base_operator.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A = L + UDU^H, with L self-adjoint and D real diagonal.  Since UDU^H is self-adjoint, "
                    "this must be a self-adjoint operator."
                )
            is_self_adjoint = True
        if self._use_cholesky:
            if False in (is_positive_definite, is_self_adjoint, is_non_singular):
                raise ValueError("Arguments imply this is self-adjoint positive-definite operator.")
            is_positive_definite = is_self_adjoint = True
        with name_scope(name, values=[*base_operator.graph_parents, u, diag_update, v]):
            self._u = tensor_or_reference(u, "u")
            self._v = self._u if v is None else tensor_or_reference(v, "v")
            self._diag_update = None if diag_update is None else tensor_or_reference(diag_update, "diag_update")
            self._base_operator = base_operator
            parents = [*base_operator.graph_parents, self._u, self._diag_update, self._v]
            super().__init__(
                base_operator.dtype,
                [parent for parent in parents if parent is not None],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            self._diag_operator = self._diagonal(is_diag_update_positive)
            self._is_diag_update_positive = is_diag_update_positive
            self._check_shapes()

    def _diagonal(self, is_positive):
        if self._diag_update is not None:
            return LinearOperatorDiag(self._diag_update, is_positive_definite=is_positive)
        columns = dimension_value(self._u.shape[-1])
        return LinearOperatorIdentity(ops.shape(self._u)[-1] if columns is None else columns, dtype=self.dtype)

    def _check_shapes(self):
        factors = ops.broadcast_static_shape(self._u.shape, self._v.shape)
        batch = ops.broadcast_static_shape(self._base_operator.batch_shape, factors[:-2])
        if factors.rank is not None:
            self._base_operator.domain_dimension.assert_is_compatible_with(factors.dims[-2])
        if self._diag_update is not None:
            if factors.rank is not None:
                factors.dims[-1].assert_is_compatible_with(self._diag_update.shape[-1])
            ops.broadcast_static_shape(batch, self._diag_update.shape[:-1])

    @property
    def u(self):
        return self._u

    @property
    def v(self):
        return self._v

    @property
    def is_diag_update_positive(self):
        return self._is_diag_update_positive

    @property
    def diag_update(self):
        return self._diag_update

    @property
    def diag_operator(self):
        """The operator d."""
        return self._diag_operator

    @property
    def base_operator(self):
        return self._base_operator

    def _shape(self):
        batch = ops.broadcast_static_shape(self._base_operator.batch_shape, self._u.shape[:-2])
        return batch.concatenate(self._base_operator.shape[-2:])

    def _shape_tensor(self):
        batch = ops.broadcast_args(self._base_operator.batch_shape_tensor(), ops.shape(self._u)[:-2])
        return ops.concat([batch, self._base_operator.shape_tensor()[-2:]], axis=0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        base = self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = ops.matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg)
        inner = self._diag_operator.matmul(inner, adjoint=adjoint)
        return base + ops.matmul(left, inner)

    def _determinant(self):
        if self.is_positive_definite:
            return ops.exp(self.log_abs_determinant())
        of_capacitance = ops.matrix_determinant(self._capacitance())
        of_diagonal = self._diag_operator.determinant()
        of_base = self._base_operator.determinant()
        return of_capacitance * of_diagonal * of_base

    def _log_abs_determinant(self):
        of_diagonal = self._diag_operator.log_abs_determinant()
        of_base = self._base_operator.log_abs_determinant()
        if self._use_cholesky:
            diagonal = matrices.diag_part(ops.cholesky(self._capacitance()))
            of_capacitance = 2 * ops.reduce_sum(ops.log(diagonal), axis=[-1])
        else:
            determinant = ops.matrix_determinant(self._capacitance())
            of_capacitance = ops.cast(ops.log(ops.abs(determinant)), self.dtype)
        return of_capacitance + of_diagonal + of_base

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        base = self._base_operator
        if base.is_non_singular is False:
            raise ValueError("Solve not implemented unless this is a perturbation of a non-singular LinearOperator.")
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        solution = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = ops.matmul(right, solution, adjoint_a=True)
        if self._use_cholesky:
            inner = matrices.cholesky_solve(ops.cholesky(self._capacitance()), inner)
        else:
            inner = matrices.solve(self._capacitance(), inner, adjoint)
        return solution - base.solve(ops.matmul(left, inner), adjoint=adjoint)

    def _capacitance(self):
        """The inverse of d plus v' times the solution for u."""
        product = ops.matmul(self._v, self._base_operator.solve(self._u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(product)
