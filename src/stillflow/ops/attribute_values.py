"""Values of attributes from what programs give for them: what generated wrappers of ops call first."""

from __future__ import annotations

import numbers

from stillflow.graph import dtypes
from stillflow.graph.shape import as_shape
from stillflow.names import public


@public("python.eager.execute.make_float")
def make_float(v, arg_name):
    """A number as a float. Raises TypeError for what is no real number."""
    if not isinstance(v, numbers.Real):
        raise TypeError(f"Expected float for argument '{arg_name}' not {v!r}.")
    return float(v)


@public("python.eager.execute.make_int")
def make_int(v, arg_name):
    """What Python's int makes of it. Raises TypeError for texts and for what int refuses."""
    if isinstance(v, (str, bytes)):
        raise TypeError(f"Expected int for argument '{arg_name}' not {v!r}.")
    try:
        return int(v)
    except (TypeError, ValueError):
        raise TypeError(f"Expected int for argument '{arg_name}' not {v!r}.") from None


@public("python.eager.execute.make_str")
def make_str(v, arg_name):
    """A text or bytes as bytes. Raises TypeError for what is neither."""
    if not isinstance(v, (str, bytes)):
        raise TypeError(f"Expected string for argument '{arg_name}' not {v!r}.")
    return v.encode() if isinstance(v, str) else v


@public("python.eager.execute.make_bool")
def make_bool(v, arg_name):
    """True or False itself. Raises TypeError for anything else."""
    if not isinstance(v, bool):
        raise TypeError(f"Expected bool for argument '{arg_name}' not {v!r}.")
    return v


@public("python.eager.execute.make_type")
def make_type(v, arg_name):
    """The number of a type. Raises TypeError for what is no type."""
    try:
        return dtypes.as_dtype(v).base_dtype.as_datatype_enum
    except TypeError:
        raise TypeError(f"Expected DataType for argument '{arg_name}' not {v!r}.") from None


@public("python.eager.execute.make_shape")
def make_shape(v, arg_name):
    """The sizes of a shape, None for those that are unknown; None for an unknown rank.

    Raises TypeError or ValueError for what is no shape.
    """
    try:
        shape = as_shape(v)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Error converting {arg_name} to a TensorShape: {error}.") from None
    return None if shape.ndims is None else shape.as_list()
