"""Special functions: zeta, polygamma, the incomplete gamma and beta functions, Bessel functions."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.graph import get_default_graph
from stillflow.ops.math.elementwise_binary import broadcast_rule
from stillflow.ops.registry import define_op


def _binary(name, parameters, elementwise):
    op = define_op(f"{name}({parameters}) -> (z: T)", "T: {float32, float64}", elementwise=elementwise)
    op.shape_rule(broadcast_rule)
    return op


zeta = _binary("Zeta", "x: T, q: T", "zeta")
polygamma = _binary("Polygamma", "a: T, x: T", "polygamma")


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
