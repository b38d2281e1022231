"""LinearOperatorToeplitz: matrices whose diagonals are constant, as parts of circulant ones."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_at_index
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.circulant import LinearOperatorCirculant
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """The square matrix with constant diagonals of which the first column and the first row are given.

    Args:
      col: the first columns, a tensor [..., n].
      row: the first rows, a tensor [..., n], of which the first elements do not count.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      ValueError: for scalars, different sizes, or `is_square=False`.
    """

    def __init__(
        self,
        col,
        row,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorToeplitz",
    ):
        with name_scope(name, values=[row, col]):
            self._row = row = convert_to_tensor(row, name="row")
            self._col = col = convert_to_tensor(col, name="col")
            _check_sizes(row, col)
            # A circulant matrix of twice the size, in the corner of which this one is.
            column = ops.concat(
                [col, ops.zeros_like(col[..., 0:1]), ops.reverse_v2(row[..., 1:], axis=[-1])], axis=-1
            )
            is_double = column.dtype in (dtypes.float64, dtypes.complex128)
            column = ops.cast(column, dtypes.complex128 if is_double else dtypes.complex64)
            self._circulant = LinearOperatorCirculant(ops.fft(column), input_output_dtype=row.dtype)
            if is_square is False:
                raise ValueError("Only square Toeplitz operators currently supported.")
            super().__init__(
                row.dtype,
                [row, col],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=True,
                name=name,
            )

    @property
    def col(self):
        return self._col

    @property
    def row(self):
        return self._row

    def _shape(self):
        shape = ops.broadcast_static_shape(self._row.shape, self._col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = ops.broadcast_args(ops.shape(self._row), ops.shape(self._col))
        return ops.concat((shape, [shape[-1]]), 0)

    def _assert_self_adjoint(self):
        return checks.assert_comparison(
            "assert_equal",
            self._row,
            self._col,
            message="row and col are not the same, and so this operator is not self-adjoint.",
        )

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = ops.adjoint(x) if adjoint_arg else x
        result = self._circulant.matmul(ops.concat([x, ops.zeros_like(x)], axis=-2), adjoint=adjoint)
        return ops.cast(result[..., : self.domain_dimension_tensor(), :], self.dtype)

    def _trace(self):
        return ops.cast(self.domain_dimension_tensor(), dtype=self.dtype) * self._col[..., 0]

    def _diag_part(self):
        return self._col[..., 0:1] * ops.ones([self.domain_dimension_tensor()], self.dtype)


def _check_sizes(row, col):
    for name, tensor in (("row", row), ("col", col)):
        if tensor.shape.rank is not None and tensor.shape.rank < 1:
            raise ValueError(f"Argument {name} must have at least 1 dimension.  Found: {tensor}")
    # The sizes are Dimensions, of which unknown ones are neither equal nor different.
    if dimension_at_index(row.shape, -1) != dimension_at_index(col.shape, -1):
        raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
