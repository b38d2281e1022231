"""lbeta, bessel_i0 and bessel_i1, made of ops that do not overflow as soon."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("lbeta", "math.lbeta")
def lbeta(x, name=None):
    """log(|B(x)|), the sum of lgamma over the last dimension minus lgamma of the sum; -inf if it is empty.

    Args:
      x: a float32 or float64 tensor of rank 1 or more; the result has one dimension less.
    """
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        log_product = ops.reduce_sum(ops.lgamma(x), axis=[-1])
        total = ops.reduce_sum(x, axis=[-1])
        return log_product - ops.lgamma(total)


@public("math.bessel_i0")
def bessel_i0(x, name=None):
    """The modified Bessel function of order 0, which overflows where bessel_i0e does not."""
    with name_scope(name, "bessel_i0", [x]):
        return ops.exp(ops.abs(x)) * ops.bessel_i0e(x)


@public("math.bessel_i1")
def bessel_i1(x, name=None):
    """The modified Bessel function of order 1, which overflows where bessel_i1e does not."""
    with name_scope(name, "bessel_i1", [x]):
        return ops.exp(ops.abs(x)) * ops.bessel_i1e(x)


@public("math.polyval")
def polyval(coeffs, x, name=None):
    """The polynomial with the coefficients `coeffs`, a list that begins with that of the highest power, at x."""
    with name_scope(name, "polyval", [*coeffs, x]) as scope:
        x = convert_to_tensor(x, name="x")
        if len(coeffs) < 1:
            return ops.zeros_like(x, name=scope)
        coeffs = [convert_to_tensor(coefficient, name=f"coeff_{i}") for i, coefficient in enumerate(coeffs)]
        result = coeffs[0]
        for coefficient in coeffs[1:]:
            result = coefficient + result * x
        return result
