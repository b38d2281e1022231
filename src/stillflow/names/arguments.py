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
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


@public("python.util.function_utils.fn_args", "python.estimator.util.fn_args")
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


@public("python.util.function_utils.has_kwargs")
def has_kwargs(fn):
    """Whether a function, or what a partial or callable object calls, takes any named arguments.

    Raises TypeError for what cannot be called.
    """
    if isinstance(fn, functools.partial):
        fn = fn.func
    elif inspect.ismethod(getattr(fn, "__call__", None)):  # noqa: B004  an object of a class with __call__
        fn = fn.__call__
    elif not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    return inspect.getfullargspec(fn).varkw is not None


@public("python.util.function_utils.get_func_name")
def get_func_name(func):
    """The name of a function, method, partial or callable object. Raises ValueError for what is none."""
    if isinstance(func, functools.partial):
        return get_func_name(func.func)
    if not callable(func):
        raise ValueError("Argument must be callable")
    return getattr(func, "__name__", None) or f"{type(func)}"


@public("python.util.function_utils.get_func_code")
def get_func_code(func):
    """The code of a function; None if it has none. Raises ValueError for what cannot be called."""
    if not callable(func):
        raise ValueError("Argument must be callable")
    return getattr(func, "__code__", None) or getattr(getattr(func, "__call__", None), "__code__", None)  # noqa: B004
