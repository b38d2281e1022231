"""LinearOperatorFullMatrix: a dense matrix."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators.arguments import tensor_or_reference
from stillflow.linear_operators.base import LinearOperator
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_TYPES = [dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128]


@public("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(LinearOperator):
    """Matrices [..., m, n].

    Args:
      matrix: a tensor or variable of floats.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised; see LinearOperator.

    Raises:
      TypeError: for integers.
      ValueError: for fewer than two dimensions.
    """

    def __init__(
        self,
        matrix,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorFullMatrix",
    ):
        with name_scope(name, values=[matrix]):
            self._matrix = tensor_or_reference(matrix, "matrix")
            _check(convert_to_tensor(self._matrix, name="matrix"))
            super().__init__(
                self._matrix.dtype,
                [self._matrix],
                is_non_singular=is_non_singular,
                is_self_adjoint=is_self_adjoint,
                is_positive_definite=is_positive_definite,
                is_square=is_square,
                name=name,
            )

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return ops.shape(self._matrix)

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return ops.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self):
        return self._matrix


def _check(matrix):
    if matrix.dtype not in _TYPES:
        raise TypeError(f"Argument matrix must have dtype in {_TYPES}.  Found: {matrix.dtype}")
    if matrix.shape.rank is not None and matrix.shape.rank < 2:
        raise ValueError(f"Argument matrix must have at least 2 dimensions.  Found: {matrix}")
