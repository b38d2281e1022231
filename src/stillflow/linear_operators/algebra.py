"""Algebra of operators: adjoints, inverses, Cholesky factors, products and solutions, by the operators' types."""

from __future__ import annotations

import itertools

from stillflow.graph.name_scope import name_scope
from stillflow.names import public

# Name of a calculation -> {types of operators: function that does it}, which the module `rules` fills.
_RULES: dict[str, dict[tuple, object]] = {name: {} for name in ("adjoint", "cholesky", "inverse", "matmul", "solve")}

_SINGLE = {"adjoint": "adjoint", "cholesky": "cholesky decomposition", "inverse": "inverse"}


def rule(calculation, *types):
    """Decorates a function of operators of such types, or of classes derived from them."""

    def register(function):
        _RULES[calculation][types] = function
        return function

    return register


class _Register:
    """Decorates a user's rule for operators of such classes, or of classes derived from them.

    The decorator raises TypeError for what cannot be called, and ValueError where there is a rule for the classes.
    """

    _calculation: str

    def __init__(self, *classes):
        self._classes = classes

    def __call__(self, function):
        label = self._calculation
        if not callable(function):
            raise TypeError(f"{label}_fn must be callable, received: {function}")
        rules = _RULES[label]
        if self._classes in rules:
            names = ", ".join(map(str, self._classes))
            whom = f" to: {rules[self._classes]}" if len(self._classes) == 1 else "."
            raise ValueError(f"{label.capitalize()}({names}) has already been registered{whom}")
        return rule(label, *self._classes)(function)


@public("python.ops.linalg.linear_operator_algebra.RegisterAdjoint")
class RegisterAdjoint(_Register):
    """A rule for the adjoint of operators of a class: a function of the operator."""

    _calculation = "adjoint"


@public("python.ops.linalg.linear_operator_algebra.RegisterCholesky")
class RegisterCholesky(_Register):
    """A rule for the Cholesky factor of operators of a class: a function of the operator."""

    _calculation = "cholesky"


@public("python.ops.linalg.linear_operator_algebra.RegisterInverse")
class RegisterInverse(_Register):
    """A rule for the inverse of operators of a class: a function of the operator."""

    _calculation = "inverse"


@public("python.ops.linalg.linear_operator_algebra.RegisterMatmul")
class RegisterMatmul(_Register):
    """A rule for the product of operators of two classes: a function of both."""

    _calculation = "matmul"


@public("python.ops.linalg.linear_operator_algebra.RegisterSolve")
class RegisterSolve(_Register):
    """A rule for the solution of a system of operators of two classes: a function of both sides."""

    _calculation = "solve"


def calculate(calculation, *operators):
    """The operator that a calculation gives, by the rule for the types that are nearest to those of the operators.

    Raises ValueError if there is no rule.
    """
    types = tuple(type(operator) for operator in operators)
    found = _nearest(_RULES[calculation], types)
    if found is None:
        if len(types) == 1:
            raise ValueError(f"No {_SINGLE[calculation]} registered for {types[0]}")
        raise ValueError(f"No {calculation} registered for {types[0]}.{calculation}({types[1]})")
    with name_scope(calculation.capitalize()):
        return found(*operators)


def _nearest(rules, types):
    """The rule with the fewest steps up from the types to those that it is for; among equals, that for the first."""
    best, best_distance = None, None
    for steps in itertools.product(*(enumerate(kind.__mro__) for kind in types)):
        found = rules.get(tuple(base for _, base in steps))
        distance = sum(count for count, _ in steps)
        if found is not None and (best_distance is None or distance < best_distance):
            best, best_distance = found, distance
    return best
