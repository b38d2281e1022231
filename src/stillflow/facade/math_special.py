"""tf.* and tf.math.*: special functions. Arguments of one function are broadcast against each other."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import special
from stillflow.facade.math_unary import of_sparse_values

__all__ = ["betainc", "igamma", "igammac", "lbeta", "polygamma", "zeta"]


def zeta(x, q, name=None):
    """Hurwitz' zeta function, the sum of (q + n)^-x over n >= 0.

    Args:
      x: a float32 or float64 tensor; the function is NaN below 1.
      q: a tensor of its type; gradients are with respect to it alone.
    """
    return ops.zeta(x, q, name=name)


def polygamma(a, x, name=None):
    """The derivative of order `a` of digamma at x.

    Args:
      a: a float32 or float64 tensor of integers that are not negative; elsewhere the function is NaN.
      x: a tensor of its type; gradients are with respect to it alone.
    """
    return ops.polygamma(a, x, name=name)


def igamma(a, x, name=None):
    """P(a, x), the integral of t^(a - 1) e^-t from 0 to x, over gamma(a).

    Args:
      a: a float32 or float64 tensor of positive numbers; elsewhere the function is NaN.
      x: a tensor of its type, of numbers that are not negative; elsewhere the function is NaN.
    """
    return ops.igamma(a, x, name=name)


def igammac(a, x, name=None):
    """Q(a, x) = 1 - P(a, x), the integral of t^(a - 1) e^-t from x on, over gamma(a).

    Args:
      a: a float32 or float64 tensor of positive numbers; elsewhere the function is NaN.
      x: a tensor of its type, of numbers that are not negative; elsewhere the function is NaN.
    """
    return ops.igammac(a, x, name=name)


def betainc(a, b, x, name=None):
    """The integral of t^(a - 1) (1 - t)^(b - 1) from 0 to x, over the same to 1.

    Args:
      a: a float32 or float64 tensor of positive numbers; elsewhere the function is NaN.
      b: a tensor of its type, of positive numbers.
      x: a tensor of its type, of numbers from 0 to 1; gradients are with respect to it alone.

    Tensors that are no scalars must have one shape.

    Raises:
      ValueError: for known shapes that differ. Others are an InvalidArgumentError when the graph runs.
    """
    return ops.betainc(a, b, x, name=name)


def lbeta(x, name=None):
    """log(|B(x)|), the sum of lgamma over the last dimension minus lgamma of the sum; -inf if it is empty.

    Args:
      x: a float32 or float64 tensor of rank 1 or more; the result has one dimension less.
    """
    return special.lbeta(x, name)


# ---- tf.math alone ----------------------------------------------------------------------------------------


def bessel_i0(x, name=None):
    """The modified Bessel function of order 0, which overflows where bessel_i0e does not."""
    return special.bessel_i0(x, name)


def bessel_i1(x, name=None):
    """The modified Bessel function of order 1, which overflows where bessel_i1e does not."""
    return special.bessel_i1(x, name)


@of_sparse_values
def bessel_i0e(x, name=None):
    """e^-|x| times the modified Bessel function of order 0."""
    return ops.bessel_i0e(x, name=name)


@of_sparse_values
def bessel_i1e(x, name=None):
    """e^-|x| times the modified Bessel function of order 1."""
    return ops.bessel_i1e(x, name=name)
