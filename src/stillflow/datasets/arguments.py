"""Arguments of data sets as tensors."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.shape import as_shape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("python.data.util.convert.optional_param_to_tensor")
def optional_param_to_tensor(argument_name, argument_value, argument_default=0, argument_dtype=dtypes.int64):
    """An argument, or what stands for None, as a tensor of its name."""
    value = argument_default if argument_value is None else argument_value
    return convert_to_tensor(value, dtype=argument_dtype, name=argument_name)


@public("python.data.util.convert.partial_shape_to_tensor")
def partial_shape_to_tensor(shape_like):
    """A shape, or what is one already, as an int64 vector, in which -1 stands for sizes that are not known.

    Raises:
      ValueError: for tensors that are no vectors.
      TypeError: for tensors of other types.
    """
    return shape_tensor(shape_like, "The given shape {} must be {}, but the {} was {}.")


def shape_tensor(shape_like, message):
    """The same, with a message of its own: a format for the shape, what it should be, what differs, and its value."""
    wanted = "a 1-D tensor of tf.int64 values"
    try:
        shape = as_shape(shape_like)
        return convert_to_tensor([-1 if size is None else size for size in shape.as_list()], dtype=dtypes.int64)
    except (TypeError, ValueError):
        tensor = convert_to_tensor(shape_like, preferred_dtype=dtypes.int64)
        if tensor.shape.rank not in (None, 1):
            raise ValueError(message.format(shape_like, wanted, "shape", tensor.shape)) from None
        if tensor.dtype != dtypes.int64:
            raise TypeError(message.format(shape_like, wanted, "element type", tensor.dtype.name)) from None
        return tensor
