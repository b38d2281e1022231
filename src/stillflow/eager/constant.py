"""Constants: values that become tensors at once."""

from __future__ import annotations

import numpy as np

from stillflow.eager import op_errors
from stillflow.graph import dtypes
from stillflow.graph.mode import eager_version_of
from stillflow.graph.python_values import make_tensor_value, without_dimensions
from stillflow.graph.shape import as_shape
from stillflow.ops.array.constant import check_packed


@eager_version_of(make_tensor_value)
def value_of_constant(value, dtype=None, shape=None, verify_shape=False):
    """What tf.constant makes of a value: with a shape, as many elements as that holds, or one for all."""
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    value = without_dimensions(_without_ranges(value))
    try:
        found = make_tensor_value(value, _listed_type(value) if dtype is None else dtype)
    except (TypeError, ValueError) as error:
        raise op_errors.unconvertible(value, dtype, error) from None
    if dtype is None and found.dtype is dtypes.float32 and isinstance(value, (float, list, tuple)):
        _check_range(value, found.array())
    if shape is None:
        return found
    shape = as_shape(shape)
    elements, wanted = found.array().size, shape.num_elements()
    if elements != wanted and elements != 1:
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape (value has {elements} elements, shape is "
            f"{shape} with {wanted} elements)."
        )
    return make_tensor_value(value, found.dtype, shape.as_list())


def _without_ranges(value):
    if isinstance(value, range):
        return list(value)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], range):
        return [_without_ranges(item) for item in value]
    return value


def _listed_type(value):
    """The type that numpy's numbers in a list ask for, of which the first decides. None if it is none of numpy's."""
    if not isinstance(value, (list, tuple)):
        return None
    first = value
    while isinstance(first, (list, tuple, np.ndarray)):
        if isinstance(first, np.ndarray) and first.ndim == 0:
            first = first[()]
        elif len(first) == 0:
            return dtypes.float32 if isinstance(first, np.ndarray) else None
        else:
            first = first[0]
    if isinstance(first, np.float64):
        return dtypes.float64
    if isinstance(first, np.float16):
        return dtypes.float16
    if isinstance(first, np.complexfloating):
        return dtypes.complex128
    return _integer_type(value) if isinstance(first, np.integer) else None


def _integer_type(values):
    """int32 for integers of any width that fit, else int64; None for lists of other numbers."""
    try:
        array = np.array(values)
    except ValueError:  # they are told of where they are converted
        return None
    if array.dtype.kind not in "iu":
        return None
    if array.max() > _LARGEST:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")
    fits = array.min() >= -(2**31) and array.max() < 2**31
    return dtypes.int32 if fits else dtypes.int64


_LARGEST = np.iinfo(np.int64).max


def _check_range(value, array):
    if np.isinf(array).any() and not np.isinf(np.array(value, np.float64)[np.isinf(array)]).all():
        raise ValueError("Can't convert Python sequence with a value out of range for a double-precision float.")


@eager_version_of(check_packed)
def leave_to_kernel(tensor, dtype):
    """A tensor of another type than the list's is refused by the op that packs it."""
