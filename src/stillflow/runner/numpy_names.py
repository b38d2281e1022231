"""The names that numpy has dropped and that old programs use: `np.int`, `np.NaN`, `np.product`, ..."""

from __future__ import annotations

import functools
import inspect
import math
import sys

import numpy as np

_TYPES = {"int": int, "float": float, "bool": bool, "object": object, "str": str, "complex": complex, "unicode": str,
          "long": int}  # fmt: skip
_RENAMED = {
    "Inf": "inf", "Infinity": "inf", "infty": "inf", "PINF": "inf", "NaN": "nan", "NAN": "nan", "float_": "float64",
    "complex_": "complex128", "string_": "bytes_", "unicode_": "str_", "singlecomplex": "complex64",
    "longfloat": "longdouble", "cfloat": "complex128", "clongfloat": "clongdouble", "product": "prod",
    "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any", "round_": "round", "row_stack": "vstack",
    "mat": "asmatrix", "in1d": "isin", "trapz": "trapezoid", "find_common_type": "result_type",
    "bool8": "bool_", "int0": "intp", "uint0": "uintp", "str0": "str_", "bytes0": "bytes_", "object0": "object_",
    "typeDict": "sctypeDict", "longcomplex": "clongdouble",
}  # fmt: skip
_EXCEPTIONS = {
    "AxisError", "ComplexWarning", "ModuleDeprecationWarning", "RankWarning", "TooHardError",
    "VisibleDeprecationWarning",
}  # fmt: skip


def _asfarray(a, dtype=np.float64):
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


class _Casts:
    """np.cast, whose items convert to a type: np.cast["float32"](x)."""

    def __getitem__(self, dtype):
        return lambda x: np.asarray(x).astype(dtype)


_OTHERS = {
    "alen": lambda a: len(np.array(a, ndmin=1)),
    "asfarray": _asfarray,
    "asscalar": lambda a: a.item(),
    "cast": _Casts(),
    "msort": lambda a: np.sort(a, axis=0),
    "NINF": -np.inf,
    "PZERO": 0.0,
    "NZERO": -0.0,
    "math": math,
}


def install(notice=None):
    """Makes numpy answer to the names that it has dropped. `notice` is called with the first one that is used."""
    ask_numpy = np.__getattr__
    noticed = False

    def find(name):
        nonlocal noticed
        value = _value(name)
        if value is None:
            return ask_numpy(name)
        if notice is not None and not noticed:
            noticed = True
            notice(name)
        setattr(np, name, value)
        return value

    np.__getattr__ = find  # type: ignore[method-assign, assignment]
    for name in ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "meshgrid"):
        setattr(np, name, _returning_lists(getattr(np, name)))
    if "newshape" not in inspect.signature(np.reshape).parameters:
        np.reshape = _with_newshape(np.reshape)
    for name in ("array", "asarray", "asanyarray"):
        setattr(np, name, _with_rows_of_any_length(getattr(np, name)))
    for name in ("ndim", "shape"):
        setattr(np, name, _of_rows_of_any_length(getattr(np, name)))


def _returning_lists(function):
    """A function of numpy that has returned lists of arrays where it returns tuples now."""

    @functools.wraps(function)
    def returning_lists(*args, **kwargs):
        found = function(*args, **kwargs)
        return list(found) if isinstance(found, tuple) else found

    return returning_lists


def _with_newshape(reshape):
    """np.reshape, which was given its `shape` by another name once."""

    @functools.wraps(reshape)
    def with_newshape(*args, **kwargs):
        if "newshape" in kwargs:
            kwargs["shape"] = kwargs.pop("newshape")
        return reshape(*args, **kwargs)

    return with_newshape


def _with_rows_of_any_length(function):
    """np.array, which made arrays of lists where rows are not equally long. For stillflow itself that is an error."""

    @functools.wraps(function)
    def with_rows_of_any_length(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            has_dtype = len(args) > 1 or kwargs.get("dtype") is not None
            if has_dtype or not _is_of_rows(error, sys._getframe(1)):
                raise
            return function(*args, **{**kwargs, "dtype": object})

    return with_rows_of_any_length


def _of_rows_of_any_length(function):
    """np.ndim or np.shape of what np.array made arrays of lists of."""

    @functools.wraps(function)
    def of_rows_of_any_length(a):
        try:
            return function(a)
        except ValueError as error:
            if not _is_of_rows(error, sys._getframe(1)):
                raise
            return function(np.asarray(a, dtype=object))

    return of_rows_of_any_length


def _is_of_rows(error, caller):
    """Whether the error is that rows are not equally long, and stillflow did not ask."""
    package = caller.f_globals.get("__name__", "").partition(".")[0]
    return "inhomogeneous" in str(error) and package != "stillflow"


def _value(name):
    if name in _TYPES:
        return _TYPES[name]
    if name in _RENAMED:
        return getattr(np, _RENAMED[name], None)
    if name in _EXCEPTIONS:
        return getattr(np.exceptions, name, None)
    return _OTHERS.get(name)


def tell(name):
    """The notice that the runner gives."""
    sys.stderr.write(f"stillflow: np.{name} is no longer part of numpy; for this program it is still there.\n")
