"""Decorators that know what they decorate: tensorflow.python.util.tf_decorator and tf_contextlib."""

from __future__ import annotations

import contextlib
import functools
import inspect

from stillflow.names import public

__all__ = ["TFDecorator", "contextmanager", "make_decorator", "rewrap", "unwrap"]


@public("python.util.tf_decorator.TFDecorator")
class TFDecorator:
    """What a decorator put around a function: its name, its target, and the arguments that it says it has."""

    def __init__(self, decorator_name, target, decorator_doc="", decorator_argspec=None):
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec
        self.__name__ = getattr(target, "__name__", decorator_name)
        self.__qualname__ = getattr(target, "__qualname__", self.__name__)
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""

    def __get__(self, instance, owner):
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self):
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target):
        self._decorated_target = target

    @property
    def decorator_name(self):
        return self._decorator_name

    @property
    def decorator_doc(self):
        return self._decorator_doc

    @property
    def decorator_argspec(self):
        return self._decorator_argspec


@public("python.util.tf_decorator.make_decorator")
def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """`decorator_func`, made to look like `target`, which `unwrap` finds.

    Args:
      target: the function that is decorated.
      decorator_func: the function that calls it.
      decorator_name: what the decorator is called; by default the caller's name.
      decorator_doc: the documentation to show; by default that of `target`.
      decorator_argspec: the arguments that the function says it has; by default those of `target`.
    """
    if decorator_name is None:
        decorator_name = inspect.stack()[1][3]
    decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    for name in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, name):
            setattr(decorator_func, name, getattr(target, name))
    for name, value in getattr(target, "__dict__", {}).items():
        if name not in decorator_func.__dict__:
            decorator_func.__dict__[name] = value
    decorator_func.__doc__ = decorator.__doc__
    decorator_func.__wrapped__ = target
    decorator_func.__original_wrapped__ = target
    return decorator_func


@public("python.util.tf_decorator.unwrap")
def unwrap(maybe_tf_decorator):
    """(the TFDecorators around a function, the outermost first; the function within)."""
    decorators: list[TFDecorator] = []
    current = maybe_tf_decorator
    while True:
        decorator = current if isinstance(current, TFDecorator) else getattr(current, "_tf_decorator", None)
        if decorator is None or (decorators and decorator is decorators[-1]):
            return decorators, current
        decorators.append(decorator)
        current = decorator.decorated_target


@public("python.util.tf_decorator.rewrap")
def rewrap(decorator_func, previous_target, new_target):
    """Puts `new_target` where `previous_target` is inside of the decorators around `decorator_func`."""
    decorators, target = unwrap(decorator_func)
    for decorator in decorators:
        if decorator.decorated_target is previous_target:
            decorator.decorated_target = new_target
            return
    raise ValueError(f"{previous_target} is not what {decorator_func} decorates, which is {target}")


@public("python.util.tf_contextlib.contextmanager")
def contextmanager(target):
    """contextlib.contextmanager, whose functions `unwrap` sees through."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")


@public("python.util.keyword_args.keyword_args_only")
def keyword_args_only(func):
    """A decorator: the function raises ValueError if it is called with arguments that have no names."""

    @functools.wraps(func)
    def checked(*args, **kwargs):
        if args:
            raise ValueError(f"Must use keyword args to call {func.__name__}.")
        return func(**kwargs)

    return checked
