"""converted_call: calls in converted functions, which convert what they call; and the decorators that ask for it."""

from __future__ import annotations

import collections
import copy
import functools
import inspect
import pdb
import re
import types
import unittest
import weakref

from stillflow.autograph import conversion, verbosity
from stillflow.autograph.operators import branches, logic, loops, values
from stillflow.autograph.operators.builtins import overload_of
from stillflow.autograph.scope import FunctionScope, assert_stmt
from stillflow.autograph.settings import STANDARD_OPTIONS, ConversionOptions, Feature
from stillflow.names import public
from stillflow.platform import decorators
from stillflow.platform.conversion_status import ControlStatusCtx, Status, control_status_ctx
from stillflow.tracking.base import TracedFunction

# Modules whose functions are called as they are.
_UNCONVERTED = frozenset(
    "collections copy cProfile inspect ipdb linecache mock pathlib pdb posixpath pstats re threading numpy stillflow "
    "tensorflow tensorflow_core tensorflow_probability unittest functools itertools contextlib abc typing "
    "absl".split()
)
_LIBRARIES = (collections, pdb, copy, inspect, re)

_known_unconverted: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def mark_converted(function):
    """Says that a function is converted, or need not be."""
    function.__ag_compiled = True
    return function


def is_marked(function):
    """Whether a function is converted, or need not be."""
    return getattr(function, "__ag_compiled", False) or hasattr(function, "autograph_info__")


@public("python.autograph.impl.api.converted_call", "contrib.autograph.converted_call")
def converted_call(f, args, kwargs, caller_fn_scope=None, options=None):
    """What f(*args, **kwargs) returns, of the converted `f` where it can be and should be.

    Args:
      f: what is called.
      args, kwargs: the arguments; `kwargs` may be None.
      caller_fn_scope: the FunctionScope of the function that calls it, which has the options.
      options: a ConversionOptions in their place.
    """
    kwargs = kwargs or {}
    options = caller_fn_scope.call_options if options is None else options
    verbosity.log(1, "Converted call: %s\n    args: %s\n    kwargs: %s\n", f, args, kwargs)
    if isinstance(f, types.BuiltinFunctionType) or f in (float, int, range, enumerate, zip):
        if f is eval:
            args = _with_namespaces(args, caller_fn_scope)
        return overload_of(f)(*args, **kwargs)
    if _is_called_as_it_is(f, options):
        return _call(f, args, kwargs)
    while isinstance(f, functools.partial):
        args, kwargs, f = (*f.args, *args), {**f.keywords, **kwargs}, f.func
    function = f
    if inspect.ismethod(f):
        args, function = (f.__self__, *args), f.__func__
    elif not inspect.isfunction(f):
        args, function = (f, *args), _call_of(f)
    _, function = decorators.unwrap(function) if not hasattr(function, "__code__") else ([], function)
    if not hasattr(function, "__code__") or function.__code__.co_filename == "<string>" or is_marked(function):
        return f(*args, **kwargs) if function is f else function(*args, **kwargs)
    try:
        converted = conversion.converted_function(function, options, OPERATORS)
    except Exception as error:
        verbosity.log(1, "Error transforming entity %s", function, exc_info=True)
        verbosity.warn(
            "Entity %s could not be transformed and will be executed as-is. Please report this to the "
            "AutoGraph team. "
            "When filing the bug, set the verbosity to 10 (on Linux, `export AUTOGRAPH_VERBOSITY=10`) and attach the "
            "full output. Cause: %s", function, error,
        )  # fmt: skip
        mark_converted(function)
        return function(*args, **kwargs)
    return converted(*args, **kwargs)


def _with_namespaces(args, scope):
    """The arguments of `eval`, with the names of the block that calls it; its locals, as TensorFlow does, even where
    only globals are given."""
    frame = inspect.currentframe()
    while frame is not None and (
        frame.f_code in _CALLS or not any(value is scope for value in frame.f_locals.values())
    ):
        frame = frame.f_back
    return args if frame is None else (*args, *(frame.f_globals, frame.f_locals)[len(args) - 1 :])


def _call(f, args, kwargs):
    return f(*args, **kwargs)


_CALLS = (converted_call.__code__, _with_namespaces.__code__)


def _is_called_as_it_is(f, options):
    if is_marked(f) or inspect.isclass(f) or isinstance(f, functools._lru_cache_wrapper):
        return True
    if not options.internal_convert_user_code:
        return True
    if inspect.isgeneratorfunction(f) or inspect.iscoroutinefunction(f):
        verbosity.warn("Entity %s appears to be a generator function. It will not be converted by AutoGraph.", f)
        return True
    if type(f).__module__.split(".")[0] == "wrapt":
        verbosity.warn(
            "Entity %s appears to be decorated by wrapt, which is not yet supported by AutoGraph. The "
            "function will be "
            "called without transformation. You may however apply AutoGraph before the decorator.", f,
        )  # fmt: skip
        return True
    return not options.user_requested and is_whitelisted(f)


