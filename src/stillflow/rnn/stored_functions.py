"""Functions among the arguments of wrappers, as plain values that make them again."""

from __future__ import annotations

import base64
import marshal
import sys
import types
import warnings

from stillflow.layers.core import serialization


def to_config(function):
    """(what makes the function again, its kind, its module). Raises ValueError for what is no function."""
    if isinstance(function, types.FunctionType):
        code = base64.b64encode(marshal.dumps(function.__code__)).decode("ascii")
        closure = tuple(cell.cell_contents for cell in function.__closure__ or ()) or None
        return (code, function.__defaults__, closure), "lambda", function.__module__
    if callable(function):
        return function.__name__, "function", function.__module__
    raise ValueError(f"Unrecognized function type for input: {type(function)}")


def from_config(value, kind, module, custom_objects=None):
    """The function that `to_config` was given.

    Code is run that was stored: the configuration has to come from where one trusts. Raises TypeError for an unknown
    kind, ValueError for a name that nobody knows.
    """
    if module is not None and module not in sys.modules:
        warnings.warn(f"{module} is not loaded, but a layer uses it. It may cause errors.", UserWarning, stacklevel=3)
    known = {**vars(sys.modules.get(module, types)), **(custom_objects or {})}
    if kind == "function":
        return serialization.deserialize(value, known, "function in wrapper")
    if kind != "lambda":
        raise TypeError("Unknown function type:", kind)
    code, defaults, closure = value
    cells = tuple(types.CellType(each) for each in closure) if closure else None
    return types.FunctionType(
        marshal.loads(base64.b64decode(code)), known, argdefs=tuple(defaults) if defaults else None, closure=cells
    )
