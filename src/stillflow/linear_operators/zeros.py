"""LinearOperatorZeros: a matrix of zeros."""

from __future__ import annotations

from stillflow import errors, ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.linear_operators.arguments import check_not_reference, count_and_value
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.sizes import (
    batch_like,
    checked_batch_shape,
    checked_count,
    smallest_size,
    with_batch,
    with_fitting_rows,
)
from stillflow.names import public


@public("linalg.LinearOperatorZeros")
class LinearOperatorZeros(LinearOperator):
    """A matrix of zeros, or a batch of them.

    Args:
      num_rows, num_columns: scalars of integers; as many columns as rows by default.
      batch_shape: the dimensions of the batch, a vector; None for one matrix.
      dtype: the type of the elements, float32 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.
      assert_proper_shapes: whether sizes that are not known are checked when nodes run.

    Raises:
      ValueError: for sizes that are negative or of another form, or hints that are wrong.
      TypeError: for sizes that are no integers, or variables.
    """

    def __init__(
        self,
        num_rows,
        num_columns=None,
        batch_shape=None,
        dtype=None,
        is_non_singular=False,
        is_self_adjoint=True,
        is_positive_definite=False,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorZeros",
    ):
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            dtype = dtypes.as_dtype(dtype or dtypes.float32)
            if not is_self_adjoint and is_square:
                raise ValueError("A zero operator is always self adjoint.")
            if is_non_singular:
                raise ValueError("A zero operator is always singular.")
            if is_positive_definite:
                raise ValueError("A zero operator is always not positive-definite.")
            super().__init__(
                dtype,
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            for value, what in ((num_rows, "num_rows"), (num_columns, "num_columns"), (batch_shape, "batch_shape")):
                check_not_reference(value, what)
            self._set_sizes(num_rows, num_rows if num_columns is None else num_columns)
            if is_square and None not in self._static_sizes and self._static_sizes[0] != self._static_sizes[1]:
                raise ValueError(
                    "LinearOperatorZeros initialized as is_square=True, but got "
                    f"num_rows({self._static_sizes[0]}) != num_columns({self._static_sizes[1]})"
                )
            self._batch_shape_arg, self._batch_shape_static = checked_batch_shape(batch_shape, assert_proper_shapes)

    def _set_sizes(self, num_rows, num_columns):
        rows, rows_value = count_and_value(num_rows, "num_rows")
        columns, columns_value = count_and_value(num_columns, "num_columns")
        self._num_rows = checked_count(rows, rows_value, "num_rows", self._assert_proper_shapes)
        self._num_columns = checked_count(columns, columns_value, "num_columns", self._assert_proper_shapes)
        self._static_sizes = rows_value, columns_value

    def _shape(self):
        shape = TensorShape(self._static_sizes)
        return shape if self._batch_shape_arg is None else TensorShape(self._batch_shape_static).concatenate(shape)

    def _shape_tensor(self):
        shape = ops.stack((self._num_rows, self._num_columns), axis=0)
        return shape if self._batch_shape_arg is None else ops.concat((self._batch_shape_arg, shape), 0)

    def _assert_non_singular(self):
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return ops.no_op(name="assert_self_adjoint")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        if self._assert_proper_shapes:
            x = ops.adjoint(x) if adjoint_arg else x
            x, adjoint_arg = with_fitting_rows(self, x), False
        if self.is_square:
            if adjoint_arg:
                shape = ops.concat([ops.shape(x)[:-2], [ops.shape(x)[-1], ops.shape(x)[-2]]], axis=0)
            else:
                shape = ops.shape(x)
        else:
            x_shape = ops.shape(x)
            rows = self._num_columns if adjoint else self._num_rows
            columns = x_shape[-2] if adjoint_arg else x_shape[-1]
            shape = ops.concat([x_shape[:-2], [rows, columns]], axis=0)
        return with_batch(self, ops.zeros(shape, x.dtype))

    def _determinant(self):
        return batch_like(self, ops.zeros)

    def _trace(self):
        return batch_like(self, ops.zeros)

    def _diag_part(self):
        if self.shape.is_fully_defined():
            return ops.zeros(self.batch_shape.concatenate([smallest_size(self)]), self.dtype)
        batch = self.batch_shape_tensor()
        length = ops.reduce_min(self.shape_tensor()[-2:])
        return ops.zeros(ops.concat([batch, [length]], 0), self.dtype)

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """`mat`, broadcast to the shape of the batch."""
        return with_batch(self, mat)
