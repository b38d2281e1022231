"""tf.* and tf.math.*: elementwise functions of several arguments, which are broadcast against each other."""

from __future__ import annotations

from stillflow import ops

__all__ = [
    "accumulate_n",
    "add",
    "add_n",
    "atan2",
    "div",
    "div_no_nan",
    "divide",
    "equal",
    "floor_div",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "multiply",
    "neg",
    "not_equal",
    "pow",
    "realdiv",
    "scalar_mul",
    "squared_difference",
    "sub",
    "subtract",
    "truediv",
    "truncatediv",
    "truncatemod",
    "where",
    "where_v2",
]


def add(x, y, name=None):
    """x + y, of numbers or strings."""
    return ops.add(x, y, name=name)


def subtract(x, y, name=None):
    """x - y."""
    return ops.sub(x, y, name=name)


def multiply(x, y, name=None):
    """x * y."""
    return ops.mul(x, y, name=name)


def divide(x, y, name=None):
    """x / y as Python means it: quotients of integers are floats."""
    return ops.divide(x, y, name=name)


def truediv(x, y, name=None):
    """x / y as Python 3 means it: quotients of integers are floats."""
    return ops.truediv(x, y, name=name)


def div(x, y, name=None):
    """x / y as Python 2 means it: integers are divided rounding down."""
    return ops.div(x, y, name=name)


def realdiv(x, y, name=None):
    """x / y, of floats."""
    return ops.real_div(x, y, name=name)


def floordiv(x, y, name=None):
    """x // y, rounded down."""
    return ops.floordiv(x, y, name=name)


def floor_div(x, y, name=None):
    """x // y, rounded down."""
    return ops.floor_div(x, y, name=name)


def floormod(x, y, name=None):
    """What is left of x divided by y rounding down; of the sign of y."""
    return ops.floor_mod(x, y, name=name)


def mod(x, y, name=None):
    """What is left of x divided by y rounding down; of the sign of y."""
    return ops.floor_mod(x, y, name=name)


def truncatediv(x, y, name=None):
    """x / y, rounded towards zero."""
    return ops.truncate_div(x, y, name=name)


def truncatemod(x, y, name=None):
    """What is left of x divided by y rounding towards zero; of the sign of x."""
    return ops.truncate_mod(x, y, name=name)


def div_no_nan(x, y, name=None):
    """x / y, and 0 where y is 0."""
    return ops.div_no_nan(x, y, name=name)


def maximum(x, y, name=None):
    """The larger one; NaN if either is."""
    return ops.maximum(x, y, name=name)


def minimum(x, y, name=None):
    """The smaller one; NaN if either is."""
    return ops.minimum(x, y, name=name)


def squared_difference(x, y, name=None):
    """(x - y) * (x - y)."""
    return ops.squared_difference(x, y, name=name)


def pow(x, y, name=None):
    """x to the power y."""
    return ops.pow(x, y, name=name)


def equal(x, y, name=None):
    """Whether x == y."""
    return ops.equal(x, y, name=name)


def not_equal(x, y, name=None):
    """Whether x != y."""
    return ops.not_equal(x, y, name=name)


def less(x, y, name=None):
    """Whether x < y."""
    return ops.less(x, y, name=name)


def less_equal(x, y, name=None):
    """Whether x <= y."""
    return ops.less_equal(x, y, name=name)


def greater(x, y, name=None):
    """Whether x > y."""
    return ops.greater(x, y, name=name)


def greater_equal(x, y, name=None):
    """Whether x >= y."""
    return ops.greater_equal(x, y, name=name)


def logical_and(x, y, name=None):
    """Whether both are true."""
    return ops.logical_and(x, y, name=name)


def logical_or(x, y, name=None):
    """Whether one or both are true."""
    return ops.logical_or(x, y, name=name)


def logical_xor(x, y, name="LogicalXor"):
    """Whether exactly one of x and y is true."""
    return ops.logical_xor(x, y, name)


def atan2(y, x, name=None):
    """The angle of the point (x, y), between -pi and pi."""
    return ops.atan2(y, x, name=name)


def scalar_mul(scalar, x, name=None):
    """A scalar times a tensor or IndexedSlices."""
    return ops.scalar_mul(scalar, x, name)


def add_n(inputs, name=None):
    """The sum of a list of tensors (or IndexedSlices) of one shape and type."""
    return ops.add_n(inputs, name)


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of a list of tensors of one shape and type."""
    return ops.accumulate_n(inputs, shape, tensor_dtype, name)


def where(condition, x=None, y=None, name=None):
    """Elements of x where `condition` is true and of y elsewhere; without x and y, where it is true.

    Args:
      condition: a bool tensor of the shape of x, a scalar, or a vector that chooses among rows.
      x: a tensor, or None.
      y: a tensor of the shape and type of x, or None.
    """
    return ops.where(condition, x, y, name)


def where_v2(condition, x=None, y=None, name=None):
    """Like `where`, but condition, x and y are broadcast against each other."""
    return ops.where_v2(condition, x, y, name)


# Names from before TensorFlow 1.0.
mul = multiply
sub = subtract


def neg(x, name=None):
    """-x."""
    return ops.negative(x, name=name)


# ---- tf.math alone ----------------------------------------------------------------------------------------


def divide_no_nan(x, y, name=None):
    """x / y, and 0 where y is 0."""
    return ops.div_no_nan(x, y, name=name)


def multiply_no_nan(x, y, name=None):
    """x * y, and 0 where y is 0, even if x is infinite or NaN."""
    return ops.multiply_no_nan(x, y, name=name)


def xdivy(x, y, name=None):
    """x / y, and 0 where x is 0."""
    return ops.xdivy(x, y, name=name)


def xlogy(x, y, name=None):
    """x * log(y), and 0 where x is 0."""
    return ops.xlogy(x, y, name=name)


def polyval(coeffs, x, name=None):
    """The polynomial with the coefficients `coeffs`, a list that begins with that of the highest power, at x."""
    from stillflow.composites import special

    return special.polyval(coeffs, x, name)
