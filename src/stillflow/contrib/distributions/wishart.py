"""Wishart's distribution of positive definite matrices: WishartCholesky and WishartFull."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.distributions import random_gamma
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED, Distribution
from stillflow.distributions.seeds import derived_seed
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.linear_operators.lower_triangular import LinearOperatorLowerTriangular
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_normal

_LOG_TWO = math.log(2.0)


class _Wishart(Distribution):
    """The distribution of X X^T for X = scale_operator Z, of a Z with df columns that are normal.

    Raises TypeError for an operator that is not of floats, ValueError for one that is not square, or if df is less
    than its size.
    """

    def __init__(
        self, df, scale_operator, cholesky_input_output_matrices, validate_args, allow_nan_stats, name
    ):  # fmt: skip
        self.cholesky_input_output_matrices = cholesky_input_output_matrices
        with name_scope(name) as name, name_scope("init", values=[df, *scale_operator.graph_parents]):
            if not scale_operator.dtype.is_floating:
                raise TypeError(f"scale_operator.dtype={scale_operator.dtype} is not a floating-point type")
            if not scale_operator.is_square:
                raise ValueError("scale_operator must be square.")
            self._scale_operator = scale_operator
            dtype = scale_operator.dtype
            self._df = convert_to_tensor(df, dtype=dtype, name="df")
            assert_same_float_dtype([self._df, scale_operator])
            size = None if scale_operator.shape.ndims is None else dimension_value(scale_operator.shape[-1])
            if size is None:
                self._dimension = ops.cast(scale_operator.domain_dimension_tensor(), dtype=dtype, name="dimension")
            else:
                self._dimension = convert_to_tensor(size, dtype=dtype, name="dimension")
            self._check_df(validate_args)
        super().__init__(
            dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            None,
            [self._df, self._dimension, *scale_operator.graph_parents],
            name,
        )

    def _check_df(self, validate_args):
        df, size = constant_value(self._df), constant_value(self._dimension)
        told = "Degrees of freedom (df = {}) cannot be less than dimension of scale matrix (scale.dimension = {})"
        if df is not None and size is not None:
            if np.any(np.asarray(df) < size):
                raise ValueError(told.format(np.atleast_1d(df), size))
        elif validate_args:
            message = told.format(self._dimension, self._df)
            self._df = with_dependencies(
                [checks.assert_less_equal(self._dimension, self._df, message=message)], self._df
            )

    @property
    def df(self):
        """The degrees of freedom."""
        return self._df

    @property
    def scale_operator(self):
        """The square root of the scale, a LinearOperator."""
        return self._scale_operator

    @property
    def dimension(self):
        """The number of rows, as a float."""
        return self._dimension

    def _square(self):
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def scale(self):
        """The scale matrix, or its Cholesky factor if matrices go in and out as such."""
        return self.scale_operator.to_dense() if self.cholesky_input_output_matrices else self._square()

    def _event_shape_tensor(self):
        size = self.scale_operator.domain_dimension_tensor()
        return ops.stack([size, size])

    def _event_shape(self):
        size = self.scale_operator.domain_dimension
        return TensorShape([size, size])

    def _batch_shape_tensor(self):
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self):
        return self.scale_operator.batch_shape

    def _sample_n(self, n, seed=None):
        """Bartlett's decomposition: normal numbers below the diagonal, roots of chi-squared ones on it."""
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        rank = ops.shape(batch)[0] + 3  # with that of samples
        x = random_normal(shape=ops.concat([[n], batch, event], 0), dtype=self.dtype, seed=seed)
        df = self.df * ops.ones(self.scale_operator.batch_shape_tensor(), dtype=self.df.dtype.base_dtype)
        squares = random_gamma(
            shape=[n],
            alpha=self._multi_gamma_sequence(0.5 * df, self.dimension),
            beta=0.5,
            dtype=self.dtype,
            seed=derived_seed(seed, "wishart"),
        )
        x = ops.matrix_set_diag(ops.matrix_band_part(x, -1, 0), ops.sqrt(squares))
        # The operator is applied to the columns of all samples at once.
        x = ops.transpose(x, ops.concat([ops.range(1, rank), [0]], 0))
        x = self.scale_operator.matmul(ops.reshape(x, ops.concat([batch, [event[0]], [-1]], 0)))
        x = ops.reshape(x, ops.concat([batch, event, [n]], 0))
        x = ops.transpose(x, ops.concat([[rank - 1], ops.range(0, rank - 1)], 0))
        return x if self.cholesky_input_output_matrices else ops.matmul(x, x, adjoint_b=True)

    def _log_prob(self, x):
        root = x if self.cholesky_input_output_matrices else ops.cholesky(x)
        batch, event = self.batch_shape_tensor(), self.event_shape_tensor()
        rank = ops.rank(root)
        of_samples = rank - ops.shape(batch)[0] - 2
        samples = ops.strided_slice(ops.shape(root), [0], [of_samples])
        y = ops.transpose(root, ops.concat([ops.range(of_samples, rank), ops.range(0, of_samples)], 0))
        y = ops.reshape(y, ops.concat((batch, (ops.cast(self.dimension, dtype=dtypes.int32), -1)), 0))
        y = ops.reshape(self.scale_operator.solve(y), ops.concat([batch, event, samples], 0))
        turned = ops.concat([ops.range(rank - of_samples, rank), ops.range(0, rank - of_samples)], 0)
        trace = ops.reduce_sum(ops.square(ops.transpose(y, turned)), axis=[-2, -1])
        half_determinant = ops.reduce_sum(ops.log(ops.matrix_diag_part(root)), axis=[-1])
        found = (self.df - self.dimension - 1.0) * half_determinant - 0.5 * trace - self.log_normalization()
        if x.shape.ndims is not None:
            found.set_shape(x.shape[:-2])
        return found

    def _prob(self, x):
        return ops.exp(self._log_prob(x))

    def _entropy(self):
        half, half_df = 0.5 * self.dimension + 0.5, 0.5 * self.df
        return (
            self.dimension * (half_df + half * _LOG_TWO)
            + 2 * half * self.scale_operator.log_abs_determinant()
            + self._multi_lgamma(half_df, self.dimension)
            + (half - half_df) * self._multi_digamma(half_df, self.dimension)
        )

    def _mean(self):
        if self.cholesky_input_output_matrices:
            return ops.sqrt(self.df) * self.scale_operator.to_dense()
        return self.df * self._square()

    def _variance(self):
        x = ops.sqrt(self.df) * self._square()
        diagonal = ops.expand_dims(ops.matrix_diag_part(x), -1)
        found = ops.square(x) + ops.matmul(diagonal, diagonal, adjoint_b=True)
        return ops.cholesky(found) if self.cholesky_input_output_matrices else found

    def _stddev(self):
        if self.cholesky_input_output_matrices:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return ops.cholesky(self.variance())

    def _mode(self):
        factor = self.df - self.dimension - 1.0
        is_below = ops.less(factor, 0.0)
        factor = ops.where_v2(is_below, ops.constant(float("NaN"), dtype=self.dtype, name="nan"), factor)
        if self.cholesky_input_output_matrices:
            return ops.sqrt(factor) * self.scale_operator.to_dense()
        return factor * self._square()

    def mean_log_det(self, name="mean_log_det"):
        """The mean of the logarithm of the determinant."""
        with self._name_scope(name):
            determinant = 2 * self.scale_operator.log_abs_determinant()
            return self._multi_digamma(0.5 * self.df, self.dimension) + self.dimension * _LOG_TWO + determinant

    def log_normalization(self, name="log_normalization"):
        """The logarithm of what the density is divided by."""
        with self._name_scope(name):
            determinant = self.df * self.scale_operator.log_abs_determinant()
            powers = 0.5 * self.df * self.dimension * _LOG_TWO
            return determinant + powers + self._multi_lgamma(0.5 * self.df, self.dimension)

    def _multi_gamma_sequence(self, a, p, name="multi_gamma_sequence"):
        with self._name_scope(name, values=[a, p]):
            start = ops.constant(0.0, dtype=self.dtype)
            return ops.lin_space(start, 0.5 - 0.5 * p, ops.cast(p, dtypes.int32)) + ops.expand_dims(a, [-1])

    def _multi_lgamma(self, a, p, name="multi_lgamma"):
        with self._name_scope(name, values=[a, p]):
            sequence = self._multi_gamma_sequence(a, p)
            return 0.25 * p * (p - 1.0) * math.log(math.pi) + ops.reduce_sum(ops.lgamma(sequence), axis=[-1])

    def _multi_digamma(self, a, p, name="multi_digamma"):
        with self._name_scope(name, values=[a, p]):
            return ops.reduce_sum(ops.digamma(self._multi_gamma_sequence(a, p)), axis=[-1])


