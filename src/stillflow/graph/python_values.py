"""How Python values and arrays become constants, as tf.constant and tf.make_tensor_proto convert them."""

from __future__ import annotations

import numbers

import numpy as np

from stillflow.graph import dtypes, tensor_proto
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import Dimension, TensorShape
from stillflow.graph.tensor_value import TensorValue
from stillflow.names import public

_INTEGERS = (numbers.Integral, np.integer, Dimension)
_REALS = (numbers.Real, np.integer, np.floating)
_TEXT = (bytes, str)


def _accepts(dtype, item) -> bool:
    """Whether a Python scalar may become an element of `dtype`."""
    if dtype is None:
        return not isinstance(item, Tensor)
    base = dtype.base_dtype
    if base.is_integer or base.is_quantized:
        return isinstance(item, _INTEGERS)
    if base.is_floating:
        return isinstance(item, _REALS)
    if base.is_complex:
        return isinstance(item, (numbers.Complex, np.number))
    if base is dtypes.string:
        return isinstance(item, _TEXT)
    return isinstance(item, (bool, np.bool_)) if base is dtypes.bool_ else True


def _first_mismatch(values, accepts):
    """The first leaf of nested lists that is not accepted, in a list; None when all are."""
    if isinstance(values, (list, tuple)):
        for item in values:
            found = _first_mismatch(item, accepts)
            if found is not None:
                return found
        return None
    if isinstance(values, np.ndarray):
        return None
    return None if accepts(values) else [values]


def _assert_compatible(values, dtype):
    found = _first_mismatch(values, lambda item: _accepts(dtype, item))
    if found is None:
        return
    mismatch = found[0]
    if dtype is None:
        raise TypeError("List of Tensors when single Tensor expected")
    raise TypeError(f"Expected {dtype.name}, got {mismatch!r} of type '{type(mismatch).__name__}' instead.")


def _dense_dims(values):
    """The shape that nested lists have if they are regular, going by their first items."""
    if isinstance(values, (list, tuple)):
        return [len(values)] + (_dense_dims(values[0]) if len(values) else [])
    return list(values.shape) if isinstance(values, np.ndarray) else []


def _array_of(values, wanted):
    try:
        with np.errstate(over="ignore"):  # what is too large becomes infinite
            array = np.array(values, wanted)
    except OverflowError:
        # Integers keep their lowest bits, as with the numpy of TensorFlow's days.
        return np.array(values, np.int64).astype(wanted)
    # numpy cuts text off at zeros
    return np.array(values, object) if array.dtype.kind in "SU" else array


def _array_from_python(values, dtype):
    _assert_compatible(values, dtype)
    wanted = None
    if dtype is not None and dtype.is_numpy_compatible:
        wanted = dtype.as_numpy_dtype
    try:
        array = _array_of(values, wanted)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        array = None
    if array is None or list(array.shape) != _dense_dims(values):
        got = None if array is None else list(array.shape)
        raise ValueError(
            f"Argument must be a dense tensor: {values} - got shape {got}, but wanted {_dense_dims(values)}."
        )
    if dtype is None:
        if array.dtype == np.float64:
            with np.errstate(over="ignore"):
                array = array.astype(np.float32)
        elif array.dtype == np.int64:
            narrow = array.astype(np.int32)
            array = narrow if np.array_equal(narrow, array) else array
    return array


def _strings(array):
    """An array of text or bytes as an object array of bytes."""
    flat = [item if type(item) is bytes else _as_bytes(item) for item in array.ravel().tolist()]
    for item in flat:
        if not isinstance(item, bytes):
            raise TypeError(f"Expected binary or unicode string, got {item!r}")
    result = np.empty(len(flat), object)
    result[:] = flat
    return result.reshape(array.shape)


def _as_bytes(item):
    """Text and numpy's bytes as bytes, anything else as it is."""
    if isinstance(item, str):
        return item.encode()
    return bytes(item) if isinstance(item, bytes) else item


def _as_array(values, dtype, shape):
    if isinstance(values, (np.ndarray, np.generic)):
        array = np.asarray(values)
        if dtype is not None and dtype.base_dtype is not dtypes.string:
            array = array.astype(dtype.as_numpy_dtype)
        return array
    if (hasattr(values, "__array__") or hasattr(values, "__array_interface__")) and not isinstance(values, Tensor):
        return np.asarray(values, None if dtype is None else dtype.as_numpy_dtype)
    if values is None:
        raise ValueError("None values not supported.")
    if isinstance(values, TensorShape):
        values = values.as_list()
    if shape is not None and 0 in shape:
        return np.empty(shape, np.float32 if dtype is None else dtype.as_numpy_dtype)
    if dtype is not None and dtype.is_integer:  # no others take Dimensions
        values = without_dimensions(values)
    if dtype is not None and dtype.is_quantized:
        values = _without_single_tuples(values)
    return _array_from_python(values, dtype)


