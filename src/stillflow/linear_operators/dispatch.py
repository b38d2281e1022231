"""What functions of tensors do when they are given operators: the method of that name."""

from __future__ import annotations

from collections.abc import Callable

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators.base import LinearOperator
from stillflow.ops.dispatch import handles


def _inverse(input, adjoint=False, name=None):
    inverse = input.inverse(name)
    return inverse.adjoint() if adjoint else inverse


def _logdet(matrix, name=None):
    """The logarithm of the determinant of an operator. Raises ValueError unless its hints say what it needs."""
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError("Expected matrix to be self-adjoint positive definite.")
    with name_scope(name, "logdet"):
        diagonal = matrix.cholesky(None).diag_part()
        return 2.0 * ops.reduce_sum(ops.log(diagonal), axis=[-1])


def _matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    name=None,
):
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name)
    return ops.adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name))


def _solve(matrix, rhs, adjoint=False, name=None):
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint, name=name)


# The name of a function in ops -> what it does with operators.
_FUNCTIONS: dict[str, Callable] = {
    "adjoint": lambda matrix, name=None: matrix.adjoint(name),
    "cholesky": lambda input, name=None: input.cholesky(name),
    "logdet": _logdet,
    "matrix_diag_part": lambda input, name="diag_part", k=0, padding_value=0: input.diag_part(name),
    "matrix_determinant": lambda input, name=None: input.determinant(name),
    "matrix_inverse": _inverse,
    "matmul": _matmul,
    "matrix_solve": _solve,
    "trace": lambda x, name=None: x.trace(name),
}


def _if_any_is_operator(function):
    def call(*args, **kwargs):
        if not any(isinstance(value, LinearOperator) for value in (*args, *kwargs.values())):
            return NotImplemented
        return function(*args, **kwargs)

    return call


for _name, _function in _FUNCTIONS.items():
    handles(getattr(ops, _name))(_if_any_is_operator(_function))
