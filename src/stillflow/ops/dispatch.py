"""Functions of tensors that take more than tensors: linear operators, ragged tensors.

What a function does with these is said where they are known. It is asked where the function fails by itself, so that
calls with tensors cost nothing more.
"""

from __future__ import annotations

import functools


def dispatched(function):
    """Decorates a function that hands its arguments over to its handlers where it fails itself."""
    handlers: list = []

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError):
            result = handled(handlers, args, kwargs)
            if result is NotImplemented:
                raise
            return result

    vars(call)["handlers"] = handlers
    return call


def handled(handlers, args, kwargs):
    """What the first handler that knows the arguments makes of them; NotImplemented if none does."""
    for handler in handlers:
        result = handler(*args, **kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def handles(function):
    """Decorates a handler of a dispatched function: it returns NotImplemented for arguments that it does not know."""

    def register(handler):
        function.handlers.append(handler)
        return handler

    return register