def _without_single_tuples(values):
    """The values with (number,), which is a number of a quantized type, as the number."""
    if isinstance(values, tuple) and len(values) == 1 and not isinstance(values[0], (list, tuple)):
        return values[0]
    return list(map(_without_single_tuples, values)) if isinstance(values, (list, tuple)) else values


def without_dimensions(values):
    """The values with Dimensions, also those in lists, as integers."""
    if isinstance(values, (list, tuple)):
        return type(values)(map(without_dimensions, values)) if type(values) in (list, tuple) else values
    return values.value if isinstance(values, Dimension) else values


def make_tensor_value(values, dtype=None, shape=None, verify_shape=False) -> TensorValue:
    """The constant for Python values or an array, as tf.constant makes it.

    Without a dtype, Python floats become float32 and Python ints int32 where they fit. Fewer values than the
    shape holds are filled up with the last.

    Raises:
      TypeError: for values that are not of the dtype, or with verify_shape not of the shape.
      ValueError: for None, ragged lists, too many values, or more than 2 GiB.
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if shape is None:
        found = _of_plain_numbers(values, dtype)
        if found is not None:
            return found
    if shape is not None:
        shape = [int(size) for size in shape]
    array = _as_array(values, dtype, shape)
    found = dtypes.from_numpy(array.dtype)
    if found is None and array.dtype == object:
        found = dtypes.string
    if found is None:
        raise TypeError(f"Unrecognized data type: {array.dtype}")
    if found is dtypes.string:
        try:
            array = _strings(array)
        except TypeError:
            raise TypeError(
                f"Failed to convert object of type {type(values)} to Tensor. Contents: {values}. "
                "Consider casting elements to a supported type."
            ) from None
    if dtype is not None and dtype.base_dtype is not found:
        if not (dtype.is_quantized and np.dtype(dtype.as_numpy_dtype) == array.dtype):
            raise TypeError(f"Incompatible types: {dtype} vs. {array.dtype}. Value is {values}")
        found = dtype.base_dtype
    if array.size * array.itemsize >= 1 << 31:
        raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
    dims = array.shape if shape is None else tuple(shape)
    _check_count(array, dims, verify_shape and shape is not None)
    flat = np.ascontiguousarray(array.ravel())
    if flat.dtype.byteorder == ">":
        flat = flat.astype(flat.dtype.newbyteorder("="))
    if np.shares_memory(flat, array) and isinstance(values, np.ndarray):
        flat = flat.copy()  # the caller may change the array later
    return TensorValue(found, dims, flat)


_OWN_TYPES = {float: dtypes.float32, int: dtypes.int32, bool: dtypes.bool_}
_LIMITS = {dtypes.int32: 1 << 31, dtypes.int64: 1 << 63}


def _of_plain_numbers(values, dtype):
    """The constant for a Python number, or a list of some of one type; None where there is more to check."""
    is_list = type(values) is list
    numbers = values if is_list else (values,)
    kind = type(numbers[0]) if numbers else None
    if kind not in _OWN_TYPES or (is_list and any(type(number) is not kind for number in numbers)):
        return None
    own = _OWN_TYPES[kind]
    dtype = own if dtype is None else dtype
    if own is dtypes.bool_ or dtype is dtypes.bool_:
        fits = own is dtype
    elif dtype in _LIMITS:
        fits = own is dtypes.int32 and -_LIMITS[dtype] <= min(numbers) and max(numbers) < _LIMITS[dtype]
    else:
        fits = own is dtypes.float32 and (dtype is dtypes.float32 or dtype is dtypes.float64)
    if not fits:
        return None
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        array = np.array(numbers, dtype.as_numpy_dtype)
    return TensorValue(dtype, (len(values),) if is_list else (), array)


def _check_count(array, dims, verify_shape):
    if verify_shape and array.shape != dims:
        raise TypeError(f"Expected Tensor's shape: {dims}, got {array.shape}.")
    count = 1
    for size in dims:
        count *= size
    if array.size > count:
        raise ValueError(f"Too many elements provided. Needed at most {count}, but received {array.size}")


@public("contrib.util.make_tensor_proto")
@public("make_tensor_proto")
def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto message with the values.

    Raises TypeError for values that are not of the dtype, or not of a shape to be verified; ValueError for None
    and for more values than the shape holds.
    """
    value = make_tensor_value(values, dtype, shape, verify_shape)
    if allow_broadcast and shape is not None and value.element_count != len(value.values) != 1:
        raise ValueError(f"{len(value.values)} values cannot be broadcast to {value.element_count}")
    return tensor_proto.to_message(value)
