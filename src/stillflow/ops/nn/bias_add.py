"""BiasAdd: a bias per channel, NHWC or NCHW."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

_NUMBERS = (
    "T: {float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64}"
)
_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"

bias_add_op = define_op(
    "BiasAdd(value: T, bias: T) -> (output: T)",
    f"{_NUMBERS}; {_FORMAT}",
    kernel="bias_add(value, bias | data_format)",
)
bias_add_v1_op = define_op(
    "BiasAddV1(value: T, bias: T) -> (output: T)", _NUMBERS, kernel="bias_add(value, bias | 'NHWC')"
)
bias_add_grad = define_op(
    "BiasAddGrad(out_backprop: T) -> (output: T)",
    f"{_NUMBERS}; {_FORMAT}",
    kernel="bias_add_grad(out_backprop | data_format)",
)


def _channel_axis(context):
    return 1 if context.attrs.get("data_format") == b"NCHW" else -1


@bias_add_op.shape_rule
@bias_add_v1_op.shape_rule
def _(context):
    value, bias = context.shapes
    value = plain.with_rank_at_least(value, 2)
    (channels,) = plain.with_rank(bias, 1)
    if value is None:
        return None
    axis = _channel_axis(context) % len(value)
    return (*value[:axis], plain.merged_size(value[axis], channels), *value[axis + 1 :])


@bias_add_grad.shape_rule
def _(context):
    dims = context.shapes[0]
    if dims is None:
        return (None,)
    if len(dims) < 2:
        raise ShapeError(f"Shape must be at least rank 2 but is rank {len(dims)}")
    return (dims[_channel_axis(context)],)


# ---- Gradients ----------------------------------------------------------------------------------------------


@bias_add_op.gradient
def _(op, grad):
    return grad, bias_add_grad(grad, data_format=op.get_attr("data_format"))


@bias_add_v1_op.gradient
def _(op, grad):
    return grad, ops.reduce_sum(grad, ops.range(ops.rank(grad) - 1))


@bias_add_grad.gradient
def _(op, grad):
    """The bias's gradient repeated over everything that was summed."""
    shape = ops.shape(op._inputs[0])
    channels = ops.shape(grad)
    if op.get_attr("data_format") == b"NCHW":
        before, after = shape[:1], shape[2:]
        kept = ops.concat([ops.ones_like(before), channels, ops.ones_like(after)], 0)
        repeats = ops.concat([shape[:1], [1], shape[2:]], 0)
    else:
        kept = ops.concat([ops.ones_like(shape[:-1]), channels], 0)
        repeats = ops.concat([shape[:-1], [1]], 0)
    return ops.tile(ops.reshape(grad, kept), repeats)


# ---- Functions ----------------------------------------------------------------------------------------------


@public("nn.bias_add")
def bias_add(value, bias, data_format=None, name=None):
    """`value` with bias[i] added to its channel i.

    Args:
      value: a tensor of two dimensions or more.
      bias: a vector of the same type, with a number for each channel.
      data_format: "N...C", the default: channels are the last dimension; or "NC...": they are the second.

    Raises:
      ValueError: for another format, or if there are not as many biases as channels.
    """
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None:
            data_format = _plain_format(data_format)
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return bias_add_op(value, bias, data_format=data_format, name=scope)


def _plain_format(data_format):
    if data_format.startswith("NC"):
        return "NCHW"
    if data_format.startswith("N") and data_format.endswith("C"):
        return "NHWC"
    raise ValueError("data_format must be of the form `N...C` or `NC...`")


def bias_add_v1(value, bias, name=None):
    """`bias_add` as it was before there were formats."""
    with name_scope(name, "BiasAddV1", [value, bias]) as scope:
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype, name="bias")
        return bias_add_v1_op(value, bias, name=scope)
