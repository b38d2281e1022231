"""tf.autograph.to_graph and to_code: functions, methods and classes, converted."""

from __future__ import annotations

import ast
import inspect

from stillflow.autograph.calls import OPERATORS
from stillflow.autograph.conversion import converted_function
from stillflow.autograph.settings import ConversionOptions
from stillflow.names import public
from stillflow.platform import decorators


@public("python.autograph.impl.api.AutoGraphError", "contrib.autograph.AutoGraphError")
class AutoGraphError(Exception):
    """The class of errors of conversion."""


@public("python.autograph.impl.api.ConversionError")
class ConversionError(AutoGraphError):
    """Something cannot be converted."""


@public("python.autograph.impl.api.StagingError")
class StagingError(AutoGraphError):
    """A converted function has failed."""


@public("autograph.to_graph", "contrib.autograph.to_graph")
def to_graph(entity, recursive=True, arg_values=None, arg_types=None, experimental_optional_features=None):
    """A function whose control flow on tensors adds tf.cond and tf.while_loop to the graph.

        def absolute(x):
            if x > 0:
                return x
            return -x

        tf.autograph.to_graph(absolute)(tf.constant(-1))

    Args:
      entity: a function; a method, of which a function with the argument `self` is made; or a class, of which a
        subclass with converted methods is made.
      recursive: whether functions that it calls are converted, too.
      arg_values, arg_types: ignored.
      experimental_optional_features: a tf.autograph.experimental.Feature, or several.

    Raises ConversionError if it cannot be converted.
    """
    options = ConversionOptions(recursive, True, True, experimental_optional_features)
    try:
        return _converted_class(entity, options) if inspect.isclass(entity) else _converted(entity, options)
    except (ValueError, AttributeError, KeyError, NameError, NotImplementedError, AssertionError) as error:
        raise ConversionError(f"converting {entity}: {type(error).__name__}: {error}") from error


def _converted(entity, options):
    _, function = decorators.unwrap(entity)
    if inspect.ismethod(function):
        function = function.__func__
    elif not inspect.isfunction(function):
        if not callable(function):
            raise ValueError(f"Entity {entity} (of type {type(entity)}) is not supported.")
        function = type(function).__call__
    if not inspect.isfunction(function):
        raise ValueError(f"Entity {entity} (of type {type(entity)}) is not supported.")
    return converted_function(function, options, OPERATORS)


def _converted_class(cls, options):
    methods = {
        name: converted_function(value, options, OPERATORS)
        for name, value in cls.__dict__.items()
        if inspect.isfunction(value)
    }
    if not methods:
        raise ValueError(f"Cannot convert {cls}: no member methods were defined.")
    return type(cls)(cls.__name__, (cls,), {"__module__": cls.__module__, "__doc__": cls.__doc__, **methods})


@public("autograph.to_code", "contrib.autograph.to_code")
def to_code(
    entity, recursive=True, arg_values=None, arg_types=None, indentation="  ", experimental_optional_features=None
):  # fmt: skip
    """The source of what `to_graph` makes. `indentation` is ignored, as in TensorFlow."""
    made = to_graph(entity, recursive, arg_values, arg_types, experimental_optional_features)
    if inspect.isclass(made):
        return "\n\n".join(
            ast.unparse(value._ag_tree) for value in made.__dict__.values() if hasattr(value, "_ag_tree")
        )
    return ast.unparse(made._ag_tree) + "\n"
