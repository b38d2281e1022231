"""Sums of linear operators, in as few operators as they can be written: tensorflow's linear_operator_addition.

Which two operators are added, and what their sum is, depends on their kinds: two multiples of the identity are one,
diagonals are a diagonal, with a triangle they are a triangle, and anything is a full matrix.
"""

from __future__ import annotations

import collections.abc
from typing import NamedTuple

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.diag import LinearOperatorDiag
from stillflow.linear_operators.full_matrix import LinearOperatorFullMatrix
from stillflow.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from stillflow.linear_operators.lower_triangular import LinearOperatorLowerTriangular
from stillflow.names import public

_MULTIPLES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)
_DIAGONALS = (*_MULTIPLES, LinearOperatorDiag)
_KNOWN = (*_DIAGONALS, LinearOperatorLowerTriangular, LinearOperatorFullMatrix)


@public("python.ops.linalg.linear_operator_addition._Hints")
class Hints(NamedTuple):
    """What is said of a sum, whatever is known of the operators."""

    is_non_singular: bool | None = None
    is_positive_definite: bool | None = None
    is_self_adjoint: bool | None = None


def _hints_of_sum(a, b, given):
    given = given or Hints()
    self_adjoint, definite, non_singular = given.is_self_adjoint, given.is_positive_definite, given.is_non_singular
    if self_adjoint is None:
        self_adjoint = a.is_self_adjoint and b.is_self_adjoint
    if definite is None:
        definite = a.is_positive_definite and b.is_positive_definite
        non_singular = True if definite else non_singular
    return {"is_non_singular": non_singular, "is_self_adjoint": self_adjoint, "is_positive_definite": definite}


@public("python.ops.linalg.linear_operator_addition._Adder")
class _Adder:
    """Adds two operators of the kinds that it knows."""

    kinds: tuple = ()

    @property
    def name(self):
        return type(self).__name__

    def can_add(self, op1, op2):
        """Whether it knows both kinds. Raises TypeError for an operator that no adder knows."""
        for operator in (op1, op2):
            if not isinstance(operator, _KNOWN):
                raise TypeError(f"Operator type unknown: {operator}")
        return isinstance(op1, self.kinds) and isinstance(op2, self.kinds)

    def add(self, op1, op2, operator_name, hints=None):
        """An operator that acts as both do together; `hints`, of Hints, stand against what is known of them."""
        if operator_name is None:
            operator_name = f"Add/{op1.name}__{op2.name}/"
        known = _hints_of_sum(op1, op2, hints)
        with name_scope(self.name.lstrip("_"), values=[*op1.graph_parents, *op2.graph_parents]):
            return self._add(op1, op2, name=operator_name, **known)

    def _add(self, op1, op2, **options):
        raise NotImplementedError

    @staticmethod
    def _dense(op1, op2):
        """The sum as a matrix, made by the operator that can be added to one without being written out."""
        cheap, other = (op1, op2) if isinstance(op1, _DIAGONALS) else (op2, op1)
        return cheap.add_to_tensor(other.to_dense())


@public("python.ops.linalg.linear_operator_addition._AddAndReturnScaledIdentity")
class _AddAndReturnScaledIdentity(_Adder):
    kinds = _MULTIPLES

    def _add(self, op1, op2, **options):
        factors = [
            each.multiplier
            if isinstance(each, LinearOperatorScaledIdentity)
            else ops.ones(each.batch_shape_tensor(), dtype=each.dtype)
            for each in (op1, op2)
        ]
        return LinearOperatorScaledIdentity(op1.range_dimension_tensor(), factors[0] + factors[1], **options)


@public("python.ops.linalg.linear_operator_addition._AddAndReturnDiag")
class _AddAndReturnDiag(_Adder):
    kinds = _DIAGONALS

    def _add(self, op1, op2, **options):
        return LinearOperatorDiag(op1.diag_part() + op2.diag_part(), **options)


@public("python.ops.linalg.linear_operator_addition._AddAndReturnTriL")
class _AddAndReturnTriL(_Adder):
    kinds = (*_DIAGONALS, LinearOperatorLowerTriangular)

    def _add(self, op1, op2, **options):
        return LinearOperatorLowerTriangular(self._dense(op1, op2), **options)


@public("python.ops.linalg.linear_operator_addition._AddAndReturnMatrix")
class _AddAndReturnMatrix(_Adder):
    def can_add(self, op1, op2):
        """True for all operators."""
        return isinstance(op1, LinearOperator) and isinstance(op2, LinearOperator)

    def _add(self, op1, op2, **options):
        return LinearOperatorFullMatrix(self._dense(op1, op2), **options)


_DEFAULT_TIERS = (
    (_AddAndReturnScaledIdentity(),),
    (_AddAndReturnDiag(),),
    (_AddAndReturnTriL(),),
    (_AddAndReturnMatrix(),),
)


@public("python.ops.linalg.linear_operator_addition.add_operators")
def add_operators(operators, operator_name=None, addition_tiers=None, name=None):
    """A list of operators, as short as it can be, whose sum is that of the operators given.

    Args:
      operators: a list of LinearOperators of one dtype and size, with batch dimensions that fit.
      operator_name: the name of sums; by default it tells what was added.
      addition_tiers: lists of adders; those of the first are used as far as they go, then those of the next.
      name: of the scope of all nodes.

    Raises:
      ValueError: without operators, or for sizes that do not fit.
      TypeError: for what is no operator.
    """
    if not isinstance(operators, collections.abc.Iterable) or isinstance(operators, (str, bytes)):
        raise TypeError(f"Expected argument 'values' to be iterable. Found: {operators!r}")
    left = list(reversed(list(operators)))
    _check(left)
    parents = [parent for operator in left for parent in operator.graph_parents]
    with name_scope(name or "add_operators", values=parents):
        for tier in _DEFAULT_TIERS if addition_tiers is None else addition_tiers:
            left = _added(left, tier, operator_name)
    return left


def _added(operators, tier, operator_name):
    """What is left of the operators, the first of them last, when the adders of a tier can add no more."""
    left = []
    while operators:
        first = operators.pop()
        other, adder = _pop_match(first, operators, tier)
        if adder is None:
            left.append(first)
        else:
            operators.append(adder.add(first, other, operator_name))
    return left


def _pop_match(first, operators, tier):
    for i in reversed(range(len(operators))):
        adder = next((adder for adder in tier if adder.can_add(first, operators[i])), None)
        if adder is not None:
            return operators.pop(i), adder
    return None, None


def _check(operators):
    if not operators:
        raise ValueError(f"Argument 'operators' must contain at least one operator.  Found: {operators}")
    if not all(isinstance(each, LinearOperator) for each in operators):
        raise TypeError(f"Argument 'operators' must contain only LinearOperator instances.  Found: {operators}")
    for kind in ("domain", "range"):
        sizes = [(each.name, getattr(each, f"{kind}_dimension").value) for each in operators]
        sizes = [(name, size) for name, size in sizes if size is not None]
        if len({size for _, size in sizes}) > 1:
            raise ValueError(f"Operators must have the same {kind} dimension. Found: {sizes}")
    batch = operators[0].batch_shape
    for each in operators[1:]:
        batch = ops.broadcast_static_shape(batch, each.batch_shape)
