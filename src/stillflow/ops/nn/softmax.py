"""Softmax and LogSoftmax over the last axis."""

from __future__ import annotations

from stillflow import errors, ops
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

_FLOATS = "T: {float16, bfloat16, float32, float64}"

softmax_op = define_op("Softmax(logits: T) -> (softmax: T)", _FLOATS, kernel="softmax(logits)")
log_softmax_op = define_op("LogSoftmax(logits: T) -> (logsoftmax: T)", _FLOATS, kernel="log_softmax(logits)")


@softmax_op.shape_rule
@log_softmax_op.shape_rule
def _(context):
    return plain.with_rank_at_least(context.shapes[0], 1)


@softmax_op.gradient
def _(op, grad):
    result = op._outputs[0]
    return (grad - ops.reduce_sum(grad * result, -1, keepdims=True)) * result


@log_softmax_op.gradient
def _(op, grad):
    probabilities = ops.exp(op._outputs[0])
    return grad - ops.reduce_sum(grad, -1, keepdims=True) * probabilities


# ---- Functions ----------------------------------------------------------------------------------------------


@public("math.softmax", "nn.softmax")
def softmax(logits, axis=None, name=None, dim=None):
    """exp(x) / sum(exp(x)) along `axis`, the last one by default.

    Args:
      logits: a floating-point tensor of one dimension or more.

    Raises:
      InvalidArgumentError: if there is no such axis.
    """
    axis = renamed("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    return _along_axis(softmax_op, logits, axis, name)


@public("math.log_softmax", "nn.log_softmax")
def log_softmax(logits, axis=None, name=None, dim=None):
    """log(softmax(x)) along `axis`, the last one by default, without underflow. Raises as `softmax` does."""
    axis = renamed("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    return _along_axis(log_softmax_op, logits, axis, name)


def _along_axis(op, logits, axis, name):
    logits = convert_to_tensor(logits)
    shape = logits.shape
    rank = shape.rank
    if not isinstance(axis, Tensor) and (axis == -1 or (rank is not None and axis == rank - 1)):
        return op(logits, name=name)
    known = constant_value(axis) if isinstance(axis, Tensor) else axis
    if known is not None and rank is not None and not -rank <= known < rank:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Dimension ({known}) must be in the range [{-rank}, {rank}) where {rank} is the number of dimensions "
            "in the input.",
        )
    rank_tensor = ops.rank(logits)
    if isinstance(axis, Tensor):
        axis = ops.where(ops.less(axis, 0), axis + rank_tensor, axis)
    elif axis < 0:
        axis += rank_tensor
    input_rank = ops.rank(logits)
    axis = axis % (input_rank if rank is None else rank)
    # The axis changes places with the last one, where the op works, and back.
    swapped = op(_swapped(logits, axis, ops.sub(input_rank, 1)))
    result = _swapped(swapped, axis, ops.sub(input_rank, 1), name)
    result.set_shape(shape)
    return result


def _swapped(tensor, axis, last, name=None):
    order = ops.concat([ops.range(axis), [last], ops.range(axis + 1, last), [axis]], 0)
    return ops.transpose(tensor, order, name=name)
