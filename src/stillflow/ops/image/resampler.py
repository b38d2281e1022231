"""Resampler: images between their pixels, at given places."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

_TYPES = "T: {float16, bfloat16, float32, float64}"

resampler_op = define_op(
    "Resampler(data: T, warp: T) -> (output: T)",
    _TYPES,
    kernel="resampler(data, warp)",
)
resampler_grad = define_op(
    "ResamplerGrad(data: T, warp: T, grad_output: T) -> (grad_data: T, grad_warp: T)",
    _TYPES,
    kernel="resampler_grad(data, warp, grad_output)",
    differentiable=False,
)


@resampler_op.shape_rule
def _(context):
    data, warp = (plain.with_rank_at_least(shape, 1) for shape in context.shapes)
    if warp is None:
        return None
    return (*warp[:-1], None if data is None else data[-1])


@resampler_grad.shape_rule
def _(context):
    return list(context.shapes[:2])


@resampler_op.gradient
def _(op, grad):
    return ops.resampler_grad(op.inputs[0], op.inputs[1], grad)


@public("contrib.resampler.resampler")
def resampler(data, warp, name="resampler"):
    """What images are at places between their pixels, bilinearly; zero outside of them.

    Args:
      data: float16, float32 or float64 [batch, height, width, channels].
      warp: of the same type, [batch, ..., 2]: column and row of each place.
      name: of the scope of the node.

    Returns:
      [batch, ..., channels]. The gradient is one for both arguments.

    Raises:
      tf.errors.InvalidArgumentError, tf.errors.UnimplementedError: for other shapes.
    """
    with name_scope(name, "resampler", [data, warp]):
        return resampler_op(convert_to_tensor(data, name="data"), convert_to_tensor(warp, name="warp"))
