"""The inspect module, seeing through decorators: tensorflow.python.util.tf_inspect."""

from __future__ import annotations

import collections
import functools
import inspect

from stillflow.names import public_module
from stillflow.platform.decorators import unwrap

public_module("python.util.tf_inspect")

ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
FullArgSpec = inspect.FullArgSpec

Parameter, Signature = inspect.Parameter, inspect.Signature
currentframe, getmembers, getmodule, getmro = (
    inspect.currentframe,
    inspect.getmembers,
    inspect.getmodule,
    inspect.getmro,
)
isbuiltin, isframe, stack = inspect.isbuiltin, inspect.isframe, inspect.stack


def _spec_of_decorators(item):
    decorators, _ = unwrap(item)
    return next((d.decorator_argspec for d in decorators if d.decorator_argspec is not None), None)


def _unwrapped(obj):
    """What is decorated; where it is a function of ours, below its own wrappers, too."""
    target = unwrap(obj)[1]
    return inspect.unwrap(target) if str(getattr(target, "__module__", "")).startswith("stillflow.") else target


def getfullargspec(obj):
    """inspect.getfullargspec of what is decorated, or what a decorator says in its place."""
    spec = _spec_of_decorators(obj)
    if isinstance(spec, inspect.FullArgSpec):
        return spec
    if spec is not None:
        return FullArgSpec(spec.args, spec.varargs, spec.keywords, spec.defaults, [], None, {})
    target = _unwrapped(obj)
    if isinstance(target, functools.partial) or inspect.isclass(target) or not hasattr(target, "__code__"):
        target = getattr(type(target), "__call__", target) if _is_callable_object(target) else target  # noqa: B004
    return inspect.getfullargspec(target)


def _is_callable_object(target):
    kinds = (inspect.isclass, inspect.isroutine)
    return not isinstance(target, functools.partial) and not any(kind(target) for kind in kinds)


def getargspec(obj):
    """An ArgSpec (args, varargs, keywords, defaults) of what is decorated, or what a decorator says in its place."""
    spec = getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec[2], spec.defaults)


def signature(obj, **kwargs):
    """inspect.signature of what is decorated."""
    return inspect.signature(_unwrapped(obj), **kwargs)


def getcallargs(*func_and_positional, **named):
    """{argument: value} that a call of the first argument with the others would have."""
    function, *positional = func_and_positional
    return inspect.getcallargs(unwrap(function)[1], *positional, **named)


def getdoc(object):
    """inspect.getdoc."""
    return inspect.getdoc(object)


def getfile(object):
    """inspect.getfile of what is decorated."""
    return inspect.getfile(unwrap(object)[1])


def getsource(object):
    """inspect.getsource of what is decorated."""
    return inspect.getsource(unwrap(object)[1])


def getsourcefile(object):
    """inspect.getsourcefile of what is decorated."""
    return inspect.getsourcefile(unwrap(object)[1])


def getsourcelines(object):
    """inspect.getsourcelines of what is decorated."""
    return inspect.getsourcelines(unwrap(object)[1])


def isgeneratorfunction(object):
    """inspect.isgeneratorfunction of what is decorated."""
    return inspect.isgeneratorfunction(unwrap(object)[1])


def isclass(object):
    """inspect.isclass of what is decorated."""
    return inspect.isclass(unwrap(object)[1])


def isfunction(object):
    """inspect.isfunction of what is decorated."""
    return inspect.isfunction(unwrap(object)[1])


def isgenerator(object):
    """inspect.isgenerator of what is decorated."""
    return inspect.isgenerator(unwrap(object)[1])


def ismethod(object):
    """inspect.ismethod of what is decorated."""
    return inspect.ismethod(unwrap(object)[1])


def ismodule(object):
    """inspect.ismodule of what is decorated."""
    return inspect.ismodule(unwrap(object)[1])


def isroutine(object):
    """inspect.isroutine of what is decorated."""
    return inspect.isroutine(unwrap(object)[1])
