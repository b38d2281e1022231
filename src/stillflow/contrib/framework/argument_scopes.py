"""arg_scope: arguments that functions get, in a context, where they are not passed."""

from __future__ import annotations

import contextlib
import functools
import inspect

from stillflow.names import public

# {key of a function: the names of its arguments that have defaults}.
_decorated: dict[str, tuple[str, ...]] = {}
# The open scopes, innermost last, each {key of a function: {argument: value}}; they contain those outside of them.
_scopes: list[dict] = [{}]


@public("contrib.slim.arg_scope_func_key")
def arg_scope_func_key(op):
    """The key that scopes have for a function."""
    return getattr(op, "_key_op", str(op))


@public("contrib.framework.current_arg_scope")
def current_arg_scope():
    """The innermost scope: {key of a function: {argument: value}}."""
    return _scopes[-1]


@public("contrib.framework.arg_scope")
@contextlib.contextmanager
def arg_scope(list_ops_or_scope, **kwargs):
    """A context in which functions get arguments, unless they are passed. It yields the scope, to be entered again.

        with arg_scope([layers.conv2d], padding="SAME", weights_regularizer=layers.l2_regularizer(0.05)):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID")
            net = layers.conv2d(net, 256, [5, 5])

    Args:
      list_ops_or_scope: a list of functions that are decorated with `add_arg_scope`; or a scope.
      kwargs: the arguments. There are none for a scope.

    Raises:
      TypeError: for what is neither list nor scope.
      ValueError: for a function that is not decorated, or arguments besides a scope.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling adictionary, kwargs must be empty.")
        scope = list_ops_or_scope.copy()
    elif isinstance(list_ops_or_scope, (list, tuple)):
        scope = current_arg_scope().copy()
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                raise ValueError(f"{(op.__module__, op.__name__)} is not decorated with @add_arg_scope")
            key = arg_scope_func_key(op)
            scope[key] = {**scope.get(key, {}), **kwargs}
    else:
        raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
    _scopes.append(scope)
    try:
        yield scope
    finally:
        _scopes.pop()


@public("contrib.framework.add_arg_scope")
def add_arg_scope(func):
    """Decorates a function: `arg_scope` gives it arguments."""
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def in_scope(*args, **kwargs):
        given = current_arg_scope().get(key)
        return func(*args, **{**given, **kwargs}) if given else func(*args, **kwargs)

    in_scope._key_op = key  # type: ignore[attr-defined]
    parameters = inspect.signature(func).parameters.values()
    _decorated[key] = tuple(
        each.name for each in parameters if each.default is not each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    )
    return in_scope


@public("contrib.framework.has_arg_scope")
def has_arg_scope(func):
    """Whether a function is decorated with `add_arg_scope`."""
    return arg_scope_func_key(func) in _decorated


@public("contrib.framework.arg_scoped_arguments")
def arg_scoped_arguments(func):
    """The names of a decorated function's arguments that have defaults. Raises AssertionError for another one."""
    if not has_arg_scope(func):
        raise AssertionError
    return _decorated[arg_scope_func_key(func)]
