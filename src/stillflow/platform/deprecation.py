"""Functions that say that they are deprecated: tensorflow.python.util.deprecation."""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import re
import threading

from stillflow.names import public, public_module
from stillflow.names.arguments import renamed

public_module("python.util.deprecation")

_PRINT_DEPRECATION_WARNINGS = True  # which programs set to False, under this name
_LOG = logging.getLogger("tensorflow")
_STATE = threading.local()
_WARNED: set[object] = set()


@contextlib.contextmanager
def silence():
    """A context in which nothing is said."""
    was, _STATE.is_silent = getattr(_STATE, "is_silent", False), True
    try:
        yield
    finally:
        _STATE.is_silent = was


def _warn(key, warn_once, text, *values):
    if not _PRINT_DEPRECATION_WARNINGS or getattr(_STATE, "is_silent", False) or (warn_once and key in _WARNED):
        return
    _WARNED.add(key)
    _LOG.warning(text, *values)


def _place():
    """The file and line that call the function that is deprecated."""
    frame = inspect.currentframe()
    for _ in range(2):
        if frame is not None:
            frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "unknown"


def _check(date, instructions):
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError(f"Date must be YYYY-MM-DD. Got: {date}")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _when(date):
    return "in a future version" if date is None else f"after {date}"


def _name(func):
    return getattr(func, "__qualname__", func.__name__)


@public("contrib.framework.deprecated")
def deprecated(date, instructions, warn_once=True):
    """A decorator of functions and classes that will be removed: a call logs that, once.

    Args:
      date: "YYYY-MM-DD", or None for a future version.
      instructions: what to use instead. ValueError if it is empty, or the date is malformed.
      warn_once: whether only the first call says it.
    """
    _check(date, instructions)

    def decorate(func_or_class):
        func = func_or_class.__init__ if inspect.isclass(func_or_class) else func_or_class

        @functools.wraps(func)
        def warning(*args, **kwargs):
            _warn(
                (func, None),
                warn_once,
                "From %s: %s (from %s) is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                _place(),
                _name(func_or_class),
                func_or_class.__module__,
                _when(date),
                instructions,
            )
            return func(*args, **kwargs)

        if not inspect.isclass(func_or_class):
            return warning
        func_or_class.__init__ = warning
        return func_or_class

    return decorate


@public("contrib.framework.deprecated_args")
def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, **kwargs):
    """A decorator of functions with arguments that will be removed: a call that gives one logs that.

    Args:
      deprecated_arg_names_or_tuples: names, or (name, the value that may be given without saying so).
      **kwargs: warn_once=True.
    """
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    if set(kwargs) - {"warn_once"}:
        raise ValueError(f"Illegal argument to deprecated_args: {set(kwargs)}")
    allowed = {}
    for item in deprecated_arg_names_or_tuples:
        name, *values = item if isinstance(item, (list, tuple)) else (item,)
        allowed[name] = values

    def is_reported(name, value):
        return name in allowed and not any(value is ok or value == ok for ok in allowed[name])

    return _argument_decorator(date, instructions, allowed, is_reported, "arguments", kwargs.get("warn_once", True))


@public("contrib.framework.deprecated_arg_values")
def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """A decorator of functions with values of arguments that will be removed: a call that gives one logs that."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def is_reported(name, value):
        return name in deprecated_kwargs and value == deprecated_kwargs[name]

    return _argument_decorator(date, instructions, deprecated_kwargs, is_reported, "argument values", warn_once)


def _argument_decorator(date, instructions, names, is_reported, what, warn_once):
    def decorate(func):
        parameters = inspect.signature(func).parameters
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        unknown = [name for name in names if name not in parameters]
        if unknown and not takes_any:
            raise ValueError(
                f"The following deprecated arguments are not present in the function signature: {unknown}."
            )

        @functools.wraps(func)
        def warning(*args, **kwargs):
            given = {**dict(zip(parameters, args, strict=False)), **kwargs}
            found = [name for name, value in given.items() if is_reported(name, value)]
            for name in found:
                _warn(
                    (func, name),
                    warn_once,
                    "From %s: calling %s (from %s) with %s is deprecated and will be removed %s.\n"
                    "Instructions for updating:\n%s",
                    _place(),
                    _name(func),
                    func.__module__,
                    name if what == "arguments" else f"{name}={given[name]}",
                    _when(date),
                    instructions,
                )
            return func(*args, **kwargs)

        return warning

    return decorate


deprecated_argument_lookup = renamed


def rewrite_argument_docstring(old_doc, old_argument, new_argument):
    """A documentation with an argument's new name."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """A function or class under its old name; its use logs the new one."""
    text = "From %s: The name %s is deprecated. Please use %s instead.\n"
    if inspect.isclass(func_or_class):

        class OldName(func_or_class):  # type: ignore[misc,valid-type]
            """The class under its old name."""

            def __init__(self, *args, **kwargs):
                _warn((OldName, None), warn_once, text, _place(), deprecated_name, name)
                super().__init__(*args, **kwargs)

        return OldName

    @functools.wraps(func_or_class)
    def warning(*args, **kwargs):
        _warn((warning, None), warn_once, text, _place(), deprecated_name, name)
        return func_or_class(*args, **kwargs)

    return warning


def deprecated_endpoints(*args):
    """A decorator that notes the old names that a function is exported by; it can be used once."""

    def decorate(func):
        known = func.__dict__.get("_tf_deprecated_api_names")
        if known is not None:
            raise ValueError(
                f"Cannot set deprecated names for {func.__name__} to {args}. "
                f"Deprecated names are already set to {known}."
            )
        func._tf_deprecated_api_names = args
        return func

    return decorate
