"""The rules of algebra: for which types of operators an adjoint, inverse, factor, product or solution is simple."""

from __future__ import annotations

from stillflow import ops
from stillflow.linear_operators.adjoint import LinearOperatorAdjoint
from stillflow.linear_operators.algebra import rule
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.block_diag import LinearOperatorBlockDiag
from stillflow.linear_operators.circulant import LinearOperatorCirculant
from stillflow.linear_operators.composition import LinearOperatorComposition
from stillflow.linear_operators.derived import HINTS
from stillflow.linear_operators.diag import LinearOperatorDiag
from stillflow.linear_operators.householder import LinearOperatorHouseholder
from stillflow.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from stillflow.linear_operators.inversion import LinearOperatorInversion
from stillflow.linear_operators.kronecker import LinearOperatorKronecker
from stillflow.linear_operators.lower_triangular import LinearOperatorLowerTriangular
from stillflow.linear_operators.zeros import LinearOperatorZeros

# ---- Hints ------------------------------------------------------------------------------------------------------


def _hints(operator, **others):
    """The hints of an operator, but for `others`."""
    return {**{hint: getattr(operator, hint) for hint in HINTS}, **others}


def _both_non_singular(a, b):
    if a.is_non_singular is False or b.is_non_singular is False:
        return False
    return a.is_non_singular and b.is_non_singular


def _both_square(a, b):
    if a.is_square and b.is_square:
        return True
    if a.is_square is False and b.is_square is False:
        return a.range_dimension == b.domain_dimension
    if a.is_square != b.is_square and a.is_square is not None:
        return False
    return None


def _hints_of_commuting(a, b):
    """What is known of products and solutions of two square operators whose order does not matter."""
    adjoints = {a.is_self_adjoint, b.is_self_adjoint}
    is_self_adjoint = True if adjoints == {True} else False if adjoints == {True, False} else None
    is_positive = a.is_positive_definite is True and b.is_positive_definite is True and is_self_adjoint is True
    return {
        "is_non_singular": _both_non_singular(a, b),
        "is_self_adjoint": is_self_adjoint,
        "is_positive_definite": True if is_positive else None,
        "is_square": True,
    }


def _hints_of_composition(a, b):
    is_square = _both_square(a, b)
    is_singular = False if is_square is False else None
    return {
        "is_non_singular": _both_non_singular(a, b) if is_square else is_singular,
        "is_self_adjoint": is_singular,
        "is_positive_definite": is_singular,
        "is_square": is_square,
    }


# ---- Adjoints ---------------------------------------------------------------------------------------------------


@rule("adjoint", LinearOperator)
def _(operator):
    return LinearOperatorAdjoint(operator, **_hints(operator))


@rule("adjoint", LinearOperatorAdjoint)
@rule("inverse", LinearOperatorInversion)
def _(operator):
    return operator.operator


@rule("adjoint", LinearOperatorIdentity)
@rule("adjoint", LinearOperatorHouseholder)
@rule("inverse", LinearOperatorIdentity)
@rule("inverse", LinearOperatorHouseholder)
def _(operator):
    return operator


@rule("adjoint", LinearOperatorScaledIdentity)
def _(operator):
    hints = _hints(operator, is_square=True)
    return LinearOperatorScaledIdentity(operator._num_rows, operator.multiplier, **hints)


@rule("adjoint", LinearOperatorDiag)
def _(operator):
    return LinearOperatorDiag(operator.diag, **_hints(operator, is_square=True))


@rule("adjoint", LinearOperatorBlockDiag)
def _(operator):
    parts = [each.adjoint() for each in operator.operators]
    return LinearOperatorBlockDiag(parts, **_hints(operator, is_square=True))


@rule("adjoint", LinearOperatorKronecker)
def _(operator):
    parts = [each.adjoint() for each in operator.operators]
    return LinearOperatorKronecker(parts, **_hints(operator, is_square=True))


@rule("adjoint", LinearOperatorCirculant)
def _(operator):
    spectrum = operator.spectrum
    spectrum = ops.conj(spectrum) if spectrum.dtype.is_complex else spectrum
    return LinearOperatorCirculant(spectrum, **_hints(operator, is_square=True))


# ---- Inverses ---------------------------------------------------------------------------------------------------


@rule("inverse", LinearOperator)
def _(operator):
    return LinearOperatorInversion(operator, **_hints(operator))


@rule("inverse", LinearOperatorDiag)
def _(operator):
    return LinearOperatorDiag(1.0 / operator.diag, **_hints(operator, is_square=True))


@rule("inverse", LinearOperatorScaledIdentity)
def _(operator):
    hints = _hints(operator, is_self_adjoint=True, is_square=True)
    return LinearOperatorScaledIdentity(operator._num_rows, 1.0 / operator.multiplier, **hints)


@rule("inverse", LinearOperatorBlockDiag)
def _(operator):
    parts = [each.inverse() for each in operator.operators]
    return LinearOperatorBlockDiag(parts, **_hints(operator, is_square=True))


@rule("inverse", LinearOperatorKronecker)
def _(operator):
    parts = [each.inverse() for each in operator.operators]
    return LinearOperatorKronecker(parts, **_hints(operator, is_square=True))


@rule("inverse", LinearOperatorCirculant)
def _(operator):
    return LinearOperatorCirculant(1.0 / operator.spectrum, **_hints(operator, is_square=True))


# ---- Cholesky factors -------------------------------------------------------------------------------------------

_OF_FACTOR = {"is_non_singular": True, "is_self_adjoint": False, "is_square": True}
_OF_DIAGONAL_FACTOR = dict.fromkeys(HINTS, True)