def _operator(tril):
    return LinearOperatorLowerTriangular(tril=tril, is_non_singular=True, is_positive_definite=True, is_square=True)


@public("contrib.distributions.WishartCholesky")
class WishartCholesky(_Wishart):
    """Wishart's distribution, by the Cholesky factor of the scale.

    Args:
      df: the degrees of freedom, at least the number of rows.
      scale: lower triangular matrices with a positive diagonal.
      cholesky_input_output_matrices: whether samples and values are Cholesky factors too.
      validate_args, allow_nan_stats, name: see Distribution.
    """

    def __init__(
        self, df, scale, cholesky_input_output_matrices=False, validate_args=False, allow_nan_stats=True,
        name="WishartCholesky",
    ):  # fmt: skip
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with name_scope("init", values=[scale]):
                scale = convert_to_tensor(scale)
                if validate_args:
                    message = "scale must be positive definite"
                    is_positive = checks.assert_positive(ops.matrix_diag_part(scale), message=message)
                    rows, columns = ops.shape(scale)[-1], ops.shape(scale)[-2]
                    is_square = checks.assert_equal(rows, columns, message="scale must be square")
                    scale = with_dependencies([is_positive, is_square], scale)
            super().__init__(
                df, _operator(scale), cholesky_input_output_matrices, validate_args, allow_nan_stats, name
            )
        self._parameters = parameters


@public("contrib.distributions.WishartFull")
class WishartFull(_Wishart):
    """Wishart's distribution, by the scale.

    Args:
      df: the degrees of freedom, at least the number of rows.
      scale: symmetric positive definite matrices.
      cholesky_input_output_matrices: whether samples and values are Cholesky factors.
      validate_args, allow_nan_stats, name: see Distribution.
    """

    def __init__(
        self, df, scale, cholesky_input_output_matrices=False, validate_args=False, allow_nan_stats=True,
        name="WishartFull",
    ):  # fmt: skip
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[scale]):
            scale = convert_to_tensor(scale)
            if validate_args:
                transposed = ops.matrix_transpose(scale)
                scale = with_dependencies([checks.assert_equal(scale, transposed)], scale)
            root = ops.cholesky(scale)
            needed = [checks.assert_positive(ops.matrix_diag_part(root))] if validate_args else []
            root = with_dependencies(needed, root)
        super().__init__(df, _operator(root), cholesky_input_output_matrices, validate_args, allow_nan_stats, name)
        self._parameters = parameters
