"""Operators that are made of one other, and are square, singular, ... as it is."""

from __future__ import annotations

from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators.arguments import combined_hint
from stillflow.linear_operators.base import LinearOperator

HINTS = {
    "is_square": "square",
    "is_non_singular": "non-singular",
    "is_self_adjoint": "self-adjoint",
    "is_positive_definite": "positive-definite",
}


def _hints_like(operator, given, what):
    """The hints for the adjoint or inverse of an operator, which are its own. Raises ValueError for others."""
    return {
        hint: combined_hint(
            operator, hint, given[hint], f"An operator is {word} if and only if its {what} is {word}."
        )
        for hint, word in HINTS.items()
    }


class DerivedOperator(LinearOperator):
    """The adjoint or inverse (`what`) of `operator`, of which `given` are hints. Raises ValueError for wrong ones."""

    def __init__(self, operator, what, given, name):
        self._operator = operator
        hints = _hints_like(operator, given, what)
        with name_scope(name, values=operator.graph_parents):
            super().__init__(operator.dtype, operator.graph_parents, name=name, **hints)

    @property
    def operator(self):
        return self._operator

    def _assert_non_singular(self):
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self):
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self):
        return self._operator.assert_self_adjoint()
