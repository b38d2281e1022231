"""LinearOperatorComposition: the product of operators."""

from __future__ import annotations

import operator as arithmetic

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.linear_operators.operator_list import OperatorList
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("linalg.LinearOperatorComposition")
class LinearOperatorComposition(OperatorList):
    """The product of `operators`, of which the last is applied first.

    Args:
      operators: a list of operators of one type, whose sizes fit.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for an empty list, or hints that contradict those of the operators.
      TypeError: for operators of several types.
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        hints = self._set_operators(operators, {"is_non_singular": is_non_singular}, "composition")
        parents = self._parents()
        name = "_o_".join(each.name for each in self._operators) if name is None else name
        with name_scope(name, values=parents):
            super().__init__(
                self._operators[0].dtype,
                parents,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
                **hints,
            )

    def _shape(self):
        columns = self._operators[0].domain_dimension
        for each in self._operators[1:]:
            columns.assert_is_compatible_with(each.range_dimension)
            columns = each.domain_dimension
        matrix_shape = TensorShape([self._operators[0].range_dimension, self._operators[-1].domain_dimension])
        return self._broadcast_batch_shape().concatenate(matrix_shape)

    def _shape_tensor(self):
        if self.shape.is_fully_defined():
            return convert_to_tensor(self.shape.as_list(), dtype=dtypes.int32, name="shape")
        rows, columns = self._operators[0].range_dimension_tensor(), self._operators[-1].domain_dimension_tensor()
        matrix_shape = ops.stack([rows, columns])
        return ops.concat((self._batch_shape_of_sum(), matrix_shape), 0)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        first, *rest = self._operators if adjoint else reversed(self._operators)
        result = first.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for each in rest:
            result = each.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        first, *rest = reversed(self._operators) if adjoint else self._operators
        result = first.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for each in rest:
            result = each.solve(result, adjoint=adjoint)
        return result

    def _determinant(self):
        return self._combined("determinant")

    def _log_abs_determinant(self):
        return self._combined("log_abs_determinant", arithmetic.add)