def is_whitelisted(f):
    """Whether something belongs to a library whose functions are called as they are."""
    if isinstance(f, functools.partial):
        return is_whitelisted(f.func)
    if _module_of(f) in _UNCONVERTED:
        return True
    if inspect.ismethod(f):
        owner = f.__self__ if inspect.isclass(f.__self__) else type(f.__self__)
        if issubclass(owner, unittest.TestCase):
            return True
        defining = next((base for base in owner.__mro__ if f.__name__ in base.__dict__), owner)
        return _module_of(defining) in _UNCONVERTED
    if inspect.isfunction(f) or inspect.isclass(f):
        return False
    if isinstance(f, tuple):
        return True
    call = _call_of(f)
    return isinstance(call, TracedFunction) or _module_of(call) in _UNCONVERTED


def _call_of(f):
    """The function that calling an object calls, or None."""
    return inspect.getattr_static(type(f), "__call__", None)


def _module_of(f):
    return (getattr(f, "__module__", None) or "").split(".")[0]


# ---- Decorators -----------------------------------------------------------------------------------------------


@public("python.autograph.impl.api.convert", "contrib.autograph.convert")
def convert(recursive=False, optional_features=None, user_requested=True):
    """A decorator: the function is converted when it is called.

    Args:
      recursive: whether the functions that it calls are converted, too.
      optional_features: a tf.autograph.experimental.Feature, or several.
      user_requested: whether to convert it whatever module it is from.
    """
    options = ConversionOptions(recursive, user_requested, True, optional_features)

    def decorator(f):
        def wrapper(*args, **kwargs):
            return converted_call(f, args, kwargs, options=options)

        if inspect.isfunction(f) or inspect.ismethod(f):
            wrapper = functools.update_wrapper(wrapper, f)
        return mark_converted(decorators.make_decorator(f, wrapper, "convert"))

    return decorator


@public(
    "autograph.experimental.do_not_convert",
    "contrib.autograph.do_not_convert",
    "python.autograph.impl.api.do_not_convert",
)
def do_not_convert(func=None):
    """A decorator: the function is called as it is, and so is what it calls."""
    if func is None:
        return do_not_convert

    def wrapper(*args, **kwargs):
        with ControlStatusCtx(Status.DISABLED):
            return func(*args, **kwargs)

    if inspect.isfunction(func) or inspect.ismethod(func):
        wrapper = functools.update_wrapper(wrapper, func)
    return mark_converted(wrapper)


@public("python.autograph.impl.api.tf_convert")
def tf_convert(f, ctx, convert_by_default=True, user_requested=False):
    """A function that a library was given, converted as the program wants it.

    Args:
      f: the function.
      ctx: the ControlStatusCtx where the library was called.
      convert_by_default: whether to convert if the program has not said so.
      user_requested: see `convert`.
    """
    if is_marked(f):
        return f
    found, inner = decorators.unwrap(f)
    if ctx.status is Status.ENABLED or (ctx.status is Status.UNSPECIFIED and convert_by_default):
        wrapper = convert(recursive=True, user_requested=user_requested)(inner)
    elif ctx.status is Status.DISABLED:
        wrapper = do_not_convert(inner)
    else:
        wrapper = inner
    if found:
        wrapper = decorators.rewrap(f, inner, wrapper) or f
    return wrapper


def convert_argument(f):
    """A function that a library was given, converted unless the program has said otherwise."""
    return tf_convert(f, control_status_ctx())


def convert_for_tracing(python_function, features):
    """The Python function of a tf.function, which is converted with what it calls."""
    _, inner = decorators.unwrap(python_function)
    options = ConversionOptions(True, True, True, features)

    def call(*args, **kwargs):
        return converted_call(inner, args, kwargs, options=options)

    if inner is python_function:
        return call

    def in_decorators(*args, **kwargs):
        innermost = decorators.unwrap(python_function)[0][-1]
        original = innermost.decorated_target
        innermost.decorated_target = call
        try:
            return python_function(*args, **kwargs)
        finally:
            innermost.decorated_target = original

    return in_decorators


# What converted functions know as `ag__`.
OPERATORS = types.SimpleNamespace(
    ConversionOptions=ConversionOptions, Feature=Feature, FunctionScope=FunctionScope, STD=STANDARD_OPTIONS,
    UndefinedReturnValue=values.UndefinedReturnValue, and_=logic.and_, assert_stmt=assert_stmt,
    converted=mark_converted, converted_call=converted_call, eq=logic.eq, for_stmt=loops.for_stmt,
    if_exp=branches.if_exp, if_stmt=branches.if_stmt, ldu=values.ldu, loop_test=logic.loop_test, not_=logic.not_,
    not_eq=logic.not_eq, or_=logic.or_, retval=values.retval, set_attribute=values.set_attribute,
    while_stmt=loops.while_stmt,
)  # fmt: skip
