"""LinearOperatorInversion: the inverse of an operator, by solving with it."""

from __future__ import annotations

from stillflow.linear_operators.derived import DerivedOperator
from stillflow.names import public


@public("linalg.LinearOperatorInversion")
class LinearOperatorInversion(DerivedOperator):
    """The inverse of `operator`.

    The hints are those of the operator; see LinearOperator. Raises ValueError for others, and if the operator is
    known to have no inverse.
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
        for hint in ("is_non_singular", "is_square"):
            known = getattr(operator, hint)
            if known is False or given[hint] is False:
                raise ValueError(
                    f"operator and supplied hints must have `{hint}` equal to `True` or `None`.  "
                    f"Found {known}, {given[hint]}"
                )
        super().__init__(operator, "inverse", given, f"{operator.name}_inv" if name is None else name)

    def _shape(self):
        return self._operator.shape

    def _shape_tensor(self):
        return self._operator.shape_tensor()

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self):
        return -1.0 * self._operator.log_abs_determinant()
