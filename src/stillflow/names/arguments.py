"""The arguments of functions: names that TensorFlow has changed, and which ones a program's function takes."""

from __future__ import annotations

import functools
import inspect

from stillflow.names import public


def renamed(new_name, new_value, old_name, old_value):
    """The value given under either name. Raises ValueError if it is given under both."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{new_name}' and '{old_name}'")
    return old_value


@public("python.util.function_utils.fn_args")
def fn_args(fn):
    """The names of the positional arguments of a function, method, callable object or partial, as a tuple.

    What is bound already, `self` or the arguments of a partial, is left out.
    """
    if isinstance(fn, functools.partial):
        names = fn_args(fn.func)
        return tuple(name for name in names[len(fn.args) :] if name not in fn.keywords)
    if inspect.ismethod(getattr(fn, "__call__", None)):  # noqa: B004  an object of a class with __call__
        fn = fn.__call__
    names = inspect.getfullargspec(fn).args
    return tuple(names[1:] if inspect.ismethod(fn) and names else names)
