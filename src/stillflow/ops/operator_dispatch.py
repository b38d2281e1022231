"""Functions of tensors that take linear operators, too: what they do with these is said where operators are known."""

from __future__ import annotations

import functools
from collections.abc import Callable

_OF_OPERATORS: dict[str, Callable] = {}


def takes_operators(function):
    """Decorates a function that hands over to what `of_operators` has for its name where it fails itself."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            of_operators = _OF_OPERATORS.get(call.__name__)
            result = NotImplemented if of_operators is None else of_operators(*args, **kwargs)
            if result is NotImplemented:
                raise
            return result

    return call


def of_operators(name: str):
    """Decorates what the function of that name does with operators, or NotImplemented if there are none."""

    def register(function):
        _OF_OPERATORS[name] = function
        return function

    return register
