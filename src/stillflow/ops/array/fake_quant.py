"""FakeQuantWithMinMaxArgs, -Vars and -VarsPerChannel: quantization to a few bits, simulated in float."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_BITS = "num_bits: int = 8; narrow_range: bool = false"
_ARGS = f"min: float = -6.0; max: float = 6.0; {_BITS}"

fake_quant_args = define_op(
    "FakeQuantWithMinMaxArgs(inputs: float32) -> (outputs: float32)",
    _ARGS,
    kernel="fake_quant_args(inputs | num_bits, narrow_range, min, max)",
    public="fake_quant_with_min_max_args quantization.fake_quant_with_min_max_args",
    doc="""The nearest of the numbers that `num_bits` bits can tell apart.

    Args:
      inputs: float32.
      min, max: the least and the largest, moved such that zero is one of the numbers; min < max.
      num_bits: from 2 to 16.
      narrow_range: whether there is one number less.

    Returns:
      float32, of the shape of `inputs`.

    Raises:
      At run time tf.errors.InvalidArgumentError for other bounds or bits.
    """,
)
fake_quant_args_gradient = define_op(
    "FakeQuantWithMinMaxArgsGradient(gradients: float32, inputs: float32) -> (backprops: float32)",
    _ARGS,
    kernel="fake_quant_args_grad(gradients, inputs | num_bits, narrow_range, min, max)",
    differentiable=None,
    public="fake_quant_with_min_max_args_gradient quantization.fake_quant_with_min_max_args_gradient",
    doc="""The gradients where `inputs` are between the bounds, else 0; see fake_quant_with_min_max_args.""",
)
fake_quant_vars = define_op(
    "FakeQuantWithMinMaxVars(inputs: float32, min: float32, max: float32) -> (outputs: float32)",
    _BITS,
    kernel="fake_quant_vars(inputs, min, max | num_bits, narrow_range)",
    public="fake_quant_with_min_max_vars quantization.fake_quant_with_min_max_vars",
    doc="""fake_quant_with_min_max_args with bounds that are float32 scalars; 0 for both makes all numbers 0.""",
)
fake_quant_vars_gradient = define_op(
    "FakeQuantWithMinMaxVarsGradient(gradients: float32, inputs: float32, min: float32, max: float32) -> "
    "(backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32)",
    _BITS,
    kernel="fake_quant_vars_grad(gradients, inputs, min, max | num_bits, narrow_range)",
    differentiable=None,
    public="fake_quant_with_min_max_vars_gradient quantization.fake_quant_with_min_max_vars_gradient",
    doc="""Gradients of the numbers, and of both bounds: the sums of the gradients of what lies beyond them.""",
)
fake_quant_channels = define_op(
    "FakeQuantWithMinMaxVarsPerChannel(inputs: float32, min: float32, max: float32) -> (outputs: float32)",
    _BITS,
    kernel="fake_quant_channels(inputs, min, max | num_bits, narrow_range)",
    public="fake_quant_with_min_max_vars_per_channel quantization.fake_quant_with_min_max_vars_per_channel",
    doc="""fake_quant_with_min_max_vars with bounds for each channel, the last dimension: float32 vectors.""",
)
fake_quant_channels_gradient = define_op(
    "FakeQuantWithMinMaxVarsPerChannelGradient(gradients: float32, inputs: float32, min: float32, max: float32) -> "
    "(backprops_wrt_input: float32, backprop_wrt_min: float32, backprop_wrt_max: float32)",
    _BITS,
    kernel="fake_quant_channels_grad(gradients, inputs, min, max | num_bits, narrow_range)",
    differentiable=None,
    public="fake_quant_with_min_max_vars_per_channel_gradient "
    "quantization.fake_quant_with_min_max_vars_per_channel_gradient",
    doc="fake_quant_with_min_max_vars_gradient for each channel.",
)


@fake_quant_args.shape_rule
def _(context):
    return context.shapes[0]


@fake_quant_args_gradient.shape_rule
def _(context):
    return plain.merged(*context.shapes)


@fake_quant_vars.shape_rule
def _(context):
    for bound in context.shapes[1:]:
        plain.with_rank(bound, 0)
    return context.shapes[0]


@fake_quant_vars_gradient.shape_rule
def _(context):
    for bound in context.shapes[2:]:
        plain.with_rank(bound, 0)
    return [plain.merged(*context.shapes[:2]), (), ()]


def _channels(numbers, bounds):
    """(the shape of numbers, the number of channels) as far as it is known."""
    numbers = plain.with_rank_at_least(numbers, 1)
    count = None if numbers is None else numbers[-1]
    for bound in bounds:
        count = plain.merged_size(count, plain.with_rank(bound, 1)[0])
    return numbers if numbers is None else (*numbers[:-1], count), count


@fake_quant_channels.shape_rule
def _(context):
    return _channels(context.shapes[0], context.shapes[1:])[0]


@fake_quant_channels_gradient.shape_rule
def _(context):
    numbers, count = _channels(plain.merged(*context.shapes[:2]), context.shapes[2:])
    return [numbers, (count,), (count,)]


def _bits(op):
    return {name: op._attrs[name] for name in ("num_bits", "narrow_range")}


@fake_quant_args.gradient
def _(op, grad):
    return fake_quant_args_gradient(grad, op._inputs[0], min=op._attrs["min"], max=op._attrs["max"], **_bits(op))


@fake_quant_vars.gradient
def _(op, grad):
    return tuple(fake_quant_vars_gradient(grad, *op._inputs, **_bits(op)))


@fake_quant_channels.gradient
def _(op, grad):
    return tuple(fake_quant_channels_gradient(grad, *op._inputs, **_bits(op)))
