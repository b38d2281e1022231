"""L2Loss: half the sum of squares."""

from __future__ import annotations

from stillflow.ops.registry import define_op

l2_loss = define_op(
    "L2Loss(t: T) -> (output: T)",
    "T: {float16, bfloat16, float32, float64}",
    kernel="l2_loss(t)",
    public="nn.l2_loss",
    doc="Half the sum of squares, a scalar.",
)


@l2_loss.shape_rule
def _(context):
    return ()


@l2_loss.gradient
def _(op, grad):
    return op._inputs[0] * grad
