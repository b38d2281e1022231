"""FusedBatchNorm: batch normalization in one op, in the three versions that TensorFlow has, and its gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.formula import gradient_of
from stillflow.ops.nn import window
from stillflow.ops.registry import define_op

_ATTRS = f"epsilon: float = 9.999999747378752e-05; {window.DATA_FORMAT}; is_training: bool = true"
_FLOAT = "T: {float32}"
_MIXED = "T: {float16, bfloat16, float32}; U: {float32}"
_INPUTS = "x: T, scale: {0}, offset: {0}, mean: {0}, variance: {0}"
_OUTPUTS = "y: T, batch_mean: {0}, batch_variance: {0}, reserve_space_1: {0}, reserve_space_2: {0}"
_KERNEL = "fused_batch_norm(x, scale, offset, mean, variance | epsilon, data_format, is_training)"

fused_batch_norm_op = define_op(
    f"FusedBatchNorm({_INPUTS.format('T')}) -> ({_OUTPUTS.format('T')})", f"{_FLOAT}; {_ATTRS}", kernel=_KERNEL
)
fused_batch_norm_v2 = define_op(
    f"FusedBatchNormV2({_INPUTS.format('U')}) -> ({_OUTPUTS.format('U')})", f"{_MIXED}; {_ATTRS}", kernel=_KERNEL
)
fused_batch_norm_v3 = define_op(
    f"FusedBatchNormV3({_INPUTS.format('U')}) -> ({_OUTPUTS.format('U')}, reserve_space_3: U)",
    f"{_MIXED}; {_ATTRS}",
    kernel=_KERNEL,
)

_GRAD_INPUTS = "y_backprop: T, x: T, scale: {}, reserve_space_1: {}, reserve_space_2: {}"
_GRAD_OUTPUTS = "x_backprop: T, scale_backprop: {0}, offset_backprop: {0}"
_GRAD_KERNEL = (
    "fused_batch_norm_grad(y_backprop, x, scale, reserve_space_1, reserve_space_2 | "
    "epsilon, data_format, is_training)"
)

fused_batch_norm_grad = define_op(
    f"FusedBatchNormGrad({_GRAD_INPUTS.format('T', 'T', 'T')}) -> "
    f"({_GRAD_OUTPUTS.format('T')}, reserve_space_3: T, reserve_space_4: T)",
    f"{_FLOAT}; {_ATTRS}",
    kernel=_GRAD_KERNEL,
)
fused_batch_norm_grad_v2 = define_op(
    f"FusedBatchNormGradV2({_GRAD_INPUTS.format('float32', 'U', 'U')}) -> "
    f"({_GRAD_OUTPUTS.format('U')}, reserve_space_3: U, reserve_space_4: U)",
    f"{_MIXED}; {_ATTRS}",
    kernel=_GRAD_KERNEL,
)
fused_batch_norm_grad_v3 = define_op(
    f"FusedBatchNormGradV3({_GRAD_INPUTS.format('float32', 'U', 'U')}, reserve_space_3: U) -> "
    f"({_GRAD_OUTPUTS.format('U')}, reserve_space_4: U, reserve_space_5: U)",
    f"{_MIXED}; {_ATTRS}",
    kernel=_GRAD_KERNEL,
)


# ---- Shapes -----------------------------------------------------------------------------------------------


def _with_channels(context, images, vectors):
    """(images, [channels]) with what those inputs know of the channels."""
    axis = 1 if window.is_channels_first(context.attrs) else 3
    channels = images[axis]
    for index in vectors:
        channels = plain.merged_size(channels, *plain.with_rank(context.shapes[index], 1))
    return (*images[:axis], channels, *images[axis + 1 :]), (channels,)


@fused_batch_norm_op.shape_rule
@fused_batch_norm_v2.shape_rule
def _(context):
    images = plain.with_rank(context.shapes[0], 4)
    images, vector = _with_channels(context, images, (1, 2) if context.attrs["is_training"] else (1, 2, 3, 4))
    return [images, *[vector] * 4]


@fused_batch_norm_v3.shape_rule
def _(context):
    return [*fused_batch_norm_v2.op_def.shape_rule(context), None]


@fused_batch_norm_grad.shape_rule
@fused_batch_norm_grad_v2.shape_rule
@fused_batch_norm_grad_v3.shape_rule
def _(context):
    grad, x = (plain.with_rank(dims, 4) for dims in context.shapes[:2])
    axis = 1 if window.is_channels_first(context.attrs) else 3
    merged = (*grad[:axis], plain.merged_size(grad[axis], x[axis]), *grad[axis + 1 :])
    images, vector = _with_channels(context, merged, (2, 3, 4))
    reserved = (0,) if context.attrs["is_training"] else vector
    return [images, vector, vector, reserved, reserved]


# ---- Gradients --------------------------------------------------------------------------------------------


def _gradient_by(gradient_op, reserves=()):
    """The gradient of the op; `reserves` are outputs that `gradient_op` takes besides."""

    def gradient(op, grad, *_):
        x, scale, _, mean, variance = op._inputs
        outputs = op._outputs
        data_format = op.get_attr("data_format")
        attrs = {"epsilon": op.get_attr("epsilon"), "is_training": op.get_attr("is_training")}
        reserved = [outputs[i] for i in reserves]
        if attrs["is_training"]:
            return gradient_op(grad, x, scale, outputs[3], outputs[4], *reserved, data_format=data_format, **attrs)
        channels_first = data_format == b"NCHW"
        if channels_first:
            x, grad = ops.transpose(x, [0, 2, 3, 1]), ops.transpose(grad, [0, 2, 3, 1])
        found = gradient_op(grad, x, scale, mean, variance, *reserved, data_format="NHWC", **attrs)
        x_grad = ops.transpose(found[0], [0, 3, 1, 2]) if channels_first else found[0]
        return x_grad, found[1], found[2], None, None

    return gradient


fused_batch_norm_op.gradient(_gradient_by(fused_batch_norm_grad))
fused_batch_norm_v2.gradient(_gradient_by(fused_batch_norm_grad_v2))
fused_batch_norm_v3.gradient(_gradient_by(fused_batch_norm_grad_v3, (5,)))


def _written_out(op):
    """The gradients by x, scale and offset in other ops, node by node as TensorFlow writes them out."""
    grad, x, scale, mean, variance, *_ = op._inputs
    dtype, epsilon = x.dtype, op.get_attr("epsilon")
    if dtype != dtypes.float32:
        x = ops.cast(x, dtypes.float32)
        grad = ops.cast(grad, dtypes.float32)
    channels_first = op.get_attr("data_format") == b"NCHW"
    axes = [0, 2, 3] if channels_first else [0, 1, 2]
    if op.get_attr("is_training"):
        by_x, by_scale = _by_the_batch(grad, x, scale, epsilon, axes, channels_first)
        by_offset = ops.reduce_sum(grad, axes)
    else:
        if channels_first:
            shape = [1, ops.size(mean), 1, 1]
            mean, variance, scale = (ops.reshape(vector, shape) for vector in (mean, variance, scale))
        by_offset = ops.reduce_sum(grad, axes)
        inverse = ops.rsqrt(variance + epsilon)
        by_scale = ops.reduce_sum(grad * (x - mean) * inverse, axes)
        by_x = grad * scale * inverse
    return ops.cast(by_x, dtype), by_scale, by_offset


def _by_the_batch(grad, x, scale, epsilon, axes, channels_first):
    """The gradients by x and scale where x is normalized by its own mean and variance."""
    if channels_first:
        scale = ops.reshape(scale, [1, ops.size(scale), 1, 1])

    def mean_of(images):
        return ops.reduce_mean(images, axes, keepdims=channels_first)

    mean_grad, mean = mean_of(grad), mean_of(x)
    variance = mean_of(ops.squared_difference(x, ops.stop_gradient(mean)))
    grad_offset, offset = grad - mean_grad, x - mean
    product = mean_of(grad * offset)
    by_x = scale * ops.rsqrt(variance + epsilon) * (
        grad_offset - ops.reciprocal(variance + epsilon) * product * offset
    )  # fmt: skip
    by_scale = ops.rsqrt(variance + epsilon) * ops.reduce_sum(grad * offset, axes, keepdims=channels_first)
    return by_x, ops.squeeze(by_scale) if channels_first else by_scale


for _gradient_op in (fused_batch_norm_grad, fused_batch_norm_grad_v2, fused_batch_norm_grad_v3):
    _gradient_op.gradient(gradient_of(_written_out, 3))


# ---- Functions --------------------------------------------------------------------------------------------

_LEAST_EPSILON = 1.001e-5


@public("nn.fused_batch_norm")
def fused_batch_norm(
    x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True, name=None
):
    """Batch normalization of images: (x - mean) / sqrt(variance + epsilon) * scale + offset.

    Args:
      x: float32, float16 or bfloat16 [batch, rows, columns, channels], or [batch, channels, rows, columns].
      scale, offset: float32 [channels].
      mean, variance: float32 [channels], for what is not training; in training those of x are taken.
      epsilon: at least 1.001e-5.
      data_format: "NHWC" or "NCHW".
      is_training: whether to normalize by the batch's own mean and variance.

    Returns:
      (y, the batch's mean, the batch's variance, of a sample).

    Raises:
      ValueError: if mean or variance are given for training; or for shapes that do not fit.
    """
    x = convert_to_tensor(x, name="input")
    scale = convert_to_tensor(scale, name="scale")
    offset = convert_to_tensor(offset, name="offset")
    if is_training and (mean is not None or variance is not None):
        raise ValueError("Both 'mean' and 'variance' must be None if is_training is True.")
    mean = ops.constant([]) if mean is None else mean
    variance = ops.constant([]) if variance is None else variance
    y, batch_mean, batch_variance, *_ = fused_batch_norm_v3(
        x, scale, offset, mean, variance, epsilon=max(epsilon, _LEAST_EPSILON), data_format=data_format,
        is_training=is_training, name=name,
    )  # fmt: skip
    return y, batch_mean, batch_variance
