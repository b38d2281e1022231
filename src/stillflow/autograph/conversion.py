"""converted_function: a function made of the converted syntax tree of another, once for each function and options."""

from __future__ import annotations

import ast
import threading
import types
import weakref

from stillflow.autograph.settings import ConversionOptions
from stillflow.autograph.sources import tree_of
from stillflow.autograph.transform.functions import convert_function

_lock = threading.RLock()
_codes: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # code -> {(options, free names): _Converted}


class _Converted:
    """The code of a converted function, and its syntax tree."""

    def __init__(self, code, tree):
        self.code = code
        self.tree = tree


def converted_function(function, options, operators):
    """The converted form of a Python function, with its globals, its defaults, and the variables around it.

    `operators` is what it knows as `ag__`.

    Raises:
      ValueError: if its source is not to be had.
      NotImplementedError: for what cannot be converted.
    """
    converted = _converted_code(function, options)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells["ag__"] = types.CellType(operators)
    code = converted.code
    made = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__,
        tuple(cells[name] for name in code.co_freevars),
    )  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    made.__dict__.update(function.__dict__)
    made.__dict__["__ag_compiled"] = True
    made.__dict__["_ag_tree"] = converted.tree
    return made


def _converted_code(function, options: ConversionOptions):
    code = function.__code__
    with _lock:
        known = _codes.setdefault(code, {})
        key = options
        if key not in known:
            known[key] = _convert(function, options)
        return known[key]


def _convert(function, options):
    code = function.__code__
    if "ag__" in code.co_freevars:
        raise ValueError(f'entity {function} uses the reserved symbol "ag__"')
    tree = tree_of(function)
    if isinstance(tree, ast.Lambda):
        returned = ast.copy_location(ast.Return(tree.body), tree.body)
        made = ast.parse("def lambda_(): pass").body[0]
        made.args, made.body = tree.args, [returned]  # type: ignore[attr-defined]
        tree = ast.copy_location(made, tree)
    options_tree = ast.parse(options.text(), mode="eval").body
    converted = convert_function(tree, options, options_tree, _class_of(function))
    return _Converted(_compiled(converted, code), converted)


def _class_of(function):
    """The name of the class that a method's private names belong to, or None."""
    parts = function.__qualname__.split(".")
    return parts[-2] if len(parts) > 1 and parts[-2] != "<locals>" else None


def _compiled(tree, original):
    """The code of a function in whose surroundings the variables around the original are known."""
    names = ["ag__", *original.co_freevars]
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(name) for name in names], vararg=None, kwonlyargs=[], kw_defaults=[],
        kwarg=None, defaults=[],
    )  # fmt: skip
    factory = ast.parse("def factory(): pass").body[0]
    # A function that uses its own name finds it where the original does, not in the factory.
    own_name = [] if tree.name in names else [ast.copy_location(ast.Global([tree.name]), tree)]
    factory.args, factory.body = arguments, [*own_name, tree]  # type: ignore[attr-defined]
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(factory, tree)], []))
    code = compile(module, original.co_filename, "exec", dont_inherit=True, flags=original.co_flags & _FUTURES)
    return _inner(_inner(code, "factory"), tree.name)


_FUTURES = 0x1000000  # from __future__ import annotations


def _inner(code, name):
    return next(each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name)
