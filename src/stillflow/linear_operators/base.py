"""LinearOperator: the base class; methods fall back to the dense matrix where a subclass has no better way."""

from __future__ import annotations

import abc
import contextlib
import logging

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import Dimension
from stillflow.linear_operators import matrices
from stillflow.linear_operators.algebra import calculate
from stillflow.linear_operators.arguments import is_reference, shape_tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.module import Module


def _warn_of_dense(what):
    logging.getLogger("tensorflow").warning(
        "%s is done by the default way, which writes the matrix out and may be slow.", what
    )


@public("linalg.LinearOperator")
class LinearOperator(Module, metaclass=abc.ABCMeta):
    """A matrix [..., m, n], or a batch of them, that need not be written out.

    A subclass implements `_shape`, `_shape_tensor` and `_matmul`, and what else it can do better than by the dense
    matrix: `_matvec`, `_solve`, `_solvevec`, `_determinant`, `_log_abs_determinant`, `_to_dense`, `_diag_part`,
    `_trace`, `_add_to_tensor` and the assertions; these take the arguments of the methods of such names, but `name`.

    Args:
      dtype: the type of the elements.
      graph_parents: the tensors that the operator is made of.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised of the matrix; True, False,
        or None where nothing is. It is not checked, and decides how things are done.
      name: what the names of nodes begin with; by default that of the class.

    Raises:
      ValueError: for hints that contradict each other, or a parent that is no tensor.
    """

    def __init__(
        self,
        dtype,
        graph_parents=None,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name=None,
    ):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._square_hint = is_square
        graph_parents = [] if graph_parents is None else graph_parents
        for i, parent in enumerate(graph_parents):
            if not (is_reference(parent) or isinstance(parent, Tensor)):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._dtype = dtypes.as_dtype(dtype).base_dtype if dtype else dtype
        self._graph_parents = graph_parents
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._name = name or type(self).__name__

    @contextlib.contextmanager
    def _name_scope(self, name=None):
        with name_scope(self.name if name is None else f"{self.name}/{name}") as scope:
            yield scope

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def dtype(self):
        """The type of the elements."""
        return self._dtype

    @property
    def name(self):
        return self._name

    @property
    def graph_parents(self):
        """The tensors and variables that the operator is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self):
        return self._is_non_singular

    @property
    def is_self_adjoint(self):
        return self._is_self_adjoint

    @property
    def is_positive_definite(self):
        return self._is_positive_definite

    @property
    def is_square(self):
        """True, False or None. Raises ValueError if the hint was False and the matrix is square."""
        has_equal_sizes = self.domain_dimension == self.range_dimension
        if self._square_hint is False and has_equal_sizes:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return has_equal_sizes if self._square_hint is None else self._square_hint

    def _can_use_cholesky(self):
        return self.is_self_adjoint and self.is_positive_definite

    # ---- Shapes ---------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _shape(self):
        raise NotImplementedError("_shape is not implemented.")

    @abc.abstractmethod
    def _shape_tensor(self):
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self):
        """The static shape, a TensorShape [..., m, n]."""
        return self._shape()

    def shape_tensor(self, name="shape_tensor"):
        """The shape as a tensor of int32."""
        with self._name_scope(name):
            return shape_tensor(self.shape.as_list()) if self.shape.is_fully_defined() else self._shape_tensor()

    @property
    def batch_shape(self):
        """The static shape without its last two dimensions."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        """The shape without its last two dimensions, as a tensor of int32."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                return shape_tensor(self.batch_shape.as_list(), name="batch_shape")
            return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self):
        """How many dimensions the shape has, or None."""
        with self._name_scope("tensor_rank"):
            return self.shape.rank

    def tensor_rank_tensor(self, name="tensor_rank_tensor"):
        """How many dimensions the shape has, as a tensor of int32."""
        with self._name_scope(name):
            rank = self.tensor_rank
            return ops.size(self.shape_tensor()) if rank is None else convert_to_tensor(rank)

    @property
    def domain_dimension(self):
        """The number of columns, a Dimension."""
        return Dimension(None) if self.shape.rank is None else self.shape.dims[-1]

    def domain_dimension_tensor(self, name="domain_dimension_tensor"):
        """The number of columns, as a tensor of int32."""
        with self._name_scope(name):
            size = self.domain_dimension.value
            return self.shape_tensor()[-1] if size is None else convert_to_tensor(size)

    @property
    def range_dimension(self):
        """The number of rows, a Dimension."""
        return self.shape.dims[-2] if self.shape.dims else Dimension(None)

    def range_dimension_tensor(self, name="range_dimension_tensor"):
        """The number of rows, as a tensor of int32."""
        with self._name_scope(name):
            size = self.range_dimension.value
            return self.shape_tensor()[-2] if size is None else convert_to_tensor(size)

    # ---- Assertions -----------------------------------------------------------------------------------------

    def _assert_non_singular(self):
        _warn_of_dense("assert_non_singular")
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        values = ops.svd(self.to_dense(), compute_uv=False)
        condition = ops.reduce_max(values, axis=-1) / ops.reduce_min(values, axis=-1)
        return checks.assert_comparison(
            "assert_less", condition, self._largest_condition(), message="Singular matrix up to precision epsilon."
        )

    def _largest_condition(self):
        """The condition number from which on a matrix counts as singular."""
        with name_scope("max_nonsingular_condition_number"):
            rows = ops.cast(self.range_dimension_tensor(), self.dtype)
            columns = ops.cast(self.domain_dimension_tensor(), self.dtype)
            size = ops.cast(ops.reduce_max([100.0, rows, columns]), self.dtype)
            return 1.0 / (size * np.finfo(self.dtype.as_numpy_dtype).eps)

    def assert_non_singular(self, name="assert_non_singular"):
        """An operation that fails if a matrix is singular, up to rounding errors."""
        with self._name_scope(name):
            return self._assert_non_singular()

    def _assert_positive_definite(self):
        _warn_of_dense("assert_positive_definite")
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        diagonal = matrices.diag_part(ops.cholesky(self.to_dense()))
        return checks.assert_sign("assert_positive", diagonal, message="Matrix was not positive definite.")

    def assert_positive_definite(self, name="assert_positive_definite"):
        """An operation that fails unless x' a x > 0 for all x but zero, for each matrix a."""
        with self._name_scope(name):
            return self._assert_positive_definite()

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        _warn_of_dense("assert_self_adjoint")
        return checks.assert_comparison(
            "assert_equal", dense, ops.adjoint(dense), message="Matrix was not equal to its adjoint."
        )

    def assert_self_adjoint(self, name="assert_self_adjoint"):
        """An operation that fails unless each matrix is its own adjoint."""
        with self._name_scope(name):
            return self._assert_self_adjoint()

    # ---- Products -------------------------------------------------------------------------------------------

    def _argument(self, value, name, own_axis, axis):
        """A tensor of the operator's type, whose size along `axis` may be that of the operator along `own_axis`."""
        value = convert_to_tensor(value, name=name)
        self._check_input_dtype(value)
        if self.shape.rank is not None:
            self.shape.dims[own_axis].assert_is_compatible_with(value.shape[axis])
        return value

    def _check_input_dtype(self, value):
        if value.dtype.base_dtype != self.dtype:
            raise TypeError(f"Expected argument to have dtype {self.dtype}.  Found: {value.dtype} in tensor {value}")

    def _pair(self, other, adjoint, adjoint_arg, argument):
        """Both operators of a product or solution. Raises ValueError if their sizes do not fit."""
        left = self.adjoint() if adjoint else self
        right = other.adjoint() if adjoint_arg else other
        # The sizes are Dimensions, of which unknown ones are neither equal nor different.
        if right.range_dimension != left.domain_dimension:
            raise ValueError(
                f"Operators are incompatible. Expected `{argument}` to have dimension {left.domain_dimension} but "
                f"got {right.range_dimension}."
            )
        return left, right

    @abc.abstractmethod
    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(self, x, adjoint=False, adjoint_arg=False, name="matmul"):
        """The product with a tensor [..., n, k], or an operator for the product with an operator.

        Args:
          x: of the operator's type.
          adjoint: whether to multiply by the adjoint.
          adjoint_arg: whether to multiply with the adjoint of `x`.

        Raises TypeError for another type, ValueError for sizes that do not fit.
        """
        if isinstance(x, LinearOperator):
            pair = self._pair(x, adjoint, adjoint_arg, "x")
            with self._name_scope(name):
                return calculate("matmul", *pair)
        with self._name_scope(name):
            x = self._argument(x, "x", -2 if adjoint else -1, -1 if adjoint_arg else -2)
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x, adjoint=False):
        return ops.squeeze(self.matmul(ops.expand_dims(x, -1), adjoint=adjoint), [-1])

    def matvec(self, x, adjoint=False, name="matvec"):
        """The product with vectors [..., n]; see `matmul`."""
        with self._name_scope(name):
            x = self._argument(x, "x", -2 if adjoint else -1, -1)
            return self._matvec(x, adjoint=adjoint)

    # ---- Determinants ---------------------------------------------------------------------------------------

    def _check_square_for_determinant(self):
        if self.is_square is False:
            raise NotImplementedError(
                "Determinant not implemented for an operator that is expected to not be square."
            )

    def _determinant(self):
        _warn_of_dense("determinant")
        if self._can_use_cholesky():
            return ops.exp(self.log_abs_determinant())
        return ops.matrix_determinant(self.to_dense())

    def determinant(self, name="det"):
        """The determinant of each matrix. Raises NotImplementedError if they are known not to be square."""
        self._check_square_for_determinant()
        with self._name_scope(name):
            return self._determinant()

    def _log_abs_determinant(self):
        _warn_of_dense("log_abs_determinant")
        if self._can_use_cholesky():
            diagonal = matrices.diag_part(ops.cholesky(self.to_dense()))
            return 2 * ops.reduce_sum(ops.log(diagonal), axis=[-1])
        return ops.log_matrix_determinant(self.to_dense())[1]

    def log_abs_determinant(self, name="log_abs_det"):
        """The logarithm of the magnitude of each determinant; see `determinant`."""
        self._check_square_for_determinant()
        with self._name_scope(name):
            return self._log_abs_determinant()

    # ---- Solutions ------------------------------------------------------------------------------------------

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        if self.is_square is False:
            raise NotImplementedError("Solve is not yet implemented for non-square operators.")
        _warn_of_dense("solve")
        rhs = ops.adjoint(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            return matrices.cholesky_solve(ops.cholesky(self.to_dense()), rhs)
        return matrices.solve(self.to_dense(), rhs, adjoint)

    def solve(self, rhs, adjoint=False, adjoint_arg=False, name="solve"):
        """x of operator * x = rhs, for a tensor [..., m, k], or an operator that gives it for an operator.

        Args:
          rhs: of the operator's type.
          adjoint: whether to solve with the adjoint.
          adjoint_arg: whether the right side is the adjoint of `rhs`.

        Raises NotImplementedError if the matrix is known to be singular, or not to be square.
        """
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to not be square."
            )
        if isinstance(rhs, LinearOperator):
            pair = self._pair(rhs, adjoint, adjoint_arg, "rhs")
            with self._name_scope(name):
                return calculate("solve", *pair)
        with self._name_scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1 if adjoint_arg else -2)
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs, adjoint=False):
        return ops.squeeze(self.solve(ops.expand_dims(rhs, -1), adjoint=adjoint), [-1])

    def solvevec(self, rhs, adjoint=False, name="solve"):
        """x of operator * x = rhs, for vectors [..., m]; see `solve`."""
        with self._name_scope(name):
            rhs = self._argument(rhs, "rhs", -1 if adjoint else -2, -1)
            return self._solvevec(rhs, adjoint=adjoint)

    # ---- Operators of it ------------------------------------------------------------------------------------

    def adjoint(self, name="adjoint"):
        """The operator of the adjoint matrix."""
        if self.is_self_adjoint is True:
            return self
        with self._name_scope(name):
            return calculate("adjoint", self)

    H = property(adjoint, None)

    def inverse(self, name="inverse"):
        """The operator of the inverse. Raises ValueError if the matrix is known to have none."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._name_scope(name):
            return calculate("inverse", self)

    def cholesky(self, name="cholesky"):
        """The operator l of the lower triangular factor, with l l' the matrix.

        Raises ValueError unless the hints say that the matrix is self-adjoint and positive definite.
        """
        if not self._can_use_cholesky():
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._name_scope(name):
            return calculate("cholesky", self)

    # ---- The matrix -----------------------------------------------------------------------------------------

    def _to_dense(self):
        batch = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        size = self.domain_dimension.value
        size = self.domain_dimension_tensor() if size is None else size
        return self.matmul(ops.eye(size, batch_shape=batch, dtype=self.dtype))

    def to_dense(self, name="to_dense"):
        """The matrix as a tensor."""
        with self._name_scope(name):
            return self._to_dense()

    def _diag_part(self):
        return matrices.diag_part(self.to_dense())

    def diag_part(self, name="diag_part"):
        """The diagonals, [..., min(m, n)]."""
        with self._name_scope(name):
            return self._diag_part()

    def _trace(self):
        return ops.reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name="trace"):
        """The sum of each diagonal."""
        with self._name_scope(name):
            return self._trace()

    def _add_to_tensor(self, x):
        return self.to_dense() + x

    def add_to_tensor(self, x, name="add_to_tensor"):
        """The matrix plus a tensor that can be broadcast to its shape."""
        with self._name_scope(name):
            x = convert_to_tensor(x, name="x")
            self._check_input_dtype(x)
            return self._add_to_tensor(x)
