"""MaxPoolWithArgmax: max pooling with the flat indices of the maxima, and its gradients."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.nn import window
from stillflow.ops.nn.max_pool import pooled_shape
from stillflow.ops.registry import define_op

_REALS = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"
_SIZES = "ksize: list(int) >= 4; strides: list(int) >= 4"
_CALL = "ksize, strides, padding, include_batch_in_index"

max_pool_with_argmax_op = define_op(
    "MaxPoolWithArgmax(input: T) -> (output: T, argmax: Targmax)",
    f"{_SIZES}; Targmax: {{int32, int64}} = int64; {window.PADDING}; include_batch_in_index: bool = false; "
    f"T: {_REALS}",
    kernel=f"max_pool_with_argmax(input | {_CALL}, Targmax)",
)
_GRAD_ATTRS = (
    f"{_SIZES}; {window.PADDING}; include_batch_in_index: bool = false; Targmax: {{int32, int64}}; T: {_REALS}"
)
max_pool_grad_with_argmax = define_op(
    "MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax) -> (output: T)",
    _GRAD_ATTRS,
    kernel=f"max_pool_grad_with_argmax(input, grad, argmax | {_CALL})",
    differentiable=None,
)
max_pool_grad_grad_with_argmax = define_op(
    "MaxPoolGradGradWithArgmax(input: T, grad: T, argmax: Targmax) -> (output: T)",
    _GRAD_ATTRS,
    kernel=f"max_pool_grad_grad_with_argmax(input, grad, argmax | {_CALL})",
    differentiable=None,
)


@max_pool_with_argmax_op.shape_rule
def _(context):
    pooled = pooled_shape(context)
    return [pooled, pooled]


@max_pool_grad_with_argmax.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 4)


@max_pool_grad_grad_with_argmax.shape_rule
def _(context):
    pooled = pooled_shape(context)
    plain.merged(context.shapes[0], context.shapes[1])
    plain.merged(context.shapes[2], pooled)
    return pooled


@max_pool_with_argmax_op.gradient
def _(op, grad, _argmax_grad):
    attrs = {name: op.get_attr(name) for name in ("ksize", "strides", "padding", "include_batch_in_index")}
    return max_pool_grad_with_argmax(op._inputs[0], grad, op._outputs[1], **attrs)


@public("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input, ksize, strides, padding, data_format="NHWC", Targmax=None, name=None, output_dtype=None,  # noqa: N803
    include_batch_in_index=False,
):  # fmt: skip
    """(`max_pool`, the numbers of the elements that the maxima are).

    Args:
      input: [batch, rows, columns, channels].
      ksize, strides: a number for each dimension.
      padding: "SAME" or "VALID".
      data_format: "NHWC".
      Targmax: tf.int32 or tf.int64, the type of the numbers.
      include_batch_in_index: whether elements are counted in the batch, and not in their image.

    Raises:
      ValueError: for another format, or for sizes that do not fit.
    """
    if data_format != "NHWC":
        raise ValueError("Data formats other than 'NHWC' are not yet supported")
    index_type = renamed("output_dtype", output_dtype, "Targmax", Targmax)
    return max_pool_with_argmax_op(
        input, ksize=ksize, strides=strides, padding=padding,
        Targmax=dtypes.int64 if index_type is None else index_type,
        include_batch_in_index=include_batch_in_index, name=name,
    )  # fmt: skip
