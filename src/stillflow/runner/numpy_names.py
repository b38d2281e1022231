"""The names that numpy has dropped and that old programs use: `np.int`, `np.NaN`, `np.product`, ..."""

from __future__ import annotations

import ast
import math

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


class _Casts(dict):
    """np.cast: {type: a function that makes arrays of it}, by types and by what they are called."""

    def __missing__(self, dtype):
        return lambda x: np.asarray(x).astype(dtype)


def _as_records(names, **options):
    def read(fname, **kwargs):
        return np.genfromtxt(fname, **{**options, "dtype": None, "names": names, **kwargs}).view(np.recarray)

    return read


def _obj2sctype(rep, default=None):
    try:
        return np.dtype(rep.dtype if isinstance(rep, np.ndarray) else rep).type
    except TypeError:
        return default


_OTHERS = {
    "alen": lambda a: len(np.array(a, ndmin=1)),
    "asfarray": _asfarray,
    "asscalar": lambda a: a.item(),
    "msort": lambda a: np.sort(a, axis=0),
    "NINF": -np.inf,
    "PZERO": 0.0,
    "NZERO": -0.0,
    "math": math,
    "cast": _Casts(),
    "issctype": lambda rep: isinstance(rep, (type, np.dtype)) and _obj2sctype(rep, np.object_) is not np.object_,
    "issubclass_": lambda arg1, arg2: isinstance(arg1, type) and issubclass(arg1, arg2),
    "issubsctype": lambda arg1, arg2: issubclass(_obj2sctype(arg1), _obj2sctype(arg2)),
    "obj2sctype": _obj2sctype,
    "recfromcsv": _as_records(True, delimiter=",", case_sensitive="lower", encoding="bytes"),
    "recfromtxt": _as_records(None, encoding="bytes"),
    "safe_eval": ast.literal_eval,
    "sctypes": {
        "int": [np.int8, np.int16, np.int32, np.int64], "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble],
        "others": [bool, object, bytes, str, np.void],
    },
}  # fmt: skip


def install(notice):
    """Makes numpy answer to the names that it has dropped; `notice` is called with each that is used."""
    ask_numpy = np.__getattr__

    def find(name):
        value = _value(name)
        if value is None:
            return ask_numpy(name)
        notice(name)
        setattr(np, name, value)
        return value

    np.__getattr__ = find  # type: ignore[method-assign, assignment]


def _value(name):
    if name in _TYPES:
        return _TYPES[name]
    if name in _RENAMED:
        return getattr(np, _RENAMED[name], None)
    if name in _EXCEPTIONS:
        return getattr(np.exceptions, name, None)
    return _OTHERS.get(name)
