"""LinearOperatorDiag: a diagonal matrix, kept as its diagonal."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators import matrices
from stillflow.linear_operators.arguments import tensor_or_reference
from stillflow.linear_operators.base import LinearOperator
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("python.ops.linalg.linear_operator_util.assert_no_entries_with_modulus_zero")
def assert_no_entries_with_modulus_zero(x, message=None, name="assert_no_entries_with_modulus_zero"):
    """An operation that fails if there is a zero."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        size = ops.abs(x)
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return checks.assert_comparison("assert_less", zero, size, message=message)


@public("python.ops.linalg.linear_operator_util.assert_zero_imag_part")
def assert_zero_imag_part(x, message=None, name="assert_zero_imag_part"):
    """An operation that fails if a number is not real."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype.is_floating:
            return ops.no_op()
        zero = convert_to_tensor(0, dtype=x.dtype.base_dtype.real_dtype)
        return checks.assert_comparison("assert_equal", zero, ops.imag(x), message=message)


def assert_no_zeros(diagonal):
    """An operation that fails if a diagonal has a zero: its matrix is singular."""
    return assert_no_entries_with_modulus_zero(diagonal, "Singular operator:  Diagonal contained zero values.")


@public("linalg.LinearOperatorDiag")
class LinearOperatorDiag(LinearOperator):
    """Square matrices with the diagonals [..., n].

    Args:
      diag: a tensor or variable.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for a scalar, or hints that are wrong for all real diagonal matrices.
    """

    def __init__(
        self,
        diag,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorDiag",
    ):
        with name_scope(name, values=[diag]):
            self._diag = tensor_or_reference(diag, "diag")
            if self._diag.shape.rank is not None and self._diag.shape.rank < 1:
                raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
            if not self._diag.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("Only square diagonal operators currently supported.")
            super().__init__(
                self._diag.dtype,
                [self._diag],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )

    @property
    def diag(self):
        return self._diag

    def _shape(self):
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self):
        shape = ops.shape(self._diag)
        return ops.concat((shape, [shape[-1]]), 0)

    def _assert_non_singular(self):
        return assert_no_zeros(self._diag)

    def _assert_positive_definite(self):
        if self.dtype.is_complex:
            message = (
                "Diagonal operator had diagonal entries with non-positive real part, thus was not positive definite."
            )
        else:
            message = "Real diagonal operator had non-positive diagonal entries, thus was not positive definite."
        return checks.assert_sign("assert_positive", ops.real(self._diag), message=message)

    def _assert_self_adjoint(self):
        return assert_zero_imag_part(
            self._diag,
            "This diagonal operator contained non-zero imaginary values.  Thus it was not self-adjoint.",
        )

    def _factor(self, adjoint):
        return ops.conj(self._diag) if adjoint else self._diag

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        factor = self._factor(adjoint)
        x = ops.adjoint(x) if adjoint_arg else x
        return ops.expand_dims(factor, -1) * x

    def _matvec(self, x, adjoint=False):
        return self._factor(adjoint) * x

    def _determinant(self):
        return ops.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self):
        result = ops.reduce_sum(ops.log(ops.abs(self._diag)), axis=[-1])
        return ops.cast(result, self.dtype) if self.dtype.is_complex else result

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        factor = self._factor(adjoint)
        rhs = ops.adjoint(rhs) if adjoint_arg else rhs
        return rhs * ops.expand_dims(1.0 / factor, -1)

    def _to_dense(self):
        return matrices.diag(self._diag)

    def _diag_part(self):
        return self._diag

    def _add_to_tensor(self, x):
        return matrices.set_diag(x, self._diag + matrices.diag_part(x))
