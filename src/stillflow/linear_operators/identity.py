"""LinearOperatorIdentity and LinearOperatorScaledIdentity: 1 or another number times the identity matrix."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.linear_operators import matrices
from stillflow.linear_operators.arguments import check_not_reference, count_and_value, tensor_or_reference
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
from stillflow.ops.convert import convert_to_tensor


class _Identity(LinearOperator):
    """What both have in common: `_num_rows`, and `_num_rows_static` where it is known."""

    _assert_proper_shapes: bool

    def _set_num_rows(self, num_rows):
        self._num_rows, self._num_rows_static = count_and_value(num_rows, "num_rows")
        self._num_rows = checked_count(self._num_rows, self._num_rows_static, "num_rows", self._assert_proper_shapes)

    def _matrix_shape(self):
        return TensorShape((self._num_rows_static, self._num_rows_static))

    def _matrix_shape_tensor(self):
        return ops.stack((self._num_rows, self._num_rows), axis=0)

    def _checked(self, x):
        """The right factor, after a check of its rows if that is wanted."""
        return with_fitting_rows(self, x) if self._assert_proper_shapes else x

    def _batch_of_ones(self):
        return batch_like(self, ops.ones)

    def _ones_diag(self):
        if self.shape.is_fully_defined():
            return ops.ones(self.batch_shape.concatenate([smallest_size(self)]), self.dtype)
        batch = self.batch_shape_tensor()
        length = ops.reduce_min(self.shape_tensor()[-2:])
        return ops.ones(ops.concat([batch, [length]], 0), self.dtype)


@public("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(_Identity):
    """The identity matrix, or a batch of them.

    Args:
      num_rows: how many rows, a scalar of integers.
      batch_shape: the dimensions of the batch, a vector; None for one matrix.
      dtype: the type of the elements, float32 by default.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: True, which they are.
      assert_proper_shapes: whether sizes that are not known are checked when nodes run.

    Raises:
      ValueError: for sizes that are negative or of another form, or a hint that is not True.
      TypeError: for sizes that are no integers, or variables.
    """

    def __init__(
        self,
        num_rows,
        batch_shape=None,
        dtype=None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorIdentity",
    ):
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name):
            dtype = dtypes.as_dtype(dtype or dtypes.float32)
            for hint, what in (
                (is_self_adjoint, "self adjoint"),
                (is_non_singular, "non-singular"),
                (is_positive_definite, "positive-definite"),
                (is_square, "square"),
            ):
                if not hint:
                    raise ValueError(f"An identity operator is always {what}.")
            super().__init__(
                dtype,
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            check_not_reference(num_rows, "num_rows")
            check_not_reference(batch_shape, "batch_shape")
            self._set_num_rows(num_rows)
            self._batch_shape_arg, self._batch_shape_static = checked_batch_shape(batch_shape, assert_proper_shapes)

    def _shape(self):
        if self._batch_shape_arg is None:
            return self._matrix_shape()
        return TensorShape(self._batch_shape_static).concatenate(self._matrix_shape())

    def _shape_tensor(self):
        shape = self._matrix_shape_tensor()
        return shape if self._batch_shape_arg is None else ops.concat((self._batch_shape_arg, shape), 0)

    def _assert_non_singular(self):
        return ops.no_op(name="assert_non_singular")

    def _assert_positive_definite(self):
        return ops.no_op(name="assert_positive_definite")

    def _assert_self_adjoint(self):
        return ops.no_op(name="assert_self_adjoint")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = ops.adjoint(x) if adjoint_arg else x
        return with_batch(self, self._checked(x))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return ops.ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self):
        return ops.zeros(self.batch_shape_tensor(), self.dtype)

    def _trace(self):
        ones = self._batch_of_ones()
        length = smallest_size(self)
        if length is None:
            length = ops.cast(ops.reduce_min(self.shape_tensor()[-2:]), self.dtype)
        return length * ones

    def _diag_part(self):
        return self._ones_diag()

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """`mat`, a tensor [..., n, n], with 1 added to its diagonal."""
        with self._name_scope(name):
            mat = convert_to_tensor(mat, name="mat")
            return matrices.set_diag(mat, 1 + matrices.diag_part(mat))


@public("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(_Identity):
    """A number times the identity matrix, for each number.

    Args:
      num_rows: how many rows, a scalar of integers.
      multiplier: the numbers, a tensor or variable whose shape is that of the batch.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.
      assert_proper_shapes: whether sizes that are not known are checked when nodes run.

    Raises:
      ValueError: for a size that is negative or no scalar, or hints that are wrong.
      TypeError: for a size that is no integer, or a variable.
    """

    def __init__(
        self,
        num_rows,
        multiplier,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorScaledIdentity",
    ):
        self._assert_proper_shapes = assert_proper_shapes
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = tensor_or_reference(multiplier, "multiplier")
            if not self._multiplier.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if not is_square:
                raise ValueError("A ScaledIdentity operator is always square.")
            check_not_reference(num_rows, "num_rows")
            super().__init__(
                self._multiplier.dtype,
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )
            self._set_num_rows(num_rows)
            self._exponent = ops.cast(self._num_rows, self.dtype)
            self._real_exponent = ops.cast(self._num_rows, self.dtype.real_dtype)

    @property
    def multiplier(self):
        return self._multiplier

    def _shape(self):
        return self._multiplier.shape.concatenate(self._matrix_shape())

    def _shape_tensor(self):
        shape = self._matrix_shape_tensor()
        return ops.concat((ops.shape(self._multiplier), shape), 0)

    def _assert_non_singular(self):
        return checks.assert_sign("assert_positive", ops.abs(self._multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self):
        return checks.assert_sign(
            "assert_positive", ops.real(self._multiplier), message="LinearOperator was not positive definite."
        )

    def _assert_self_adjoint(self):
        imaginary = ops.imag(self._multiplier)
        return checks.assert_comparison(
            "assert_equal", ops.zeros_like(imaginary), imaginary, message="LinearOperator was not self-adjoint"
        )

    def _factor(self, adjoint):
        factor = ops.expand_dims(ops.expand_dims(self._multiplier, -1), -1)
        return ops.conj(factor) if adjoint else factor

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = self._checked(ops.adjoint(x) if adjoint_arg else x)
        return x * self._factor(adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = self._checked(ops.adjoint(rhs) if adjoint_arg else rhs)
        return rhs / self._factor(adjoint)

    def _determinant(self):
        return self._multiplier**self._exponent

    def _log_abs_determinant(self):
        return self._real_exponent * ops.log(ops.abs(self._multiplier))

    def _trace(self):
        ones = self._batch_of_ones()
        length = smallest_size(self)
        if length is None:
            length = ops.cast(ops.reduce_min(self.shape_tensor()[-2:]), self.dtype)
        return self._multiplier * length * ones

    def _diag_part(self):
        return self._ones_diag() * self._multiplier[..., None]

    def add_to_tensor(self, mat, name="add_to_tensor"):
        """`mat`, a tensor [..., n, n], with the numbers added to its diagonals."""
        with self._name_scope(name):
            multiplier = ops.expand_dims(self._multiplier, -1)
            mat = convert_to_tensor(mat, name="mat")
            return matrices.set_diag(mat, multiplier + matrices.diag_part(mat))
