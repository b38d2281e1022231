"""Python functions that graphs call: the table of them, and what becomes of their results and errors.

A function lives as long as a graph that has a node for it. Nodes name it by a token, which means nothing in
another process.
"""

from __future__ import annotations

import itertools
import traceback
import weakref

import numpy as np

from stillflow import _engine, errors
from stillflow.graph import dtypes

_CODES = (
    ((TypeError, ValueError), errors.INVALID_ARGUMENT),
    (StopIteration, errors.OUT_OF_RANGE),
    (MemoryError, errors.RESOURCE_EXHAUSTED),
    (NotImplementedError, errors.UNIMPLEMENTED),
)


class PyFunction:
    """A Python function that nodes of graphs name by its token.

    `is_own` says that it is stillflow's, whose OpErrors are those of the run; of a program's function they are errors
    like others.
    """

    def __init__(self, function, token, is_own=False):
        self.function = function
        self.token = token
        self.is_own = is_own


_functions: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_numbers = itertools.count()

# What the names of stillflow's own functions begin with; tokens do not.
_BUILTIN = "builtin:"


def register(graph, function) -> str:
    """The token under which nodes of `graph` call the function."""
    entry = PyFunction(function, f"pyfunc_{next(_numbers)}")
    _functions[entry.token] = entry
    graph._py_functions.append(entry)
    return entry.token


def register_own(function) -> PyFunction:
    """A function of stillflow's own under a token, which is good for as long as the caller keeps what is returned."""
    entry = PyFunction(function, f"own_{next(_numbers)}", is_own=True)
    _functions[entry.token] = entry
    return entry


def code_and_message(error):
    """What a run says of an exception of a function that it has called."""
    code = next((code for kinds, code in _CODES if isinstance(error, kinds)), errors.UNKNOWN)
    # TensorFlow leaves a line empty after each of these.
    text = "\n".join([
        "Traceback (most recent call last):\n", *traceback.format_tb(error.__traceback__)[1:],
        *traceback.format_exception_only(error), "",
    ])  # fmt: skip
    return code, f"{type(error).__name__}: {error}\n{text}"


def _call(name: bytes, arguments: list, types: list) -> list:
    """What the engine calls: the function's results as arrays of the DataTypes `types`. Raises EngineError."""
    token = name.decode("utf-8", "replace")
    if token.startswith(_BUILTIN):
        return _call_builtin(token.removeprefix(_BUILTIN), arguments, len(types))
    entry = _functions.get(token)
    if entry is None:
        raise _engine.EngineError(errors.INVALID_ARGUMENT, f"ValueError: callback {token} is not found")
    try:
        result = entry.function(*arguments)
    except BaseException as error:
        if entry.is_own and isinstance(error, errors.OpError):
            raise _engine.EngineError(error.error_code, error.message) from None
        raise _engine.EngineError(*code_and_message(error)) from None
    values = [] if result is None else result if isinstance(result, (list, tuple)) else [result]
    arrays = [_array(value) for value in values]
    if len(arrays) != len(types):
        message = f"{token} returns {len(arrays)} values, but expects to see {len(types)} values."
        raise _engine.EngineError(errors.INVALID_ARGUMENT, message)
    for i, (array, wanted) in enumerate(zip(arrays, types, strict=True)):
        found = _data_type(array)
        if found.as_datatype_enum != wanted:
            message = (
                f"{i}-th value returned by {token} is {found._c_name}, but expects {dtypes.as_dtype(wanted)._c_name}"
            )
            raise _engine.EngineError(errors.INVALID_ARGUMENT, message)
    return arrays


def _call_builtin(name, arguments, count):
    """A function of stillflow's own, whose errors say what they are."""
    from stillflow.host import host_functions

    try:
        result = host_functions.find(name)(*arguments)
    except errors.OpError as error:
        raise _engine.EngineError(error.error_code, error.message) from None
    except MemoryError:
        raise _engine.EngineError(errors.RESOURCE_EXHAUSTED, f"Out of memory in {name}") from None
    if count > 1:
        return [_array(value) for value in result]
    return [_array(result)] if count else []


def _array(value):
    """A result as an array in C order, strings as objects of bytes."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        raise _unsupported("list") from None
    if array.dtype.kind in "SUO":
        items = np.asarray(value, object)
        result = np.empty(items.shape, object)
        for index, item in enumerate(items.ravel().tolist()):
            if not isinstance(item, (bytes, str)):
                raise _unsupported(type(item).__name__)
            result.flat[index] = item.encode() if isinstance(item, str) else item
        return result
    return np.require(array, array.dtype.newbyteorder("="), ["C", "ALIGNED"])


def _data_type(array):
    if array.dtype.kind == "O":
        return dtypes.string
    try:
        return dtypes.as_dtype(array.dtype)
    except TypeError:
        raise _engine.EngineError(errors.INTERNAL, f"Unsupported numpy type: {array.dtype}") from None


def _unsupported(name):
    return _engine.EngineError(errors.INTERNAL, f"Unsupported object type {name}")


_engine.set_host_function(_call)
