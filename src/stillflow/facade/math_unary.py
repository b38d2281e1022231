"""tf.* and tf.math.*: elementwise functions of one argument.

Each takes a tensor, or what becomes one, and returns a tensor of its shape.
"""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.ops.sparse_tensor import SparseTensor

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "cos",
    "cosh",
    "digamma",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "is_finite",
    "is_inf",
    "is_nan",
    "lgamma",
    "log",
    "log1p",
    "log_sigmoid",
    "logical_not",
    "negative",
    "reciprocal",
    "rint",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
]


def of_sparse_values(function):
    """The function, applied to the values of a SparseTensor where it is given one."""

    @functools.wraps(function)
    def apply(x, name=None):
        try:
            return function(x, name)
        except (TypeError, ValueError):  # TensorFlow too tries it as a tensor first, which uses up the name
            if not isinstance(x, SparseTensor):
                raise
        return SparseTensor(x.indices, function(x.values, name), x.dense_shape)

    return apply


@of_sparse_values
def abs(x, name=None):
    """|x|."""
    return ops.abs(x, name=name)


def acos(x, name=None):
    """The angle whose cosine is x."""
    return ops.acos(x, name=name)


def acosh(x, name=None):
    """The inverse of cosh."""
    return ops.acosh(x, name=name)


def asin(x, name=None):
    """The angle whose sine is x."""
    return ops.asin(x, name=name)


def asinh(x, name=None):
    """The inverse of sinh."""
    return ops.asinh(x, name=name)


def atan(x, name=None):
    """The angle whose tangent is x."""
    return ops.atan(x, name=name)


def atanh(x, name=None):
    """The inverse of tanh."""
    return ops.atanh(x, name=name)


def ceil(x, name=None):
    """The smallest integer that is not below x."""
    return ops.ceil(x, name=name)


def cos(x, name=None):
    """The cosine of an angle in radians."""
    return ops.cos(x, name=name)


def cosh(x, name=None):
    """The hyperbolic cosine."""
    return ops.cosh(x, name=name)


def digamma(x, name=None):
    """The derivative of log(|gamma(x)|)."""
    return ops.digamma(x, name=name)


@of_sparse_values
def erf(x, name=None):
    """The error function."""
    return ops.erf(x, name=name)


def erfc(x, name=None):
    """1 - erf(x)."""
    return ops.erfc(x, name=name)


def exp(x, name=None):
    """e to the power x."""
    return ops.exp(x, name=name)


def expm1(x, name=None):
    """exp(x) - 1, precise near 0."""
    return ops.expm1(x, name=name)


def floor(x, name=None):
    """The largest integer that is not above x."""
    return ops.floor(x, name=name)


def is_finite(x, name=None):
    """Whether x is neither infinite nor NaN."""
    return ops.is_finite(x, name=name)


def is_inf(x, name=None):
    """Whether x is infinite."""
    return ops.is_inf(x, name=name)


def is_nan(x, name=None):
    """Whether x is NaN."""
    return ops.is_nan(x, name=name)


def lgamma(x, name=None):
    """log(|gamma(x)|)."""
    return ops.lgamma(x, name=name)


def log(x, name=None):
    """The natural logarithm."""
    return ops.log(x, name=name)


def log1p(x, name=None):
    """log(1 + x), precise near 0."""
    return ops.log1p(x, name=name)


def log_sigmoid(x, name=None):
    """log(1 / (1 + exp(-x)))."""
    return ops.log_sigmoid(x, name=name)


def logical_not(x, name=None):
    """Whether x is false."""
    return ops.logical_not(x, name=name)


@of_sparse_values
def negative(x, name=None):
    """-x."""
    return ops.negative(x, name=name)


def reciprocal(x, name=None):
    """1 / x."""
    return ops.reciprocal(x, name=name)


def rint(x, name=None):
    """The nearest integer, halves to the even one."""
    return ops.rint(x, name=name)


def round(x, name=None):
    """The nearest integer, halves to the even one; integers are returned as they are."""
    return ops.round(x, name=name)


def rsqrt(x, name=None):
    """1 / sqrt(x)."""
    return ops.rsqrt(x, name=name)


def sigmoid(x, name=None):
    """1 / (1 + exp(-x))."""
    return ops.sigmoid(x, name=name)


@of_sparse_values
def sign(x, name=None):
    """-1, 0 or 1 as x is negative, zero or positive; NaN of NaN."""
    return ops.sign(x, name=name)


def sin(x, name=None):
    """The sine of an angle in radians."""
    return ops.sin(x, name=name)


def sinh(x, name=None):
    """The hyperbolic sine."""
    return ops.sinh(x, name=name)


@of_sparse_values
def sqrt(x, name=None):
    """The square root."""
    return ops.sqrt(x, name=name)


@of_sparse_values
def square(x, name=None):
    """x * x."""
    return ops.square(x, name=name)


def tan(x, name=None):
    """The tangent of an angle in radians."""
    return ops.tan(x, name=name)


@of_sparse_values
def tanh(x, name=None):
    """The hyperbolic tangent."""
    return ops.tanh(x, name=name)


# ---- tf.math alone ----------------------------------------------------------------------------------------


def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    return ops.reciprocal_no_nan(x, name=name)


def softplus(features, name=None):
    """log(1 + exp(x))."""
    return ops.softplus(features, name=name)


def softsign(features, name=None):
    """x / (1 + |x|)."""
    return ops.softsign(features, name=name)
