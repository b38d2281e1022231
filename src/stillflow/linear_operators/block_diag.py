"""LinearOperatorBlockDiag: square operators along the diagonal, zeros elsewhere."""

from __future__ import annotations

import operator as arithmetic

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.linear_operators import matrices
from stillflow.linear_operators.operator_list import OperatorList
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor


@public("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(OperatorList):
    """The matrix with `operators` as blocks along its diagonal.

    Args:
      operators: a list of square operators of one type.
      is_non_singular, is_self_adjoint, is_positive_definite: what is promised; see LinearOperator.
      is_square: True.

    Raises:
      ValueError: for an empty list, operators that are not square, or hints that contradict theirs.
      TypeError: for operators of several types.
    """

    def __init__(
        self,
        operators,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        name=None,
    ):
        given = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
        }
        hints = self._set_operators(operators, given, "direct sum")
        if not (is_square and all(each.is_square for each in self._operators)):
            raise ValueError("Can only represent a block diagonal of square matrices.")
        parents = self._parents()
        name = "_ds_".join(each.name for each in self._operators) if name is None else name
        with name_scope(name, values=parents):
            super().__init__(self._operators[0].dtype, parents, is_square=True, name=name, **hints)

    def _shape(self):
        columns, rows = self._operators[0].domain_dimension, self._operators[0].range_dimension
        for each in self._operators[1:]:
            columns, rows = columns + each.domain_dimension, rows + each.range_dimension
        return self._broadcast_batch_shape().concatenate(TensorShape([columns, rows]))

    def _shape_tensor(self):
        if self.shape.is_fully_defined():
            return convert_to_tensor(self.shape.as_list(), dtype=dtypes.int32, name="shape")
        columns = self._operators[0].domain_dimension_tensor()
        rows = self._operators[0].range_dimension_tensor()
        for each in self._operators[1:]:
            columns = columns + each.domain_dimension_tensor()
            rows = rows + each.range_dimension_tensor()
        matrix_shape = ops.stack([columns, rows])
        return ops.concat((self._batch_shape_of_sum(), matrix_shape), 0)

    def _split(self, x, axis):
        """The parts of `x` that the blocks are for."""
        if self.shape.is_fully_defined():
            sizes = [each.domain_dimension.value for each in self._operators]
        else:
            sizes = [each.domain_dimension_tensor() for each in self._operators]
        return ops.split(x, sizes, axis)

    def _by_block(self, method, x, adjoint, adjoint_arg):
        parts = self._split(x, -1 if adjoint_arg else -2)
        results = [
            getattr(each, method)(part, adjoint=adjoint, adjoint_arg=adjoint_arg)
            for each, part in zip(self._operators, parts, strict=True)
        ]
        return ops.concat(matrices.broadcast_batches(results), axis=-2)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._by_block("matmul", x, adjoint, adjoint_arg)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._by_block("solve", rhs, adjoint, adjoint_arg)

    def _determinant(self):
        return self._combined("determinant")

    def _log_abs_determinant(self):
        return self._combined("log_abs_determinant", arithmetic.add)

    def _trace(self):
        return self._combined("trace", arithmetic.add)

    def _diag_part(self):
        columns = matrices.broadcast_batches([each.diag_part()[..., None] for each in self._operators])
        return ops.squeeze(ops.concat(columns, axis=-2), [-1])

    def _to_dense(self):
        before, rows = 0, []
        for block in matrices.broadcast_batches([each.to_dense() for each in self._operators]):
            shape = ops.shape(block)[:-1]
            left = ops.zeros(ops.concat([shape, [before]], axis=-1), block.dtype)
            before = before + ops.shape(block)[-1]
            after = ops.concat([shape, [self.domain_dimension_tensor() - before]], axis=-1)
            right = ops.zeros(after, block.dtype)
            rows.append(ops.concat([left, block, right], axis=-1))
        matrix = ops.concat(rows, axis=-2)
        matrix.set_shape(self.shape)
        return matrix

    def _assert_non_singular(self):
        return group(*[each.assert_non_singular() for each in self._operators])

    def _assert_self_adjoint(self):
        return group(*[each.assert_self_adjoint() for each in self._operators])

    def _assert_positive_definite(self):
        return group(*[each.assert_positive_definite() for each in self._operators])
