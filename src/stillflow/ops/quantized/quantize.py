"""QuantizeV2, Dequantize, Requantize, QuantizeAndDequantize and their kin: to integers of few bits, and back."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

QUANTIZED = "{qint8, quint8, qint32, qint16, quint16}"
_FLOATS = "T: {bfloat16, float16, float32, float64}"
_MODE = "mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'"

quantize_v2_op = define_op(
    "QuantizeV2(input: float32, min_range: float32, max_range: float32) -> "
    "(output: T, output_min: float32, output_max: float32)",
    f"T: {QUANTIZED}; {_MODE}; round_mode: {{'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'}} = 'HALF_AWAY_FROM_ZERO'",
    kernel="quantize(input, min_range, max_range | T, mode, round_mode)",
    differentiable=None,
)
dequantize = define_op(
    "Dequantize(input: T, min_range: float32, max_range: float32) -> (output: float32)",
    f"T: {QUANTIZED}; {_MODE}",
    kernel="dequantize(input, min_range, max_range | mode)",
    differentiable=None,
    public="dequantize quantization.dequantize",
    doc="""The numbers that integers stand for.

    Args:
      input: integers of a quantized type.
      min_range, max_range: float32 scalars, what the least and the largest integer stand for.
      mode: as of `quantize`.
    """,
)
quantized_concat = define_op(
    "QuantizedConcat(concat_dim: int32, values: N * T, input_mins: N * float32, input_maxes: N * float32) -> "
    "(output: T, output_min: float32, output_max: float32)",
    "N: int >= 2; T: type",
    kernel="quantized_concat(concat_dim, values, input_mins, input_maxes)",
    differentiable=False,
    public="quantized_concat quantization.quantized_concat",
    doc="""(output, output_min, output_max): arrays of integers joined along a dimension, in a range that has all.

    Args:
      concat_dim: the dimension, an int32 scalar.
      values: arrays of quint8 or qint32.
      input_mins, input_maxes: of each, what its least and largest integer stand for.

    Raises InvalidArgumentError at run time for shapes that do not fit.
    """,
)
quantize_and_dequantize_op = define_op(
    "QuantizeAndDequantize(input: T) -> (output: T)",
    "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; input_min: float = 0.0; "
    f"input_max: float = 0.0; {_FLOATS}",
    kernel="quantize_and_dequantize(input | signed_input, num_bits, range_given, input_min, input_max)",
)
quantize_and_dequantize_v2 = define_op(
    "QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T) -> (output: T)",
    f"signed_input: bool = true; num_bits: int = 8; range_given: bool = false; {_FLOATS}; "
    "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'; narrow_range: bool = false",
    kernel="quantize_and_dequantize_v2(input, input_min, input_max | signed_input, num_bits, range_given, "
    "round_mode, narrow_range)",
)
quantize_and_dequantize_v3 = define_op(
    "QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32) -> (output: T)",
    f"signed_input: bool = true; range_given: bool = true; {_FLOATS}; narrow_range: bool = false",
    kernel="quantize_and_dequantize_v3(input, input_min, input_max, num_bits | signed_input, range_given, "
    "narrow_range)",
)
requantize = define_op(
    "Requantize(input: Tinput, input_min: float32, input_max: float32, requested_output_min: float32, "
    "requested_output_max: float32) -> (output: out_type, output_min: float32, output_max: float32)",
    f"Tinput: {QUANTIZED}; out_type: {QUANTIZED}",
    kernel="requantize(input, input_min, input_max, requested_output_min, requested_output_max | out_type)",
    differentiable=None,
)
requantization_range = define_op(
    "RequantizationRange(input: Tinput, input_min: float32, input_max: float32) -> "
    "(output_min: float32, output_max: float32)",
    f"Tinput: {QUANTIZED}",
    kernel="requantization_range(input, input_min, input_max)",
    differentiable=None,
)
quantize_down_and_shrink_range = define_op(
    "QuantizeDownAndShrinkRange(input: Tinput, input_min: float32, input_max: float32) -> "
    "(output: out_type, output_min: float32, output_max: float32)",
    f"Tinput: {QUANTIZED}; out_type: {QUANTIZED}",
    kernel="quantize_down_and_shrink_range(input, input_min, input_max | out_type)",
    differentiable=None,
)


def check_scalars(context, first):
    """That the inputs from `first` on are scalars. Raises ShapeError."""
    for dims in context.shapes[first:]:
        plain.with_rank(dims, 0)


@quantize_v2_op.shape_rule
@requantize.shape_rule
@quantize_down_and_shrink_range.shape_rule
def _(context):
    check_scalars(context, 1)
    return [context.shapes[0], (), ()]


@requantization_range.shape_rule
def _(context):
    check_scalars(context, 1)
    return [(), ()]


@dequantize.shape_rule
@quantize_and_dequantize_v2.shape_rule
@quantize_and_dequantize_v3.shape_rule
def _(context):
    check_scalars(context, 1)
    return context.shapes[0]


quantize_and_dequantize_op.shape_rule(unchanged_shape)


@quantized_concat.shape_rule
def _(context):
    count = (len(context.shapes) - 1) // 3
    check_scalars(context, 1 + count)
    plain.with_rank(context.shapes[0], 0)
    arrays = context.shapes[1 : 1 + count]
    axis = context.value(0)
    rank = next((len(dims) for dims in arrays if dims is not None), None)
    if rank is None:
        return [None, (), ()]
    if rank == 0:
        raise ShapeError("Can't concatenate scalars (use tf.stack instead)")
    arrays = [plain.with_rank(dims, rank) for dims in arrays]
    if axis is None or not 0 <= axis < rank:
        return [(None,) * rank, (), ()]
    axis = int(axis)
    before, after = arrays[0][:axis], arrays[0][axis + 1 :]
    for dims in arrays[1:]:
        before, after = plain.merged(before, dims[:axis]), plain.merged(after, dims[axis + 1 :])
    return [(*before, plain.total(dims[axis] for dims in arrays), *after), (), ()]


@quantize_and_dequantize_op.gradient
def _(op, grad):
    return grad


@quantize_and_dequantize_v2.gradient
def _(op, grad):
    return grad, None, None


@quantize_and_dequantize_v3.gradient
def _(op, grad):
    return grad, None, None, None


@public("quantize", "quantization.quantize")
def quantize(input, min_range, max_range, T, mode="MIN_COMBINED", round_mode="HALF_AWAY_FROM_ZERO", name=None):  # noqa: N803
    """Floats as integers of few bits.

    Args:
      input: float32.
      min_range, max_range: float32 scalars, the numbers between which integers tell apart. The range is widened
        until it has zero and is not empty.
      T: a quantized type: tf.quint8, tf.qint8, tf.quint16, tf.qint16 or tf.qint32.
      mode: "MIN_COMBINED" for the range over all integers, "MIN_FIRST" for the same with zero being one of them,
        "SCALED" for numbers that are only multiplied.
      round_mode: "HALF_AWAY_FROM_ZERO", or for mode "SCALED" "HALF_TO_EVEN".

    Returns:
      (output, output_min, output_max): the integers, and what the least and the largest of T stand for.

    Raises:
      InvalidArgumentError at run time: if the range is reversed, or for modes that do not go together.
    """
    return quantize_v2_op(input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name)


@public("quantize_v2")
def quantize_v2(input, min_range, max_range, T, mode="MIN_COMBINED", name=None, round_mode="HALF_AWAY_FROM_ZERO"):  # noqa: N803
    """`quantize` with its arguments in another order."""
    return quantize(input, min_range, max_range, T, mode, round_mode, name)


@public("quantization.quantize_and_dequantize")
def quantize_and_dequantize(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
):
    """Floats rounded to what integers of `num_bits` bits can tell apart; the gradient is passed on as it is.

    Args:
      input: float32 or float64.
      input_min, input_max: scalars of the same type: the range, if `range_given`, else it is that of `input`.
      signed_input: whether integers have a sign.
      round_mode: "HALF_TO_EVEN" or "HALF_UP".
      narrow_range: whether the least integer with a sign is left out.

    Raises:
      InvalidArgumentError at run time: for bits out of range, or a range that is reversed.
    """
    return quantize_and_dequantize_v2(
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )
