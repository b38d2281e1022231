"""abs, float, int, len, print, range, enumerate, zip: on tensors, operations."""

from __future__ import annotations

import builtins

from stillflow import ops
from stillflow.autograph.operators.values import is_tensor
from stillflow.composites.checks import assert_that
from stillflow.composites.py_func import py_func
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.ops.array.range import range as graph_range
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor

_MISSING = object()

# Classes of which enumerate and zip have versions: class -> {builtin: function}
OVERLOADS: dict = {}


def overload_of(function):
    """What converted functions call in the place of a builtin function."""
    return _OVERLOADS.get(function, function)


def absolute(x):
    return ops.abs(x) if is_tensor(x) else builtins.abs(x)


def as_float(x=0):
    if not is_tensor(x):
        return builtins.float(x)
    if x.dtype.base_dtype is dtypes.string:
        return ops.string_to_number(x, out_type=dtypes.float32)
    return ops.cast(x, dtypes.float32)


def as_int(x=0, base=_MISSING):
    """Raises NotImplementedError for text in a tensor of another base than 10."""
    if not is_tensor(x):
        return builtins.int(x) if base is _MISSING else builtins.int(x, base)
    if base not in (10, _MISSING):
        raise NotImplementedError(f"base {base} not supported for int")
    if x.dtype.base_dtype is dtypes.string:
        return ops.string_to_number(x, out_type=dtypes.int32)
    return ops.cast(x, dtypes.int32)


def length(s):
    """The size of a tensor's first dimension, or of a TensorArray. Raises ValueError for a scalar."""
    if isinstance(s, TensorArray):
        return s.size()
    if not is_tensor(s):
        return builtins.len(s)
    s = convert_to_tensor(s)
    dims = s.shape.dims
    if dims and dims[0].value is not None:
        return dims[0].value
    shape = ops.shape(s)
    if shape.shape.dims[0].value == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {shape}")
    if shape.shape.dims[0].value is not None:
        return ops.shape(s)[0]
    rank = ops.rank(s)
    return cond(rank > 0, lambda: ops.shape(s)[0], lambda: _no_length(rank))


def _no_length(rank):
    message = ops.string_join(["len requires non-zero rank, got ", ops.as_string(rank)])
    with control_dependencies([assert_that(False, [message])]):
        return ops.constant(0)


def print_(*objects, **kwargs):
    """Prints when the graph runs, if one of the objects is a tensor. Raises ValueError for unknown arguments."""
    unknown = tuple(set(kwargs) - {"sep", "end", "file", "flush"})
    if unknown:
        raise ValueError(f"invalid keyword arguments: {unknown}")
    if not any(is_tensor(each) for each in objects):
        print(*objects, **kwargs)
        return None
    tensors = [each for each in objects if is_tensor(each)]

    def show(*values):
        found = iter(values)
        shown = [next(found) if is_tensor(each) else each for each in objects]
        print(*(each.decode() if isinstance(each, bytes) else each for each in shown), **{"flush": True, **kwargs})
        return 1

    return py_func(show, tensors, dtypes.int64, stateful=True)


def range_(start_or_stop, stop=_MISSING, step=_MISSING):
    if not any(is_tensor(each) for each in (start_or_stop, stop, step)):
        return builtins.range(*(each for each in (start_or_stop, stop, step) if each is not _MISSING))
    if step is not _MISSING:
        return graph_range(start_or_stop, stop, step)
    if stop is not _MISSING:
        return graph_range(start_or_stop, ops.maximum(start_or_stop, stop))
    return graph_range(ops.maximum(start_or_stop, 0))


def enumerate_(s, start=0):
    for kind, functions in OVERLOADS.items():
        if isinstance(s, kind):
            return functions[enumerate](s, start)
    return builtins.enumerate(s, start)


def zip_(*iterables, **kwargs):
    for kind, functions in OVERLOADS.items():
        if iterables and all(isinstance(each, kind) for each in iterables):
            return functions[zip](iterables)
    return builtins.zip(*iterables, **kwargs)  # noqa: B905


_OVERLOADS = {
    abs: absolute, float: as_float, int: as_int, len: length, print: print_, range: range_, enumerate: enumerate_,
    zip: zip_,
}  # fmt: skip
