"""LinearOperatorKronecker: the Kronecker product of operators."""

from __future__ import annotations

from stillflow import errors, ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.linear_operators.operator_list import OperatorList
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group


@public("linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(OperatorList):
    """The Kronecker product of `operators`.

    Args:
      operators: a list of operators of one type.
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
        given = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
        }
        hints = self._set_operators(operators, given, "Kronecker product")
        parents = self._parents()
        name = "_x_".join(each.name for each in self._operators) if name is None else name
        with name_scope(name, values=parents):
            super().__init__(self._operators[0].dtype, parents, is_square=is_square, name=name, **hints)

    def _shape(self):
        columns, rows = self._operators[0].domain_dimension, self._operators[0].range_dimension
        for each in self._operators[1:]:
            columns, rows = columns * each.domain_dimension, rows * each.range_dimension
        return self._broadcast_batch_shape().concatenate(TensorShape([rows, columns]))

    def _shape_tensor(self):
        columns = self._combined("domain_dimension_tensor")
        rows = self._combined("range_dimension_tensor")
        return ops.concat((self._combined("batch_shape_tensor", ops.broadcast_args), [rows, columns]), 0)

    def _by_factor(self, method, x, adjoint, adjoint_arg):
        """Applies a method of each operator along its part of the rows.

        The last axis of what lies between goes through the rows; the first one through the columns of `x`.
        """
        x = ops.adjoint(x) if adjoint_arg else x
        batch = ops.concat([ops.ones_like(self.batch_shape_tensor()), [1, 1]], 0)
        x = x + ops.zeros(batch, dtype=x.dtype.base_dtype)
        result = _rotated(x, to_right=True)[None, ...]
        for each in self._operators[:-1]:
            size = each.range_dimension_tensor() if adjoint else each.domain_dimension_tensor()
            result = ops.matrix_transpose(_columns_of(result, size))
            result = getattr(each, method)(result, adjoint=adjoint, adjoint_arg=False)
            result = _rotated(ops.matrix_transpose(result), to_right=False)
            result = _rotated(_columns_joined(result), to_right=True)
        vector_method = {"matmul": "matvec", "solve": "solvevec"}[method]
        result = getattr(self._operators[-1], vector_method)(result, adjoint=adjoint)
        result = _columns_joined(_rotated(result, to_right=False))
        result = _rotated(result, to_right=False)
        if x.shape.is_fully_defined():
            rows = self.domain_dimension if adjoint else self.range_dimension
            batch = ops.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            result.set_shape(batch.concatenate([rows, x.shape[-1]]))
        return result

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._by_factor("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._by_factor("solve", rhs, adjoint, adjoint_arg)

    def _repetitions(self, total, operator):
        """How many times an operator's eigenvalues come in the product, as a tensor of its type."""
        return ops.cast(total / operator.domain_dimension_tensor(), dtype=operator.dtype)

    def _determinant(self):
        total = self.domain_dimension_tensor()
        result = 1.0
        for each in self._operators:
            result = result * each.determinant() ** self._repetitions(total, each)
        return result

    def _log_abs_determinant(self):
        total = self.domain_dimension_tensor()
        result = 0.0
        for each in self._operators:
            result = result + each.log_abs_determinant() * self._repetitions(total, each)
        return result

    def _trace(self):
        result = 1.0
        for each in self._operators:
            result = result * each.trace()
        return result

    def _diag_part(self):
        result = self._operators[0].diag_part()
        for each in self._operators[1:]:
            result = result[..., :, None]
            result = result * each.diag_part()[..., None, :]
            result = ops.reshape(result, ops.concat([ops.shape(result)[:-2], [-1]], axis=0))
        is_tall = self.range_dimension > self.domain_dimension
        length = self.domain_dimension if is_tall else self.range_dimension
        result.set_shape(self.batch_shape.concatenate(length))
        return result

    def _to_dense(self):
        result = self._operators[0].to_dense()
        for each in self._operators[1:]:
            result = result[..., :, None, :, None]
            result = result * each.to_dense()[..., None, :, None, :]
            rows = [ops.shape(result)[:-4], None]
            rows[1] = [
                ops.shape(result)[-4] * ops.shape(result)[-3],
                ops.shape(result)[-2] * ops.shape(result)[-1],
            ]
            result = ops.reshape(result, ops.concat(rows, axis=0))
        result.set_shape(self.shape)
        return result

    def _grouped_assertions(self, method, what):
        if not all(each.is_square for each in self._operators):
            message = f"All Kronecker factors must be square for the product to be {what}."
            raise errors.InvalidArgumentError(None, None, message)
        return group(*[getattr(each, method)() for each in self._operators])

    def _assert_non_singular(self):
        return self._grouped_assertions("assert_non_singular", "invertible")

    def _assert_self_adjoint(self):
        return self._grouped_assertions("assert_self_adjoint", "self adjoint")


def _columns_joined(x):
    """The columns [..., m, n] one after the other, [..., n * m]."""
    transposed = ops.matrix_transpose(x)
    return ops.reshape(transposed, ops.concat([ops.shape(x)[:-2], [-1]], axis=0))


def _columns_of(y, count):
    """Vectors [..., n * m] as the columns of [..., m, n], for a number of columns n."""
    return ops.matrix_transpose(ops.reshape(y, ops.concat([ops.shape(y)[:-1], [count, -1]], axis=0)))


def _rotated(x, to_right):
    """`x` with its last axis first (to the right), or its first axis last."""
    rank = ops.rank(x)
    if to_right:
        order = ops.concat([[rank - 1], ops.range(0, rank - 1)], axis=0)
    else:
        order = ops.concat([ops.range(1, rank), [0]], axis=0)
    return ops.transpose(x, order)
