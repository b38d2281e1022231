"""tf.* and tf.math.*: special functions. Arguments of one function are broadcast against each other."""

from __future__ import annotations

from stillflow import ops

__all__ = ["polygamma", "zeta"]


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
