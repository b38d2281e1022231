"""Matrices as what solvers need of them, and norms of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from stillflow import ops
from stillflow.names import public_module
from stillflow.ops.array.constant import constant
from stillflow.ops.math.complex_parts import conj
from stillflow.ops.math.matmul import matmul
from stillflow.ops.math.reduction import reduce_sum

public_module("contrib.solvers.python.ops.util", "contrib.solvers.util")


class LinearOperator(NamedTuple):
    """A matrix: its shape, a list or a tensor, its dtype, and the products with a column, also of its adjoint."""

    shape: Any
    dtype: Any
    apply: Callable
    apply_adjoint: Callable


def _shape_of(matrix):
    shape = matrix.get_shape()
    return shape.as_list() if shape.is_fully_defined() else ops.shape(matrix)


def create_operator(matrix):
    """The LinearOperator of a matrix, a tensor."""
    return LinearOperator(
        _shape_of(matrix), matrix.dtype, lambda v: matmul(matrix, v), lambda v: matmul(matrix, v, adjoint_a=True)
    )


def identity_operator(matrix):
    """The LinearOperator that leaves columns as they are, of the shape and dtype of a matrix."""
    return LinearOperator(_shape_of(matrix), matrix.dtype, lambda v: v, lambda v: v)


def dot(x, y):
    """The scalar product of two vectors or columns; of complex ones with the conjugate of the first."""
    return reduce_sum(conj(x) * y)


def l2norm_squared(v):
    """The sum of the squares of the elements."""
    return constant(2, dtype=v.dtype.base_dtype) * ops.l2_loss(v)


def l2norm(v):
    """The square root of that sum."""
    return ops.sqrt(l2norm_squared(v))


def l2normalize(v):
    """(`v` with the norm 1, its norm)."""
    norm = l2norm(v)
    return v / norm, norm
