"""Functions and methods of numpy that old programs call otherwise than numpy 2 has them: `np.array(x, copy=False)`,
`np.fromstring` of bytes, `array.tostring()`, `np.issubdtype(t, float)`, `np.sum` of a generator, `float` of an array
of one element, ..."""

from __future__ import annotations

import collections.abc
import functools
import inspect
import sys
import types

import numpy as np

from stillflow import _engine
from stillflow.runner.notices import Once

_NUMBER_OF_ONE = (
    "numpy no longer takes an array of one element for a number unless its rank is 0; for this program it still does."
)


def install():
    """Makes numpy's functions, and the methods of its arrays, answer as they did."""
    for name in ("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "meshgrid"):
        setattr(np, name, _returning_lists(getattr(np, name)))
    if "newshape" not in inspect.signature(np.reshape).parameters:
        np.reshape = _with_newshape(np.reshape)
    for name in ("array", "asarray", "asanyarray"):
        setattr(np, name, _of_any_values(getattr(np, name)))
    for name in ("arange", "empty", "full", "ones", "zeros"):
        setattr(np, name, _of_abstract_dtypes(getattr(np, name)))
    for name in ("ndim", "shape"):
        setattr(np, name, _of_rows_of_any_length(getattr(np, name)))
    for name in ("column_stack", "dstack", "hstack", "stack", "vstack"):
        setattr(np, name, _of_iterators(getattr(np, name)))
    for name in ("histogram", "histogram2d", "histogramdd"):
        setattr(np, name, _with_normed(getattr(np, name)))
    np.issubdtype = _of_kinds(np.issubdtype)
    np.sum = _of_generators(np.sum)
    np.fromstring = _of_bytes(np.fromstring)  # type: ignore[assignment]
    for name, method in _METHODS.items():
        for cls in (np.ndarray, np.generic):
            _engine.add_method(cls, name, method)
    if (np.ones(1, np.float32) * np.float64(1)).dtype != np.float32:
        _engine.let_arrays_decide()
    if not _takes_arrays_of_one():
        _engine.take_arrays_of_one_for_numbers(Once(_NUMBER_OF_ONE))


# ---- Functions ----------------------------------------------------------------------------------------------------


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


_OF_ABSTRACT: dict[object, type] = {
    np.integer: np.int64, np.signedinteger: np.int64, np.unsignedinteger: np.uint64, np.number: np.float64,
    np.inexact: np.float64, np.floating: np.float64, np.complexfloating: np.complex128,
}  # fmt: skip


def _again_without_abstract_dtypes(error, function, args, kwargs):
    """What `function` returns where it took abstract classes for dtypes: `np.empty(3, dtype=np.integer)`."""
    if not str(error).startswith("Converting "):
        raise error
    args = [_OF_ABSTRACT.get(arg, arg) if isinstance(arg, type) else arg for arg in args]
    if "dtype" in kwargs:
        kwargs["dtype"] = _OF_ABSTRACT.get(kwargs["dtype"], kwargs["dtype"])
    return function(*args, **kwargs)


def _of_abstract_dtypes(function):
    @functools.wraps(function)
    def of_abstract_dtypes(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            return _again_without_abstract_dtypes(error, function, args, kwargs)

    return of_abstract_dtypes


def _of_any_values(function):
    """np.array as it was: `copy=False` copied where it had to, rows that are not equally long became an array of
    lists, and integers lost the bits that a type does not have. For stillflow itself the last two are errors."""

    @functools.wraps(function)
    def of_any_values(*args, **kwargs):
        if kwargs.get("copy", True) is False:
            kwargs["copy"] = None
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            has_dtype = len(args) > 1 or kwargs.get("dtype") is not None
            if has_dtype or not _is_of_rows(error, sys._getframe(1)):
                raise
            return function(*args, **{**kwargs, "dtype": object})
        except TypeError as error:
            return _again_without_abstract_dtypes(error, function, args, kwargs)
        except OverflowError as error:
            if "out of bounds for" not in str(error) or _is_of_stillflow(sys._getframe(1)):
                raise
            dtype = args[1] if len(args) > 1 else kwargs["dtype"]
            return function(*args[:1], *args[2:], **{**kwargs, "dtype": None}).astype(dtype)

    return of_any_values


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
    return "inhomogeneous" in str(error) and not _is_of_stillflow(caller)


def _is_of_stillflow(caller):
    return caller.f_globals.get("__name__", "").partition(".")[0] == "stillflow"


def _of_iterators(function):
    """np.stack or one of its kin, which took arrays from what is no sequence."""

    @functools.wraps(function)
    def of_iterators(*args, **kwargs):
        if args and isinstance(args[0], collections.abc.Iterator):
            args = (list(args[0]), *args[1:])
        return function(*args, **kwargs)

    return of_iterators


def _of_generators(function):
    """np.sum, which left generators to Python's sum."""

    @functools.wraps(function)
    def of_generators(a, *args, **kwargs):
        return sum(a) if isinstance(a, types.GeneratorType) else function(a, *args, **kwargs)

    return of_generators


_KINDS = {float: np.floating, int: np.signedinteger, complex: np.complexfloating}


def _of_kinds(issubdtype):
    """np.issubdtype, for which Python's types meant numbers of that kind: float32 was a float, int8 an int."""

    @functools.wraps(issubdtype)
    def of_kinds(arg1, arg2):
        return issubdtype(arg1, _KINDS.get(arg2, arg2) if isinstance(arg2, type) else arg2)

    return of_kinds


def _with_normed(function):
    """np.histogram or one of its kin, whose `density` was `normed` once."""

    @functools.wraps(function)
    def with_normed(*args, **kwargs):
        if "normed" in kwargs:
            kwargs["density"] = kwargs.pop("normed")
        return function(*args, **kwargs)

    return with_normed


def _of_bytes(fromstring):
    """np.fromstring, which read the bytes of numbers where it was given no separator."""

    @functools.wraps(fromstring)
    def of_bytes(string, dtype=float, count=-1, sep="", **kwargs):
        if sep:
            return fromstring(string, dtype, count, sep=sep, **kwargs)
        data = string.encode("latin-1") if isinstance(string, str) else string
        return np.frombuffer(data, dtype, count).copy()

    return of_bytes


# ---- Methods of arrays --------------------------------------------------------------------------------------------


def _itemset(self, *args):
    """Sets the element at an index to the last argument; the only one, without an index."""
    *index, value = args
    self[tuple(index) if len(index) > 1 else np.unravel_index(index[0] if index else 0, self.shape)] = value


def _newbyteorder(self, new_order="S", /):
    """The same bytes as numbers of another byte order."""
    return self.view(self.dtype.newbyteorder(new_order))


def _ptp(self, axis=None, out=None, **kwargs):
    """The largest minus the smallest element."""
    return np.ptp(np.asarray(self), axis, out, **kwargs)


def _tostring(self, order="C"):
    """The bytes of the elements."""
    return self.tobytes(order)


_METHODS = {"itemset": _itemset, "newbyteorder": _newbyteorder, "ptp": _ptp, "tostring": _tostring}


def _takes_arrays_of_one():
    try:
        float(np.zeros(1))
    except TypeError:
        return False
    return True
