"""Algebra of operators: adjoints, inverses, Cholesky factors, products and solutions, by the operators' types."""

from __future__ import annotations

import itertools

from stillflow.graph.name_scope import name_scope

# Name of a calculation -> {types of operators: function that does it}, which the module `rules` fills.
_RULES: dict[str, dict[tuple, object]] = {name: {} for name in ("adjoint", "cholesky", "inverse", "matmul", "solve")}

_SINGLE = {"adjoint": "adjoint", "cholesky": "cholesky decomposition", "inverse": "inverse"}


def rule(calculation, *types):
    """Decorates a function of operators of such types, or of classes derived from them."""

    def register(function):
        _RULES[calculation][types] = function
        return function

    return register


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
