"""QuantizedConv2D, QuantizedMatMul, QuantizedRelu, ...: layers on integers of 8 bits, whose sums have 32."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.math.elementwise_binary import broadcast
from stillflow.ops.nn import window
from stillflow.ops.quantized.quantize import QUANTIZED, check_scalars
from stillflow.ops.registry import define_op

_RANGES = "quint8 integers with what the least and the largest stand for, float32 scalars"
_POOL = "ksize: list(int); strides: list(int); padding: {'SAME', 'VALID'}"


def _define(name, inputs, output, attrs, kernel, **options):
    return define_op(f"{name}({inputs}) -> ({output})", attrs, kernel=kernel, differentiable=None, **options)


def _ranges(*names):
    return ", ".join(f"{bound}_{name}: float32" for name in names for bound in ("min", "max"))


quantized_conv2d = _define(
    "QuantizedConv2D",
    f"input: Tinput, filter: Tfilter, {_ranges('input', 'filter')}",
    f"output: out_type, {_ranges('output')}",
    f"Tinput: {QUANTIZED}; Tfilter: {QUANTIZED}; out_type: {QUANTIZED} = qint32; strides: list(int); "
    "padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]",
    "quantized_conv2d(input, filter, min_input, max_input, min_filter, max_filter | strides, padding, dilations)",
    public="nn.quantized_conv2d",
    doc=f"""(output, min_output, max_output): the convolution of images and filters, {_RANGES}; qint32.

    Raises InvalidArgumentError at run time for strides that differ, dilations, or depths that do.
    """,
)
quantized_max_pool = _define(
    "QuantizedMaxPool",
    f"input: T, {_ranges('input')}",
    f"output: T, {_ranges('output')}",
    f"T: {QUANTIZED}; {_POOL}",
    "quantized_max_pool(input, min_input, max_input | ksize, strides, padding)",
    public="nn.quantized_max_pool",
    doc=f"""(output, min_output, max_output): the largest under each window over images, {_RANGES}.""",
)
quantized_avg_pool = _define(
    "QuantizedAvgPool",
    f"input: T, {_ranges('input')}",
    f"output: T, {_ranges('output')}",
    f"T: {QUANTIZED}; {_POOL}",
    "quantized_avg_pool(input, min_input, max_input | ksize, strides, padding)",
    public="nn.quantized_avg_pool",
    doc=f"""(output, min_output, max_output): the mean under each window over images, cut off, {_RANGES}.""",
)
quantized_relu = _define(
    "QuantizedRelu",
    f"features: Tinput, {_ranges('features')}",
    f"activations: out_type, {_ranges('activations')}",
    f"Tinput: {QUANTIZED}; out_type: {QUANTIZED} = quint8",
    "quantized_relu(features, min_features, max_features | out_type)",
)
quantized_relu6 = _define(
    "QuantizedRelu6",
    f"features: Tinput, {_ranges('features')}",
    f"activations: out_type, {_ranges('activations')}",
    f"Tinput: {QUANTIZED}; out_type: {QUANTIZED} = quint8",
    "quantized_relu6(features, min_features, max_features | out_type)",
)
quantized_relu_x = _define(
    "QuantizedReluX",
    f"features: Tinput, max_value: float32, {_ranges('features')}",
    f"activations: out_type, {_ranges('activations')}",
    f"Tinput: {QUANTIZED}; out_type: {QUANTIZED} = quint8",
    "quantized_relu_x(features, max_value, min_features, max_features | out_type)",
    public="nn.quantized_relu_x",
    doc=f"""(activations, min_activations, max_activations): from 0 to `max_value`; {_RANGES}, or qint32.""",
)
quantized_mat_mul = _define(
    "QuantizedMatMul",
    f"a: T1, b: T2, {_ranges('a', 'b')}",
    f"out: Toutput, {_ranges('out')}",
    f"T1: {QUANTIZED}; T2: {QUANTIZED}; Toutput: {QUANTIZED} = qint32; transpose_a: bool = false; "
    f"transpose_b: bool = false; Tactivation: {QUANTIZED} = quint8",
    "quantized_matmul(a, b, min_a, max_a, min_b, max_b | transpose_a, transpose_b)",
)
quantized_bias_add = _define(
    "QuantizedBiasAdd",
    f"input: T1, bias: T2, {_ranges('input', 'bias')}",
    "output: out_type, min_out: float32, max_out: float32",
    f"T1: {QUANTIZED}; T2: {QUANTIZED}; out_type: {QUANTIZED}",
    "quantized_bias_add(input, bias, min_input, max_input, min_bias, max_bias)",
)
quantized_add = _define(
    "QuantizedAdd",
    f"x: T1, y: T2, {_ranges('x', 'y')}",
    f"z: Toutput, {_ranges('z')}",
    f"T1: {QUANTIZED}; T2: {QUANTIZED}; Toutput: {QUANTIZED} = qint32",
    "quantized_add(x, y, min_x, max_x, min_y, max_y)",
)
quantized_mul = _define(
    "QuantizedMul",
    f"x: T1, y: T2, {_ranges('x', 'y')}",
    f"z: Toutput, {_ranges('z')}",
    f"T1: {QUANTIZED}; T2: {QUANTIZED}; Toutput: {QUANTIZED} = qint32",
    "quantized_mul(x, y, min_x, max_x, min_y, max_y)",
)


@quantized_conv2d.shape_rule
def _(context):
    check_scalars(context, 2)
    images, filters = (plain.with_rank(dims, 4) for dims in context.shapes[:2])
    strides = window.numbers_of(context, "strides", 4, "Conv2D requires the stride attribute to contain")
    plain.merged_size(images[3], filters[2])
    places = [
        window.place_count(images[axis], filters[axis - 1], strides[axis], context.attrs["padding"])
        for axis in (1, 2)
    ]
    return [(images[0], *places, filters[3]), (), ()]


@quantized_max_pool.shape_rule
@quantized_avg_pool.shape_rule
def _(context):
    check_scalars(context, 1)
    images = plain.with_rank(context.shapes[0], 4)
    kind = context.op_def.name.removeprefix("Quantized")
    strides = window.numbers_of(context, "strides", 4, f"{kind} requires the stride attribute to contain")
    sizes = window.numbers_of(context, "ksize", 4, f"{kind} requires the ksize attribute to contain")
    return [window.pooled_dims(images, sizes, strides, context.attrs["padding"], False), (), ()]


@quantized_relu.shape_rule
@quantized_relu6.shape_rule
@quantized_relu_x.shape_rule
def _(context):
    check_scalars(context, 1)
    return [context.shapes[0], (), ()]


@quantized_mat_mul.shape_rule
def _(context):
    check_scalars(context, 2)
    a, b = (plain.with_rank(dims, 2) for dims in context.shapes[:2])
    a = a[::-1] if context.attrs["transpose_a"] else a
    b = b[::-1] if context.attrs["transpose_b"] else b
    if None not in (a[1], b[0]) and a[1] != b[0]:
        raise ShapeError(f"Dimensions must be equal, but are {a[1]} and {b[0]}")
    return [(a[0], b[1]), (), ()]


@quantized_bias_add.shape_rule
def _(context):
    check_scalars(context, 2)
    dims = plain.with_rank_at_least(context.shapes[0], 2)
    (channels,) = plain.with_rank(context.shapes[1], 1)
    return [None if dims is None else (*dims[:-1], plain.merged_size(dims[-1], channels)), (), ()]


@quantized_add.shape_rule
@quantized_mul.shape_rule
def _(context):
    return [broadcast(*context.shapes[:2]), (), ()]
