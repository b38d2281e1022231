"""convert_to_tensor: how Python values, arrays and tensor-like objects become tensors."""

from __future__ import annotations

import warnings

import numpy as np

from stillflow.graph import dtypes
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.operation import Operation, Tensor
from stillflow.graph.shape import Dimension, TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.graph.type_spec import install_conversion
from stillflow.names import public

# IndexedSlices of a tensor with more elements become dense with a warning.
_MANY_ELEMENTS = 100_000_000

# [(priority, type or types, function)], lowest priority number first; see register_conversion.
_CONVERSIONS: list = []
_BY_TYPE: dict = {}


def register_conversion(base_type, function, priority=100):
    """Makes convert_to_tensor call `function(value, dtype, name, as_ref)` for values of `base_type`.

    Functions are tried in order of `priority`, then of registration, until one does not return NotImplemented.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(each, type) for each in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(function):
        raise TypeError("conversion_func must be callable.")
    _CONVERSIONS.append((priority, types, function))
    _CONVERSIONS.sort(key=lambda entry: entry[0])
    _BY_TYPE.clear()


def _conversions_for(value_type):
    found = _BY_TYPE.get(value_type)
    if found is None:
        found = _BY_TYPE[value_type] = [
            function for _, types, function in _CONVERSIONS if issubclass(value_type, types)
        ]
    return found


@public("convert_to_tensor")
def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None, as_ref=False):
    """`value` as a tensor of the default graph; a tensor comes back as it is.

    Args:
      dtype: the type to have; None takes it from the value.
      name: the name of the constant, if one is made.
      preferred_dtype: a type to try first when `dtype` is None; `dtype_hint` is its newer name.
      as_ref: whether a variable is to give its reference rather than its value.

    Raises:
      TypeError: if nothing is known about such values, or they are not of the dtype.
      ValueError: for a tensor of another dtype, and for values that no constant can hold.
    """
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value._dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: "
                f"{str(value)!r}"
            )
        return value
    preferred = preferred_dtype if preferred_dtype is not None else dtype_hint
    if preferred is not None:
        preferred = dtypes.as_dtype(preferred)
    for function in _conversions_for(type(value)):
        result = None
        if dtype is None and preferred is not None:
            result = _convert_to_preferred(function, value, preferred, name, as_ref)
        if result is None:
            result = function(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        _check_converted(function, value, result, dtype)
        return result
    raise TypeError(f"Cannot convert {value!r} with type {type(value)} to Tensor: no conversion function registered.")


def _convert_to_preferred(function, value, preferred, name, as_ref):
    try:
        result = function(value, dtype=preferred, name=name, as_ref=as_ref)
    except (TypeError, ValueError):
        return None  # it does not have to be the preferred type
    if result is not NotImplemented and result.dtype.base_dtype is not preferred.base_dtype:
        raise TypeError(
            "convert_to_tensor did not convert to the preferred dtype: "
            f"{result.dtype.base_dtype} vs {preferred.base_dtype} "
        )
    return result


def _check_converted(function, value, result, dtype):
    if not isinstance(result, Tensor):
        raise RuntimeError(f"Conversion function {function!r} for type {type(value)} returned non-Tensor: {result!r}")
    if dtype is not None and not dtype.is_compatible_with(result.dtype):
        raise RuntimeError(
            f"Conversion function {function!r} for type {type(value)} returned incompatible dtype: "
            f"requested = {dtype.name}, actual = {result.dtype.name}"
        )


@public("python.framework.ops.convert_n_to_tensor")
def widened(value):
    """A size or index, or lists of such, in which numpy's integers of other types are int32 or int64.

    Programs that were written for numpy 1 got int64 from `np.uint8(9) + 1`, and get uint8 from numpy 2.
    """
    if isinstance(value, (list, tuple)):
        items = [widened(item) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    if isinstance(value, np.integer):
        return value if value.dtype in (np.int32, np.int64) else int(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.dtype not in (np.int32, np.int64):
        return value.astype(np.int32 if value.dtype.itemsize < 4 else np.int64)
    return value


def convert_n_to_tensor(values, dtype=None, name=None, preferred_dtype=None, as_ref=False):
    """A list of tensors for a list of values; constants are named name_0, name_1, ..."""
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [
        convert_to_tensor(value, dtype, None if name is None else f"{name}_{i}", preferred_dtype, as_ref=as_ref)
        for i, value in enumerate(values)
    ]


@public("convert_to_tensor_or_indexed_slices")
def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None, as_ref=False):
    """Like convert_to_tensor, but IndexedSlices stay what they are. Raises ValueError for another dtype."""
    if isinstance(value, IndexedSlices):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
                f"{value.dtype.name}: {str(value)!r}"
            )
        return value
    return convert_to_tensor(value, dtype, name, as_ref=as_ref)


@public("python.framework.ops.convert_n_to_tensor_or_indexed_slices")
def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None, as_ref=False):
    """convert_to_tensor_or_indexed_slices for a list; None stays None."""
    if not isinstance(values, (list, tuple)):
        raise TypeError("values must be a sequence.")
    return [
        None
        if value is None
        else convert_to_tensor_or_indexed_slices(value, dtype, None if name is None else f"{name}_{i}", as_ref=as_ref)
        for i, value in enumerate(values)
    ]


# ---- Conversions of what needs no module of its own -------------------------------------------------------


def _from_python(value, dtype=None, name=None, as_ref=False):
    from stillflow import ops

    return ops.constant(value, dtype=dtype, name="Const" if name is None else name)


def _from_operation(value, dtype=None, name=None, as_ref=False):
    raise TypeError(
        f"Can't convert Operation '{value.name}' to Tensor (target dtype={dtype!r}, name={name!r}, as_ref={as_ref!r})"
    )


def _from_list(value, dtype=None, name=None, as_ref=False):
    """Lists that contain tensors are packed."""
    from stillflow import ops

    if not ops.contains_tensor(value):
        return NotImplemented
    return ops.pack_nested(value, dtype, name or "packed")


def _from_shape(value, dtype=None, name=None, as_ref=False):
    from stillflow import ops

    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    sizes = value.as_list()
    if dtype is None:
        dtype = dtypes.int64 if any(size >= 2**31 for size in sizes) else dtypes.int32
    elif dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    elif dtype is dtypes.int32 and any(size >= 2**31 for size in sizes):
        largest = next(size for size in sizes if size >= 2**31)
        raise ValueError(f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({largest})")
    return ops.constant(sizes, dtype=dtype, name=name or "shape_as_tensor")


def _from_dimension(value, dtype=None, name=None, as_ref=False):
    from stillflow import ops

    if value.value is None:
        raise ValueError(f"Cannot convert an unknown Dimension to a Tensor: {value}")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {dtype}")
    return ops.constant(value.value, dtype=dtype or dtypes.int32, name=name or "shape_as_tensor")


def _from_indexed_slices(value, dtype=None, name=None, as_ref=False):
    from stillflow import ops

    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {value.dtype.name}"
        )
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value!s}")
    shape = value.dense_shape
    shape = constant_value(shape) if isinstance(shape, Tensor) else np.asarray(shape)
    if shape is None:
        warnings.warn(
            "Converting sparse IndexedSlices to a dense Tensor of unknown shape. "
            "This may consume a large amount of memory.",
            stacklevel=2,
        )
    elif np.prod(shape, dtype=np.float64) >= _MANY_ELEMENTS:
        warnings.warn(
            f"Converting sparse IndexedSlices to a dense Tensor with {np.prod(shape, dtype=object)} elements. "
            "This may consume a large amount of memory.",
            stacklevel=2,
        )
    return ops.unsorted_segment_sum(value.values, value.indices, value.dense_shape[0], name=name)


register_conversion(Operation, _from_operation, 0)
register_conversion((list, tuple), _from_list, 99)
register_conversion(IndexedSlices, _from_indexed_slices, 100)
register_conversion(TensorShape, _from_shape, 100)
register_conversion(Dimension, _from_dimension, 100)
register_conversion((list, tuple, np.ndarray, np.generic, str, bytes, int, float, bool, complex), _from_python, 100)
register_conversion(object, _from_python, 200)


@public("register_tensor_conversion_function")
def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Makes `conversion_func(value, dtype, name, as_ref)` convert values of `base_type` to tensors."""
    register_conversion(base_type, conversion_func, priority)


@public("python.framework.ops.internal_convert_to_tensor")
def internal_convert_to_tensor(
    value, dtype=None, name=None, as_ref=False, preferred_dtype=None, ctx=None, accepted_result_types=(Tensor,)
):
    """convert_to_tensor, under the name and with the arguments that TensorFlow's own modules use."""
    return convert_to_tensor(value, dtype, name, preferred_dtype, as_ref=as_ref)


@public("python.framework.ops.internal_convert_n_to_tensor")
def internal_convert_n_to_tensor(values, dtype=None, name=None, as_ref=False, preferred_dtype=None, ctx=None):
    """convert_n_to_tensor, under the name and with the arguments that TensorFlow's own modules use."""
    return convert_n_to_tensor(values, dtype, name, preferred_dtype, as_ref)


install_conversion(convert_to_tensor)
