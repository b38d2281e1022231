"""Special functions: zeta, polygamma, the incomplete gamma and beta functions, Bessel functions."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import ShapeError
from stillflow.ops.array.placeholder import incompatible
from stillflow.ops.math.elementwise_binary import broadcast_rule
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import of_sparse_values


def _unary(name, elementwise, **options):
    op = define_op(
        f"{name}(x: T) -> (y: T)", "T: {bfloat16, float16, float32, float64}", elementwise=elementwise, **options
    )
    op.shape_rule(unchanged_shape)
    return op


def _binary(name, parameters, elementwise, **options):
    op = define_op(f"{name}({parameters}) -> (z: T)", "T: {float32, float64}", elementwise=elementwise, **options)
    op.shape_rule(broadcast_rule)
    return op


zeta = _binary(
    "Zeta",
    "x: T, q: T",
    "zeta",
    public="zeta math.zeta",
    doc="""Hurwitz' zeta function, the sum of (q + n)^-x over n >= 0.

    Args:
      x: a float32 or float64 tensor; the function is NaN below 1.
      q: a tensor of its type; gradients are with respect to it alone.
    """,
)
polygamma = _binary(
    "Polygamma",
    "a: T, x: T",
    "polygamma",
    public="polygamma math.polygamma",
    doc="""The derivative of order `a` of digamma at x.

    Args:
      a: a float32 or float64 tensor of integers that are not negative; elsewhere the function is NaN.
      x: a tensor of its type; gradients are with respect to it alone.
    """,
)
igamma = _binary(
    "Igamma",
    "a: T, x: T",
    "igamma",
    public="igamma math.igamma",
    doc="""P(a, x), the integral of t^(a - 1) e^-t from 0 to x, over gamma(a).

    Args:
      a: a float32 or float64 tensor of positive numbers; elsewhere the function is NaN.
      x: a tensor of its type, of numbers that are not negative; elsewhere the function is NaN.
    """,
)
igammac = _binary(
    "Igammac",
    "a: T, x: T",
    "igammac",
    public="igammac math.igammac",
    doc="""Q(a, x) = 1 - P(a, x), the integral of t^(a - 1) e^-t from x on, over gamma(a).

    Args:
      a: a float32 or float64 tensor of positive numbers; elsewhere the function is NaN.
      x: a tensor of its type, of numbers that are not negative; elsewhere the function is NaN.
    """,
)
igamma_grad_a = _binary("IgammaGradA", "a: T, x: T", "igamma_grad_a", differentiable=None)
betainc = define_op(
    "Betainc(a: T, b: T, x: T) -> (z: T)",
    "T: {float32, float64}",
    kernel="betainc(a, b, x)",
    public="betainc math.betainc",
    doc="""The integral of t^(a - 1) (1 - t)^(b - 1) from 0 to x, over the same to 1.

    Args:
      a: a float32 or float64 tensor of positive numbers; elsewhere the function is NaN.
      b: a tensor of its type, of positive numbers.
      x: a tensor of its type, of numbers from 0 to 1; gradients are with respect to it alone.

    Tensors that are no scalars must have one shape.

    Raises:
      ValueError: for known shapes that differ. Others are an InvalidArgumentError when the graph runs.
    """,
)
bessel_i0e = of_sparse_values(
    _unary(
        "BesselI0e",
        "bessel_i0e",
        public="math.bessel_i0e",
        doc="e^-|x| times the modified Bessel function of order 0.",
    )
)
bessel_i1e = of_sparse_values(
    _unary(
        "BesselI1e",
        "bessel_i1e",
        public="math.bessel_i1e",
        doc="e^-|x| times the modified Bessel function of order 1.",
    )
)


@betainc.shape_rule
def _(context):
    """Inputs that are no scalars have one shape."""
    others = [dims for dims in context.shapes if dims != ()]
    if len(others) < 2:
        return others[0] if others else ()
    result = None
    for dims in others:
        merged = merge(result, dims)
        if merged is False:
            raise ShapeError(incompatible(result, dims))
        result = merged
    return result


# ---- Gradients --------------------------------------------------------------------------------------------


def _gradient_of_second(partial):
    """Of an op that is differentiated by its second input alone."""

    def gradient(op, grad):
        first, second = op._inputs
        first_shape, shape = ops.shape(first), ops.shape(second)
        _, axes = ops.broadcast_gradient_args(first_shape, shape)
        with get_default_graph().control_dependencies([grad]):
            return None, ops.reshape(ops.reduce_sum(partial(first, second) * grad, axes), shape)

    return gradient


zeta.gradient(_gradient_of_second(lambda x, q: -x * zeta(x + 1, q)))
polygamma.gradient(_gradient_of_second(lambda a, x: polygamma(a + 1, x)))


@igamma.gradient
def _(op, grad):
    a, x = op._inputs
    a_shape, x_shape = ops.shape(a), ops.shape(x)
    a_axes, x_axes = ops.broadcast_gradient_args(a_shape, x_shape)
    with get_default_graph().control_dependencies([grad]):
        a_partial = igamma_grad_a(a, x)
        # As a logarithm first, since gamma(a) may be large.
        x_partial = ops.exp(-x + (a - 1) * ops.log(x) - ops.lgamma(a))
        return (
            ops.reshape(ops.reduce_sum(a_partial * grad, a_axes), a_shape),
            ops.reshape(ops.reduce_sum(x_partial * grad, x_axes), x_shape),
        )


@igammac.gradient
def _(op, grad):
    a_grad, x_grad = igamma.op_def.gradient(op, grad)
    return -a_grad, -x_grad


@betainc.gradient
def _(op, grad):
    """With respect to x alone."""
    a, b, x = op._inputs
    a_shape, x_shape = ops.shape(a), ops.shape(x)
    _, x_axes = ops.broadcast_gradient_args(a_shape, x_shape)
    log_beta = ops.lgamma(a) + ops.lgamma(b) - ops.lgamma(a + b)
    x_partial = ops.exp((b - 1) * ops.log(1 - x) + (a - 1) * ops.log(x) - log_beta)
    return None, None, ops.reshape(ops.reduce_sum(x_partial * grad, x_axes), x_shape)


@bessel_i0e.gradient
def _(op, grad):
    x, y = op._inputs[0], op._outputs[0]
    with get_default_graph().control_dependencies([grad]):
        return grad * (bessel_i1e(x) - ops.sign(x) * y)


@bessel_i1e.gradient
def _(op, grad):
    x, y = op._inputs[0], op._outputs[0]
    with get_default_graph().control_dependencies([grad]):
        # At 0, where y / x is no number, the derivative is 1/2.
        epsilon = np.finfo(x.dtype.as_numpy_dtype).eps
        zeros = ops.zeros_like(x)
        is_not_tiny = ops.abs(x) > epsilon
        safe_x = ops.where(is_not_tiny, x, epsilon + zeros)
        slope = bessel_i0e(safe_x) - y * (ops.sign(safe_x) + ops.reciprocal(safe_x))
        return grad * ops.where(is_not_tiny, slope, 0.5 + zeros)
