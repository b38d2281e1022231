"""FractionalMaxPool and FractionalAvgPool: pools over cells of nearly equal sizes that are drawn at random."""

from __future__ import annotations

import numpy as np

from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_POOL = (
    "pooling_ratio: list(float) >= 4; pseudo_random: bool = false; overlapping: bool = false; "
    "deterministic: bool = false; seed: int = 0; seed2: int = 0; T: {float32, float64, int32, int64}"
)
_GRAD = "overlapping: bool = false; T: {float32, float64, int32, int64}"
_CALL = "value | pooling_ratio, pseudo_random, overlapping, deterministic"
_CELLS = "row_pooling_sequence: int64, col_pooling_sequence: int64"


def _pool(name, kernel):
    return define_op(f"{name}(value: T) -> (output: T, {_CELLS})", _POOL, kernel=f"{kernel}({_CALL})", state="random")


fractional_max_pool_op = _pool("FractionalMaxPool", "fractional_max_pool")
fractional_avg_pool_op = _pool("FractionalAvgPool", "fractional_avg_pool")
fractional_max_pool_grad = define_op(
    f"FractionalMaxPoolGrad(orig_input: T, orig_output: T, out_backprop: T, {_CELLS}) -> (output: T)",
    _GRAD,
    kernel="fractional_max_pool_grad(orig_input, orig_output, out_backprop, row_pooling_sequence, "
    "col_pooling_sequence | overlapping)",
    differentiable=None,
)
fractional_avg_pool_grad = define_op(
    f"FractionalAvgPoolGrad(orig_input_tensor_shape: int64, out_backprop: T, {_CELLS}) -> (output: T)",
    _GRAD,
    kernel="fractional_avg_pool_grad(orig_input_tensor_shape, out_backprop, row_pooling_sequence, "
    "col_pooling_sequence | overlapping)",
    differentiable=None,
)


def _pooled_size(axis, size, ratio):
    if size is None or not ratio:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        quotient = np.floor(np.float32(size) / np.float32(ratio))
    pooled = plain.as_int64(quotient)
    if pooled < 0:
        raise ShapeError(f"Size computed for dim {axis} is negative: {pooled}")
    return pooled


@fractional_max_pool_op.shape_rule
@fractional_avg_pool_op.shape_rule
def _(context):
    images = plain.with_rank(context.shapes[0], 4)
    ratios = context.attrs["pooling_ratio"]
    if len(ratios) != 4:
        raise ShapeError("pooling_ratio field must specify 4 dimensions")
    pooled = [_pooled_size(*each) for each in zip(range(4), images, ratios, strict=True)]
    return [tuple(pooled), *((None if size is None else size + 1,) for size in pooled[1:3])]


@fractional_max_pool_grad.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 4)


@fractional_avg_pool_grad.shape_rule
def _(context):
    return plain.with_rank(plain.spelled(context, 0), 4)


@fractional_max_pool_op.gradient
def _(op, grad, *_cells_grads):
    pooled, rows, columns = op._outputs
    overlapping = op.get_attr("overlapping")
    return fractional_max_pool_grad(op._inputs[0], pooled, grad, rows, columns, overlapping=overlapping)


@fractional_avg_pool_op.gradient
def _(op, grad, *_cells_grads):
    _pooled, rows, columns = op._outputs
    shape = op._inputs[0].shape
    return fractional_avg_pool_grad(shape, grad, rows, columns, overlapping=op.get_attr("overlapping"))


_DOC = """Pools over cells that are drawn at random: {what} in each. https://arxiv.org/abs/1412.6071

    Args:
      value: float32, float64, int32 or int64 [batch, rows, columns, channels].
      pooling_ratio: four numbers of at least 1: what rows and columns are divided by, and 1 for the others.
      pseudo_random: whether the cells along an axis are drawn by one random number, and not their sizes shuffled.
      overlapping: whether cells share the elements on their borders.
      deterministic: whether all runs draw the same cells.
      seed, seed2: say which, if they are deterministic.
      name: the node's name.

    Returns:
      (what is pooled, where the cells of rows begin and the last one ends, the same of columns): the cells int64.

    Raises:
      ValueError, InvalidArgumentError: for ratios below 1 or above a size.
      UnimplementedError: for ratios of batch or channels.
    """


def _documented(what):
    def document(function):
        function.__doc__ = _DOC.format(what=what)
        return function

    return document


@public("nn.fractional_max_pool")
@_documented("the largest element")
def fractional_max_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0, name=None
):
    return fractional_max_pool_op(
        value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
        deterministic=deterministic, seed=seed, seed2=seed2, name=name,
    )  # fmt: skip


@public("nn.fractional_avg_pool")
@_documented("the mean")
def fractional_avg_pool(
    value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0, name=None
):
    return fractional_avg_pool_op(
        value, pooling_ratio=pooling_ratio, pseudo_random=pseudo_random, overlapping=overlapping,
        deterministic=deterministic, seed=seed, seed2=seed2, name=name,
    )  # fmt: skip
