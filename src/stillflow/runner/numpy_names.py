"""The names that numpy has dropped and that old programs use: `np.int`, `np.NaN`, `np.product`, ..."""

from __future__ import annotations

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
}  # fmt: skip
_FUNCTIONS = {
    "asscalar": lambda a: a.item(),
    "msort": lambda a: np.sort(a, axis=0),
    "NINF": -np.inf,
    "PZERO": 0.0,
    "NZERO": -0.0,
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


def _value(name):
    if name in _TYPES:
        return _TYPES[name]
    if name in _RENAMED:
        return getattr(np, _RENAMED[name], None)
    return _FUNCTIONS.get(name)


def tell(name):
    """The notice that the runner gives."""
    sys.stderr.write(f"stillflow: np.{name} is no longer part of numpy; for this program it is still there.\n")
