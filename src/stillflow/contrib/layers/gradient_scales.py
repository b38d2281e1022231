"""tf.contrib.layers.scale_gradient: an identity whose gradient is multiplied."""

from __future__ import annotations

from stillflow.functions.defun import Defun
from stillflow.names import public


def _scaled(op, grad):
    return [grad * op.inputs[1], None]


@public("contrib.layers.scale_gradient")
@Defun(python_grad_func=_scaled, shape_func=lambda op: [op.inputs[0].shape])
def scale_gradient(inputs, gradient_multiplier):
    """`inputs` as they are; their gradient is that of the result times `gradient_multiplier`, a tensor.

    It is a function of the graph: shapes have to fit, `gradient_multiplier` may have sizes of 1.
    """
    del gradient_multiplier
    return inputs
