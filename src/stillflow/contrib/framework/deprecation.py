"""Decorators that warn of what is deprecated: tf.contrib.framework.deprecated and its kin."""

from __future__ import annotations

import functools
import inspect
import re

from stillflow.names import public
from stillflow.training_loop.messages import log

_DATE = re.compile(r"20\d\d-[01]\d-[0123]\d")
_warned: set = set()


def _check(date, instructions):
    if date is not None and not _DATE.fullmatch(date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _when(date):
    return "in a future version" if date is None else f"after {date}"


def _warn_once(key, message, *arguments):
    if key not in _warned:
        _warned.add(key)
        log().warning(message, *arguments)


def _name_of(function):
    return f"{function.__name__} (from {function.__module__})"


@public("contrib.framework.deprecated")
def deprecated(date, instructions, warn_once=True):
    """Decorates a function that warns when it is called.

    Args:
      date: when it goes away, as "2017-01-31"; None for some time.
      instructions: what to do instead.
      warn_once: whether to warn the first time only.

    Raises:
      ValueError: for another date, or no instructions.
    """
    _check(date, instructions)

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            key = object() if not warn_once else wrapped
            _warn_once(
                key, "%s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                _name_of(function), _when(date), instructions,
            )  # fmt: skip
            return function(*args, **kwargs)

        return wrapped

    return decorate


@public("contrib.framework.deprecated_args")
def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, warn_once=True):
    """Decorates a function that warns when it is given some arguments.

    Args:
      date, instructions, warn_once: as deprecated has them.
      deprecated_arg_names_or_tuples: names of arguments, or (name, a value that is no reason to warn).

    Raises:
      ValueError: for another date, no instructions, no arguments, or such that the function does not have.
    """
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    harmless = {
        each[0] if isinstance(each, tuple) else each: each[1:] if isinstance(each, tuple) else ()
        for each in deprecated_arg_names_or_tuples
    }

    def is_deprecated(name, value):
        return name in harmless and value not in harmless[name]

    return _decorator_for(harmless, is_deprecated, date, instructions, warn_once, "{name} are")


@public("contrib.framework.deprecated_arg_values")
def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Decorates a function that warns when arguments have some values; see deprecated_args.

    Raises:
      ValueError: for another date, no instructions or no values.
    """
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def is_deprecated(name, value):
        return name in deprecated_kwargs and deprecated_kwargs[name] == value

    return _decorator_for(deprecated_kwargs, is_deprecated, date, instructions, warn_once, "{name}={value} is")


def _decorator_for(names, is_deprecated, date, instructions, warn_once, what):
    def decorate(function):
        signature = inspect.signature(function)
        missing = [name for name in names if name not in signature.parameters and not _takes_any(signature)]
        if missing:
            raise ValueError(
                f"The following deprecated arguments are not present in the function signature: {missing}. Found "
                f"arguments: {list(signature.parameters)}"
            )

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            for name, value in _given(signature, args, kwargs).items():
                if is_deprecated(name, value):
                    key = (wrapped, name) if warn_once else object()
                    _warn_once(
                        key, "Calling %s with %s deprecated and will be removed %s.\nInstructions for updating:\n%s",
                        _name_of(function), what.format(name=name, value=value), _when(date), instructions,
                    )  # fmt: skip
            return function(*args, **kwargs)

        return wrapped

    return decorate


def _takes_any(signature):
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in signature.parameters.values())


def _given(signature, args, kwargs):
    """{name: value} of the arguments of a call, as far as it is one that the function takes."""
    try:
        return {**signature.bind_partial(*args, **kwargs).arguments, **kwargs}
    except TypeError:
        return {}