@rule("cholesky", LinearOperator)
def _(operator):
    return LinearOperatorLowerTriangular(ops.cholesky(operator.to_dense()), **_OF_FACTOR)


@rule("cholesky", LinearOperatorDiag)
def _(operator):
    return LinearOperatorDiag(ops.sqrt(operator.diag), **_OF_DIAGONAL_FACTOR)


@rule("cholesky", LinearOperatorIdentity)
def _(operator):
    # Where the batch has no known shape, TensorFlow passes the static shape, and fails.
    has_batch = operator._batch_shape_arg is not None and not operator.batch_shape.is_fully_defined()
    batch_shape = operator._batch_shape_arg if has_batch else operator.batch_shape
    return LinearOperatorIdentity(operator._num_rows, batch_shape, operator.dtype, **_OF_DIAGONAL_FACTOR)


@rule("cholesky", LinearOperatorScaledIdentity)
def _(operator):
    return LinearOperatorScaledIdentity(operator._num_rows, ops.sqrt(operator.multiplier), **_OF_DIAGONAL_FACTOR)


@rule("cholesky", LinearOperatorBlockDiag)
def _(operator):
    return _of_factors(LinearOperatorBlockDiag, operator)


@rule("cholesky", LinearOperatorKronecker)
def _(operator):
    return _of_factors(LinearOperatorKronecker, operator)


def _of_factors(kind, operator):
    """The factors of the parts, put together; TensorFlow fails where all of these are diagonal."""
    factors = [each.cholesky() for each in operator.operators]
    return kind(factors, **{**_OF_FACTOR, "is_self_adjoint": all(each.is_self_adjoint for each in factors)})


# ---- Products ---------------------------------------------------------------------------------------------------


@rule("matmul", LinearOperator, LinearOperator)
def _(a, b):
    return LinearOperatorComposition([a, b], **_hints_of_composition(a, b))


@rule("matmul", LinearOperatorIdentity, LinearOperator)
@rule("solve", LinearOperatorIdentity, LinearOperator)
def _(identity, operator):
    return operator


@rule("matmul", LinearOperator, LinearOperatorIdentity)
def _(operator, identity):
    return operator


@rule("matmul", LinearOperator, LinearOperatorZeros)
def _(operator, zeros):
    if not (zeros.is_square and operator.is_square):
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this time."
        )
    return zeros


@rule("matmul", LinearOperatorZeros, LinearOperator)
def _(zeros, operator):
    if not (zeros.is_square and operator.is_square):
        raise ValueError(
            "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` not supported at this time."
        )
    return zeros


@rule("matmul", LinearOperatorDiag, LinearOperatorDiag)
def _(a, b):
    return LinearOperatorDiag(a.diag * b.diag, **_hints_of_commuting(a, b))


@rule("matmul", LinearOperatorDiag, LinearOperatorScaledIdentity)
def _(diagonal, scaled):
    return LinearOperatorDiag(diagonal.diag * scaled.multiplier, **_hints_of_commuting(diagonal, scaled))


@rule("matmul", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _(scaled, diagonal):
    return LinearOperatorDiag(diagonal.diag * scaled.multiplier, **_hints_of_commuting(diagonal, scaled))


def _triangular(tril, diagonal, triangular):
    hints = {**_hints_of_commuting(diagonal, triangular), "is_positive_definite": None}
    return LinearOperatorLowerTriangular(tril, **hints)


@rule("matmul", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(diagonal, triangular):
    return _triangular(diagonal.diag[..., None] * triangular.to_dense(), diagonal, triangular)


@rule("matmul", LinearOperatorLowerTriangular, LinearOperatorDiag)
def _(triangular, diagonal):
    return _triangular(triangular.to_dense() * diagonal.diag, diagonal, triangular)


@rule("matmul", LinearOperatorCirculant, LinearOperatorCirculant)
def _(a, b):
    return LinearOperatorCirculant(a.spectrum * b.spectrum, **_hints_of_commuting(a, b))


# ---- Solutions --------------------------------------------------------------------------------------------------


@rule("solve", LinearOperator, LinearOperator)
def _(a, b):
    return LinearOperatorComposition([LinearOperatorInversion(a), b], **_hints_of_composition(a, b))


@rule("solve", LinearOperatorInversion, LinearOperator)
def _(inversion, operator):
    return inversion.operator.matmul(operator)


@rule("solve", LinearOperatorDiag, LinearOperatorDiag)
def _(a, b):
    return LinearOperatorDiag(b.diag / a.diag, **_hints_of_commuting(a, b))


@rule("solve", LinearOperatorDiag, LinearOperatorScaledIdentity)
def _(diagonal, scaled):
    return LinearOperatorDiag(scaled.multiplier / diagonal.diag, **_hints_of_commuting(diagonal, scaled))


@rule("solve", LinearOperatorScaledIdentity, LinearOperatorDiag)
def _(scaled, diagonal):
    return LinearOperatorDiag(diagonal.diag / scaled.multiplier, **_hints_of_commuting(diagonal, scaled))


@rule("solve", LinearOperatorDiag, LinearOperatorLowerTriangular)
def _(diagonal, triangular):
    return _triangular(triangular.to_dense() / diagonal.diag[..., None], diagonal, triangular)


@rule("solve", LinearOperatorCirculant, LinearOperatorCirculant)
def _(a, b):
    return LinearOperatorCirculant(b.spectrum / a.spectrum, **_hints_of_commuting(a, b))
