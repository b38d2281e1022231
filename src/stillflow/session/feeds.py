"""Feeds of Session.run: keys become tensors of the graph, and values arrays of the tensors' dtypes and shapes."""

from __future__ import annotations

import itertools

import numpy as np

from stillflow import _engine
from stillflow.graph import dtypes, nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape

# Keys of a program's own types: {class of the key: (function (key, value) -> [(tensor, value)],
# function (key) -> [tensor])}.
_CONVERSIONS: dict = {}


def register_conversion(kind, expand, tensors=None):
    """Feed keys of `kind` become the pairs of expand(key, value), and where there is no value yet, tensors(key)."""

    def tensors_of_pairs(key):
        return [tensor for tensor, _ in expand(key, itertools.repeat(None))]

    _CONVERSIONS[kind] = expand, tensors or tensors_of_pairs


def expand(graph, feed_dict):
    """[(Tensor, value)] for a feed dictionary. Raises TypeError for keys that are no tensors of the graph."""
    pairs = []
    for key, value in feed_dict.items():
        pairs.extend(_expand_pair(graph, key, value))
    return pairs


def _expand_pair(graph, key, value):
    if isinstance(key, (tuple, list)):
        if len(key) != len(value):
            raise ValueError(f"Key {key} has {len(key)} elements, its value {len(value)}")
        return [pair for k, v in zip(key, value, strict=True) for pair in _expand_pair(graph, k, v)]
    for kind, (expand_key, _) in _CONVERSIONS.items():
        if isinstance(key, kind):
            return expand_key(key, value)
    if isinstance(key, CompositeTensor):
        is_plain = isinstance(value, (list, tuple))  # the components themselves, or a named tuple of them
        values = value if is_plain else key._type_spec._to_components(value)
        return list(zip(nest.components(key), values, strict=False))
    try:
        tensor = graph.as_graph_element(key, allow_tensor=True, allow_operation=False)
    except (KeyError, TypeError, ValueError) as error:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return [(tensor, value)]


def tensors_of(graph, key):
    """The tensors that a feed key stands for. Raises TypeError for what is none of the graph's."""
    for kind, (_, tensors) in _CONVERSIONS.items():
        if isinstance(key, kind):
            return tensors(key)
    if isinstance(key, CompositeTensor):
        return nest.components(key)
    return [tensor for tensor, _ in _expand_pair(graph, key, None)]


def make_feed(tensor, dims) -> _engine.Feed:
    """The engine's feed of `tensor` in a plan that was compiled for values of the plain shape `dims`."""
    return _engine.Feed(tensor.dtype.base_dtype.as_datatype_enum, dims, lambda value: convert(tensor, value))


def convert(tensor, value) -> np.ndarray:
    """An array in C order for a fed value.

    Raises:
      TypeError: for a tensor, for a Python int that does not fit, for text where numbers are asked for.
      ValueError: for values of another shape, and what numpy cannot convert.
    """
    if isinstance(value, Tensor):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
            "strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was "
            f"{value} which was passed to the feed with key {tensor}."
        )
    dtype = tensor.dtype.base_dtype
    if dtype is dtypes.variant:
        if isinstance(value, _engine.Variants):
            return value
        raise TypeError(f"Values for {tensor.name!r}, which is of type variant, cannot be fed")
    array = _strings(value) if dtype is dtypes.string else _numbers(value, dtype)
    if not TensorShape._of(tensor._dims).is_compatible_with(array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name!r}, which has shape "
            f"'{TensorShape._of(tensor._dims)}'"
        )
    return array


def _numbers(value, dtype):
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    if isinstance(value, int):
        if not _holds(numpy_type, value):
            raise _incompatible(value, numpy_type)
    elif value is None and dtype.is_integer:
        raise TypeError(f"None cannot be fed to a tensor of type {dtype.name}")
    with np.errstate(invalid="ignore", over="ignore"):
        array = np.asarray(value)
        if not isinstance(value, (np.ndarray, np.generic)):
            array = _of_python(value, array, numpy_type)
        if array.dtype.kind == "c" and numpy_type.kind != "c":
            array = array.real
        return np.require(array.astype(numpy_type, copy=False), numpy_type, ["C", "ALIGNED"])


def _holds(numpy_type, value):
    """Whether an int becomes an equal number of that type.

    As numpy does, what 64 bits hold is compared as float64; a bfloat16 may have lost what it cannot hold.
    """
    try:
        with np.errstate(over="ignore"):
            number = np.asarray(value, numpy_type)
    except OverflowError:
        return False
    if numpy_type.kind == "V":
        return np.isfinite(number.astype(np.float64))
    if numpy_type.kind in "fc" and -(2**63) <= value < 2**64:
        return number.real.astype(np.float64) == np.float64(value)
    return number.item() == value


def _of_python(value, array, numpy_type):
    """The array for Python's numbers and lists, whose conversions to integers and to real numbers may fail."""
    is_integer = numpy_type.kind in "iu"
    if array.dtype.kind == "c" and numpy_type.kind not in "cb":
        raise TypeError(f"can't convert complex to {'int' if is_integer else 'float'}")
    if array.dtype.kind == "f" and is_integer:
        return np.asarray(value, np.uint64 if numpy_type == np.uint64 else np.int64)
    return array


def _incompatible(value, numpy_type):
    return TypeError(
        f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type {numpy_type}. "
        "Try explicitly setting the type of the feed tensor to a larger type (e.g. int64)."
    )


def _strings(value):
    array = np.asarray(value)
    if array.size == 0:
        return array.astype(object)  # the dtype of an empty list cannot be inferred
    if array.dtype.kind not in "OSU":
        raise _incompatible(value, "string")
    array = np.asarray(value, object) if array.dtype.kind != "O" else array
    items = array.ravel().tolist()
    if set(map(type, items)) == {bytes}:  # and none of its descendants
        return np.ascontiguousarray(array) if array.ndim else array
    result = np.empty(array.size, object)
    for i, item in enumerate(items):
        if not isinstance(item, (str, bytes)):
            raise _incompatible(item, "string")
        result[i] = item.encode() if isinstance(item, str) else bytes(item)
    return result.reshape(array.shape)
