"""NthElement: of each row the element that would be at a place if the row were sorted."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

nth_element_op = define_op(
    "NthElement(input: T, n: int32) -> (values: T)",
    "reverse: bool = false; T: {float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, "
    "uint32, uint64}",
    kernel="nth_element(input, n | reverse)",
)


@nth_element_op.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 1)
    n = context.value(1)
    if n is not None and n.ndim:
        raise ShapeError(f"Input must be scalar but has rank {n.ndim}")
    plain.with_rank(context.shapes[1], 0)
    if dims is None:
        return None
    if n is not None and n < 0:
        raise ShapeError(f"n must be non-negative but is {n}")
    if n is not None and dims[-1] is not None and dims[-1] <= n:
        raise ShapeError(f"Input must have last dimension > n = {n} but is {dims[-1]}")
    return dims[:-1]


@nth_element_op.gradient
def _(op, grad):
    """Equal elements of a row share its gradient."""
    value, result = ops.expand_dims(op.outputs[0], -1), op.inputs[0]
    is_equal = ops.cast(ops.equal(value, result), grad.dtype)
    count = ops.expand_dims(ops.reduce_sum(is_equal, -1), -1)
    return [ops.div(is_equal, count) * ops.expand_dims(grad, -1), None]


@public("contrib.nn.nth_element", "python.ops.nn_ops.nth_element")
def nth_element(input, n, reverse=False, name=None):
    """The n-th smallest element of each row of `input`, or the n-th greatest if `reverse`.

    Args:
      input: a tensor of numbers with at least one dimension.
      n: an int32 scalar, from 0; less than the size of the last dimension.

    Returns:
      A tensor like `input` without the last dimension.
    """
    return nth_element_op(input, n, reverse=reverse, name=name)
