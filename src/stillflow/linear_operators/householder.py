"""LinearOperatorHouseholder: a reflection at the plane that is orthogonal to a vector."""

from __future__ import annotations

from stillflow import errors, ops
from stillflow.composites.linear_algebra import norm
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators import matrices
from stillflow.linear_operators.arguments import tensor_or_reference
from stillflow.linear_operators.base import LinearOperator
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """1 - 2 v v' for vectors [..., n] that become v of length 1.

    Args:
      reflection_axis: the vectors, a tensor or variable.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for a scalar, or hints that are wrong for all reflections.
    """

    def __init__(
        self,
        reflection_axis,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorHouseholder",
    ):
        with name_scope(name, values=[reflection_axis]):
            self._reflection_axis = axis = tensor_or_reference(reflection_axis, "reflection_axis")
            if axis.shape.rank is not None and axis.shape.rank < 1:
                raise ValueError(f"Argument reflection_axis must have at least 1 dimension.  Found: {axis}")
            if is_self_adjoint is False:
                raise ValueError("A Householder operator is always self adjoint.")
            if is_positive_definite is True:
                raise ValueError("A Householder operator is always non-positive definite.")
            if is_square is False:
                raise ValueError("A Householder operator is always square.")
            super().__init__(
                axis.dtype,
                [axis],
                is_non_singular=is_non_singular,
                is_self_adjoint=True,
                is_positive_definite=False,
                is_square=True,
                name=name,
            )

    @property
    def reflection_axis(self):
        return self._reflection_axis

    def _shape(self):
        return self._reflection_axis.shape.concatenate(self._reflection_axis.shape[-1:])

    def _shape_tensor(self):
        shape = ops.shape(self._reflection_axis)
        return ops.concat((shape, [shape[-1]]), 0)

    def _assert_non_singular(self):
        return ops.no_op(name="assert_non_singular")

    def _assert_positive_definite(self):
        raise errors.InvalidArgumentError(None, None, "Householder operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return ops.no_op(name="assert_self_adjoint")

    def _unit_vector(self, axis):
        return axis / norm(axis, axis=-1, keepdims=True)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        axis = convert_to_tensor(self._reflection_axis)
        x = ops.adjoint(x) if adjoint_arg else x
        column = self._unit_vector(axis)[..., None]
        along = ops.matmul(column, x, adjoint_a=True)
        return x - 2 * column * along

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return -ops.ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self):
        return ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _trace(self):
        return ops.cast(self.domain_dimension_tensor() - 2, self.dtype) * ops.ones(
            self.batch_shape_tensor(), self.dtype
        )

    def _to_dense(self):
        column = self._unit_vector(self._reflection_axis)[..., None]
        matrix = -2 * ops.matmul(column, column, adjoint_b=True)
        return matrices.set_diag(matrix, 1.0 + matrices.diag_part(matrix))

    def _diag_part(self):
        unit = self._unit_vector(self._reflection_axis)
        return 1.0 - 2 * unit * ops.conj(unit)
