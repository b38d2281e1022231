"""TopK and InTopK: the largest elements of rows, and whether a class is among them."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_REALS = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"

top_k_op = define_op(
    "TopK(input: T) -> (values: T, indices: int32)",
    f"k: int >= 0; sorted: bool = true; T: {_REALS}",
    kernel="top_k(input | k)",
)
top_k_v2 = define_op(
    "TopKV2(input: T, k: int32) -> (values: T, indices: int32)",
    f"sorted: bool = true; T: {_REALS}",
    kernel="top_k_v2(input, k)",
)
in_top_k_op = define_op(
    "InTopK(predictions: float32, targets: T) -> (precision: bool)",
    "k: int; T: {int32, int64} = int32",
    kernel="in_top_k(predictions, targets | k)",
    differentiable=False,
)
in_top_k_v2 = define_op(
    "InTopKV2(predictions: float32, targets: T, k: T) -> (precision: bool)",
    "T: {int32, int64} = int32",
    kernel="in_top_k_v2(predictions, targets, k)",
    differentiable=False,
)


def _top_k_shapes(dims, k):
    dims = plain.with_rank_at_least(dims, 1)
    if dims is None:
        return [None, None]
    if k is not None and dims[-1] is not None and dims[-1] < k:
        raise ShapeError(f"input must have last dimension >= k = {k} but is {dims[-1]}")
    shape = (*dims[:-1], k)
    return [shape, shape]


@top_k_op.shape_rule
def _(context):
    return _top_k_shapes(context.shapes[0], context.attrs["k"])


@top_k_v2.shape_rule
def _(context):
    dims, k_dims = context.shapes
    plain.with_rank(k_dims, 0)
    k = context.value(1)
    if k is not None and int(k) < 0:
        raise ShapeError(f"Dimension size, given by scalar input 1 must be non-negative but is {int(k)}")
    return _top_k_shapes(dims, None if k is None else int(k))


@in_top_k_op.shape_rule
@in_top_k_v2.shape_rule
def _(context):
    predictions = plain.with_rank(context.shapes[0], 2)
    targets = plain.with_rank(context.shapes[1], 1)
    if len(context.shapes) == 3:
        plain.with_rank(context.shapes[2], 0)
    return (plain.merged_size(predictions[0], targets[0]),)


@top_k_op.gradient
@top_k_v2.gradient
def _(op, grad, _):
    """The gradient goes where the elements came from."""
    shape = ops.shape(op._inputs[0])
    chosen_shape = ops.shape(op._outputs[1])
    count = ops.gather(ops.cast(chosen_shape, dtypes.int64), ops.size(chosen_shape) - 1)
    chosen = ops.reshape(op._outputs[1], ops.stack([-1, count]))
    width = ops.gather(ops.cast(shape, dtypes.int64), ops.size(shape) - 1)
    rows = ops.shape(chosen)[0]
    offsets = ops.range(0, ops.cast(rows, dtypes.int64) * width, width)
    places = ops.reshape(chosen + ops.cast(ops.expand_dims(offsets, -1), dtypes.int32), [-1])
    places = ops.expand_dims(places, -1)
    flat = ops.scatter_nd(places, ops.reshape(grad, [-1]), [ops.reduce_prod(shape)])
    result = ops.reshape(flat, shape), ops.zeros([], dtypes.int32)
    return result[: len(op._inputs)]


# ---- Functions ----------------------------------------------------------------------------------------------


@public("math.top_k", "nn.top_k")
def top_k(input, k=1, sorted=True, name=None):
    """(values, int32 indices) of the k largest elements along the last dimension.

    Args:
      input: a tensor of real numbers with k elements or more in its last dimension.
      k: an int32 scalar.
      sorted: whether the elements must come in descending order.

    Returns:
      Two tensors [..., k]. Of equal elements the first comes first.

    Raises:
      ValueError or InvalidArgumentError: if there are fewer than k elements.
    """
    return top_k_v2(input, k, sorted=sorted, name=name)


@public("math.in_top_k", "nn.in_top_k")
def in_top_k(predictions, targets, k, name=None):
    """Whether the target is among the k classes with the largest predictions, or as large as the last of them.

    Args:
      predictions: float32 [batch, classes].
      targets: int32 or int64 [batch].
      k: an integer scalar.

    Returns:
      bool [batch]; false where the target is no class or a prediction is not finite.
    """
    with name_scope(name, "in_top_k"):
        return in_top_k_v2(predictions, targets, k, name=name)
