"""Constants: values that become tensors at once."""

from __future__ import annotations

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
    value = without_dimensions(list(value) if isinstance(value, range) else value)
    try:
        found = make_tensor_value(value, dtype)
    except (TypeError, ValueError) as error:
        raise op_errors.unconvertible(value, dtype, error) from None
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


@eager_version_of(check_packed)
def leave_to_kernel(tensor, dtype):
    """A tensor of another type than the list's is refused by the op that packs it."""
