"""Bijectors of matrices: CholeskyOuterProduct, FillTriangular, MatrixInverseTriL, ScaleTriL, TransformDiagonal."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.rank_checks import assert_rank_at_least
from stillflow.contrib.distributions.bijectors.affine import AffineScalar
from stillflow.contrib.distributions.bijectors.base import Bijector
from stillflow.contrib.distributions.bijectors.combined import Chain
from stillflow.contrib.distributions.bijectors.elementwise import Softplus
from stillflow.contrib.distributions.numerics import fill_triangular, fill_triangular_inverse
from stillflow.distributions.sample_shapes import pick_vector
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies


@public("contrib.distributions.bijectors.CholeskyOuterProduct")
class CholeskyOuterProduct(Bijector):
    """Y = X X^T, of lower triangular X with a positive diagonal. What is above the diagonal does not count."""

    def __init__(self, validate_args=False, name="cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        if self.validate_args:
            is_matrix = assert_rank_at_least(x, 2)
            shape = ops.shape(x)
            x = with_dependencies([is_matrix, checks.assert_equal(shape[-2], shape[-1])], x)
        x = ops.matrix_band_part(x, -1, 0)
        return ops.matmul(x, x, adjoint_b=True)

    def _inverse(self, y):
        return ops.cholesky(y)

    def _forward_log_det_jacobian(self, x):
        """n log 2 + the sum of (n - i) log x_ii for the rows i from 0. Magnus and Neudecker, 1980."""
        diagonal = _with_rows(ops.matrix_diag_part(x))
        if self.validate_args:
            is_matrix = assert_rank_at_least(x, 2, message="Input must be a (batch of) matrix.")
            shape = ops.shape(x)
            conditions = [
                is_matrix,
                checks.assert_equal(shape[-2], shape[-1], message="Input must be a (batch of) square matrix."),
                checks.assert_positive(diagonal, message="Input must be positive definite."),
            ]
            x = with_dependencies(conditions, x)
        size = None if x.shape.ndims is None else dimension_value(x.shape[-1])
        if size is None:
            count = ops.shape(x)[-1]
            number = ops.cast(count, x.dtype)
        else:
            count, number = size, np.array(size, dtype=x.dtype.as_numpy_dtype)
        weights = ops.lin_space(number, 1.0, count)
        weighted = ops.squeeze(ops.matmul(ops.log(diagonal), weights[..., None]), axis=-1)
        found = number * math.log(2.0) + weighted
        if x.shape.ndims is not None:
            return ops.squeeze(found, axis=-1) if x.shape.ndims == 2 else found
        shape = ops.shape(found)
        others = shape[:-1]
        last = pick_vector(ops.equal(ops.rank(x), 2), np.array([], dtype=np.int32), shape[-1:])
        return ops.reshape(found, ops.concat([others, last], 0))


def _with_rows(x):
    """A vector as a matrix of one row; others as they are."""
    if x.shape.ndims is not None:
        return x[None, :] if x.shape.ndims == 1 else x
    shape = ops.shape(x)
    others = shape[:-1]
    row = pick_vector(ops.equal(ops.rank(x), 1), [1], np.array([], dtype=np.int32))
    return ops.reshape(x, ops.concat([others, row, shape[-1:]], 0))


@public("contrib.distributions.bijectors.FillTriangular")
class FillTriangular(Bijector):
    """Vectors as triangular matrices: see `fill_triangular`. Raises ValueError for vectors of another size."""

    def __init__(self, upper=False, validate_args=False, name="fill_triangular"):
        self._upper = upper
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y):
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x):
        return ops.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y):
        return ops.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape):
        size = dimension_value(input_shape[-1])
        rows = None if size is None else _rows_of_triangle(size)
        return input_shape[:-1].concatenate([rows, rows])

    def _inverse_event_shape(self, output_shape):
        rows, columns = (dimension_value(output_shape[i]) for i in (-2, -1))
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return output_shape[:-2].concatenate([rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape):
        batch, rows = input_shape[:-1], self._rows_tensor(input_shape[-1])
        return ops.concat([batch, [rows, rows]], axis=0)

    def _rows_tensor(self, size):
        with name_scope(None, "vector_size_to_square_matrix_size", [size]):
            rows = (-1.0 + ops.sqrt(1 + 8.0 * ops.cast(size, dtypes.float32))) / 2.0
            if self.validate_args:
                whole = ops.cast(ops.cast(rows, dtypes.int32), dtypes.float32)
                message = "Vector length is not a triangular number"
                with control_dependencies([checks.assert_equal(whole, rows, message=message)]):
                    rows = ops.identity(rows)
            return ops.cast(rows, size.dtype)

    def _inverse_event_shape_tensor(self, output_shape):
        batch, rows = output_shape[:-2], output_shape[-1]
        if self.validate_args:
            is_square = checks.assert_equal(rows, output_shape[-2], message="Matrix must be square.")
            with control_dependencies([is_square]):
                rows = ops.identity(rows)
        size = ops.cast(rows * (rows + 1) / 2, output_shape.dtype)
        return ops.concat([batch, [size]], axis=0)


def _rows_of_triangle(size):
    rows = (math.isqrt(1 + 8 * size) - 1) // 2
    if rows * (rows + 1) // 2 != size:
        raise ValueError("Vector length is not a triangular number.")
    return rows


@public("contrib.distributions.bijectors.MatrixInverseTriL")
class MatrixInverseTriL(Bijector):
    """The inverse of a lower triangular matrix, whose diagonal has no zero."""

    def __init__(self, validate_args=False, name="matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        with control_dependencies(self._conditions(x)):
            shape = ops.shape(x)
            return ops.matrix_triangular_solve(x, ops.eye(shape[-1], batch_shape=shape[:-2]), lower=True)

    def _inverse(self, y):
        return self._forward(y)

    def _forward_log_det_jacobian(self, x):
        with control_dependencies(self._conditions(x)):
            size = ops.cast(ops.shape(x)[-1], x.dtype.base_dtype)
            factor = -2.0 * size
            return factor * ops.reduce_sum(ops.log(ops.abs(ops.matrix_diag_part(x))), axis=-1)

    def _conditions(self, x):
        if not self.validate_args:
            return []
        shape = ops.shape(x)
        is_matrix = assert_rank_at_least(x, 2, message="Input must have rank at least 2.")
        is_square = checks.assert_equal(shape[-2], shape[-1], message="Input must be a square matrix.")
        without_diagonal = ops.matrix_set_diag(x, ops.zeros(shape[:-1], dtype=dtypes.float32))
        above = ops.matrix_band_part(without_diagonal, 0, -1)
        message = "Input must be lower triangular."
        is_lower = checks.assert_equal(above, ops.zeros_like(above), message=message)
        diagonal = ops.matrix_diag_part(x)
        message = "Input must have all diagonal entries nonzero."
        is_regular = checks.assert_none_equal(diagonal, ops.zeros_like(diagonal), message=message)
        return [is_matrix, is_square, is_lower, is_regular]


@public("contrib.distributions.bijectors.TransformDiagonal")
class TransformDiagonal(Bijector):
    """Matrices whose diagonal another bijector transforms."""

    def __init__(self, diag_bijector, validate_args=False, name="transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        return ops.matrix_set_diag(x, self._diag_bijector.forward(ops.matrix_diag_part(x)))

    def _inverse(self, y):
        return ops.matrix_set_diag(y, self._diag_bijector.inverse(ops.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x):
        return self._diag_bijector.forward_log_det_jacobian(ops.matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y):
        return self._diag_bijector.inverse_log_det_jacobian(ops.matrix_diag_part(y), event_ndims=1)


@public("contrib.distributions.bijectors.ScaleTriL")
class ScaleTriL(Chain):
    """Vectors as lower triangular matrices with a positive diagonal.

    Args:
      diag_bijector: what makes the diagonal positive; by default Softplus.
      diag_shift: what is added to the diagonal then, or None.
      validate_args, name: see Bijector.
    """

    def __init__(self, diag_bijector=None, diag_shift=1e-5, validate_args=False, name="scale_tril"):
        if diag_bijector is None:
            diag_bijector = Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift), diag_bijector])
        parts = [TransformDiagonal(diag_bijector=diag_bijector), FillTriangular()]
        super().__init__(parts, validate_args=validate_args, name=name)
