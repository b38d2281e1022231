"""The divisions of Python as functions of tensors: truediv, floordiv, divide, and the older div."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched

# What `/` turns the types that it takes into; None leaves them as they are.
_QUOTIENT_TYPES = {
    dtypes.uint8: dtypes.float32,
    dtypes.int8: dtypes.float32,
    dtypes.uint16: dtypes.float32,
    dtypes.int16: dtypes.float32,
    dtypes.int32: dtypes.float64,
    dtypes.int64: dtypes.float64,
    dtypes.bfloat16: None,
    dtypes.float16: None,
    dtypes.float32: None,
    dtypes.float64: None,
    dtypes.complex64: None,
    dtypes.complex128: None,
}


def _check_types(x, y):
    if x.dtype.base_dtype is not y.dtype.base_dtype:
        raise TypeError(f"x and y must have the same dtype, got {x.dtype.base_dtype!r} != {y.dtype.base_dtype!r}")


def _converted(x, y):
    """Both as tensors of one type. Raises TypeError if they are of two."""
    x = convert_to_tensor(x, name="x")
    y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
    _check_types(x, y)
    return x, y


def quotient_operands(x, y, x_name="x"):
    """Both as tensors of the type that their quotient has. Raises TypeError for different types."""
    x = convert_to_tensor(x, name=x_name)
    y = convert_to_tensor(y, name="y")
    _check_types(x, y)
    dtype = x.dtype.base_dtype
    if dtype not in _QUOTIENT_TYPES:
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__")
    quotient = _QUOTIENT_TYPES[dtype]
    if quotient is not None:
        x = ops.cast(x, quotient)
        y = ops.cast(y, quotient)
    return x, y


@public("truediv", "math.truediv")
@dispatched
def truediv(x, y, name=None):
    """x / y as Python 3 means it: quotients of integers are floats. Raises TypeError for different types."""
    with name_scope(name, "truediv", [x, y]) as scope:
        return ops.real_div(*quotient_operands(x, y), name=scope)


@public("div")
@dispatched
def div(x, y, name=None):
    """x / y as Python 2 means it: quotients of integers are rounded down.

    Args:
      x: a tensor of numbers.
      y: a tensor of the same type, whose shape broadcasts with that of `x`.
      name: a name for the operation.

    Raises:
      ValueError: if `y` is a tensor of another type.
      InvalidArgumentError: when run, if an integer is divided by 0.
    """
    with name_scope(name, "div", [x, y]) as scope:
        x, y = _converted(x, y)
        divide_as = ops.real_div if x.dtype.is_floating or x.dtype.is_complex else ops.floor_div
        return divide_as(x, y, name=scope)


@public("floordiv", "math.floordiv")
@dispatched
def floordiv(x, y, name=None):
    """x // y, rounded down, of the type of x and y."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return ops.floor_div(x, y, name=scope)


@public("divide", "math.divide")
@dispatched
def divide(x, y, name=None):
    """x / y as Python means it: quotients of integers are floats."""
    return x / y if name is None else truediv(x, y, name)


@public("div_no_nan", "math.divide_no_nan")
@dispatched
def div_no_nan(x, y, name=None):
    """x / y, and 0 where y is 0. Raises TypeError for different types."""
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        return ops.div_no_nan_op(*_converted(x, y), name=scope)


@public("math.multiply_no_nan")
def multiply_no_nan(x, y, name=None):
    """x * y, and 0 where y is 0, even if x is infinite or NaN. Raises TypeError for different types."""
    with name_scope(name, "multiply_no_nan", [x, y]) as scope:
        return ops.mul_no_nan(*_converted(x, y), name=scope)


@public("math.reciprocal_no_nan")
def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        one = ops.constant(1, dtype=x.dtype.base_dtype, name="one")
        return ops.div_no_nan_op(one, x, name=scope)
