"""LRN: local response normalization across channels, and its gradient."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_ATTRS = (
    "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
    "T: {float16, bfloat16, float32} = float32"
)
_NAMES = ("depth_radius", "bias", "alpha", "beta")

lrn = define_op(
    "LRN(input: T) -> (output: T)",
    _ATTRS,
    kernel=f"lrn(input | {', '.join(_NAMES)})",
    public="nn.local_response_normalization nn.lrn",
    doc="""Local response normalization: divides by a power of a sum of squares over neighboring channels.

    output[b, y, x, c] = input[b, y, x, c] / (bias + alpha * s) ** beta, where s is the sum of
    input[b, y, x, c - depth_radius : c + depth_radius + 1] ** 2 (Krizhevsky, Sutskever and Hinton, "ImageNet
    classification with deep convolutional neural networks", 2012).

    Args:
      input: float32 or float16 [batch, rows, columns, channels].
      depth_radius: how many channels on each side are summed.
      bias, alpha, beta: numbers.

    Raises:
      ValueError, InvalidArgumentError: if the input is not of four dimensions.
    """,
)
lrn_grad = define_op(
    "LRNGrad(input_grads: T, input_image: T, output_image: T) -> (output: T)",
    _ATTRS,
    kernel=f"lrn_grad(input_grads, input_image, output_image | {', '.join(_NAMES)})",
    differentiable=None,
)


@lrn.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 4)


@lrn_grad.shape_rule
def _(context):
    grads, images, normalized = (plain.with_rank(dims, 4) for dims in context.shapes)
    return plain.merged(plain.merged(grads, images), normalized)


@lrn.gradient
def _(op, grad):
    return lrn_grad(grad, op._inputs[0], op._outputs[0], **{name: op.get_attr(name) for name in _NAMES})
