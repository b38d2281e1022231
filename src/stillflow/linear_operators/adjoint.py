"""LinearOperatorAdjoint: the adjoint of an operator."""

from __future__ import annotations

from stillflow import ops
from stillflow.linear_operators.derived import DerivedOperator
from stillflow.names import public


@public("linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(DerivedOperator):
    """The adjoint of `operator`.

    The hints are those of the operator; see LinearOperator. Raises ValueError for others.
    """

    def __init__(
        self,
        operator,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        given = {
            "is_square": is_square,
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
        }
        super().__init__(operator, "adjoint", given, f"{operator.name}_adjoint" if name is None else name)

    def _shape(self):
        shape = self._operator.shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self):
        shape = self._operator.shape_tensor()
        return ops.concat([shape[:-2], [shape[-1], shape[-2]]], axis=-1)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x, adjoint=False):
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs, adjoint=False):
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self):
        determinant = self._operator.determinant()
        return determinant if self.is_self_adjoint else ops.conj(determinant)

    def _log_abs_determinant(self):
        return self._operator.log_abs_determinant()

    def _trace(self):
        trace = self._operator.trace()
        return trace if self.is_self_adjoint else ops.conj(trace)

    def _to_dense(self):
        dense = self._operator.to_dense()
        return dense if self.is_self_adjoint else ops.adjoint(dense)
