"""tf.recompute_grad, tf.grad_pass_through: functions whose gradients are made in other ways."""

from __future__ import annotations

import functools

from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.eager.gradient_tape import GradientTape
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public


@public("recompute_grad")
def recompute_grad(f):
    """`f(*tensors)`, whose values are computed again for its gradient instead of being kept until then.

    `f` returns one tensor, and may use resource variables.
    """

    @custom_gradient
    def inner(*args, **kwargs):
        result = f(*args, **kwargs)

        def grad(dresult, variables=None):
            variables = [] if variables is None else list(variables)
            with GradientTape() as tape:
                tape.watch(args)
                for variable in variables:
                    tape.watch(variable)
                with get_default_graph().control_dependencies([dresult]):
                    again = f(*args, **kwargs)
            found = tape.gradient(again, [*args, *variables], output_gradients=[dresult])
            return found[: len(args)], found[len(args) :]

        return result, grad

    return inner


@public("grad_pass_through")
def grad_pass_through(f):
    """`f(*tensors)`, whose gradient is the identity; what it uses of variables gets none."""

    @custom_gradient
    def pass_through(*args, **kwargs):
        def grad(*gradients, variables=None):
            return gradients if variables is None else (gradients, [None] * len(variables))

        return f(*args, **kwargs), grad

    return functools.wraps(f)(pass_through)
