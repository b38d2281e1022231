"""Pad, PadV2, MirrorPad and MirrorPadGrad: padding by a constant or by reflection."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_PADDINGS = "Tpaddings: {int32, int64} = int32"
_MODE = "mode: {'REFLECT', 'SYMMETRIC'}"

pad_op = define_op(
    "Pad(input: T, paddings: Tpaddings) -> (output: T)", f"T: type; {_PADDINGS}", kernel="pad(input, paddings)"
)
pad_v2 = define_op(
    "PadV2(input: T, paddings: Tpaddings, constant_values: T) -> (output: T)",
    f"T: type; {_PADDINGS}",
    kernel="pad_v2(input, paddings, constant_values)",
)
mirror_pad = define_op(
    "MirrorPad(input: T, paddings: Tpaddings) -> (output: T)",
    f"T: type; {_PADDINGS}; {_MODE}",
    kernel="mirror_pad(input, paddings | mode)",
)
mirror_pad_grad = define_op(
    "MirrorPadGrad(input: T, paddings: Tpaddings) -> (output: T)",
    f"T: type; {_PADDINGS}; {_MODE}",
    kernel="mirror_pad_grad(input, paddings | mode)",
)


def _rank_and_dims(context):
    """The input's rank and plain shape, as far as the shapes of input and paddings say."""
    dims = context.shapes[0]
    rank, sides = plain.with_rank(context.shapes[1], 2)
    if sides not in (None, 2):
        raise ShapeError(f"Dimension must be 2 but is {sides}")
    if rank is not None:
        dims = plain.with_rank(dims, rank)
    elif dims is not None:
        rank = len(dims)
    return rank, dims


@pad_op.shape_rule
@pad_v2.shape_rule
@mirror_pad.shape_rule
def _(context):
    rank, dims = _rank_and_dims(context)
    paddings = context.value(1)
    if paddings is None:
        return None if rank is None else (None,) * rank
    if np.any(paddings < 0):
        raise ShapeError("Paddings must be non-negative")
    return tuple(plain.total((size, *sides)) for size, sides in zip(dims, paddings.tolist(), strict=True))


@mirror_pad_grad.shape_rule
def _(context):
    rank, dims = _rank_and_dims(context)
    paddings = context.value(1)
    if paddings is None:
        return None if rank is None else (None,) * rank
    result = tuple(
        None if size is None else size - sum(sides) for size, sides in zip(dims, paddings.tolist(), strict=True)
    )
    if any(size is not None and size < 0 for size in result):
        raise ShapeError("Paddings are wider than the input")
    return result


@pad_op.folded_value
def _(context):
    value, paddings = context.value(0), context.value(1)
    if value is None or paddings is None or value.dtype == object:
        return None  # numpy pads text with numbers
    return np.pad(value, paddings.tolist())


@pad_v2.folded_value
def _(context):
    value, paddings, filler = (context.value(i) for i in range(3))
    if value is None or paddings is None or filler is None or value.dtype == object:
        return None
    return np.pad(value, paddings.tolist(), constant_values=filler)


@public("pad")
def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """`tensor` with elements before and after each dimension.

    Args:
      paddings: an integer matrix with a row (before, after) for each dimension.
      mode: "CONSTANT" pads with `constant_values`; "REFLECT" mirrors at the outermost elements, "SYMMETRIC" just
        outside of them.
      constant_values: a scalar of the tensor's type.

    Raises ValueError for an unknown mode.
    """
    mode = mode.upper()
    if mode == "CONSTANT":
        if not _is_tensor(constant_values) and constant_values == 0:
            result = pad_op(tensor, paddings, name=name)
        else:
            result = pad_v2(tensor, paddings, constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = mirror_pad(tensor, paddings, mode=mode, name=name)
    else:
        raise ValueError(f"Unknown padding mode: {mode}")
    _set_known_sizes(result)
    return result


def _is_tensor(value):
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")


def _set_known_sizes(result):
    """Adds what single rows of paddings that are not all known say of the shape."""
    if result.shape.is_fully_defined():
        return
    source, paddings = result._op._inputs[:2]
    if source._dims is None:
        return
    rows = ops.static_value(paddings, partial=True)
    if rows is None:
        return
    sizes = []
    for row, size in zip(rows, source._dims, strict=False):
        is_known = row is not None and size is not None and all(side is not None for side in row)
        sizes.append(size + int(sum(row)) if is_known else None)
    result.set_shape(sizes)


# ---- Gradients ----------------------------------------------------------------------------------------------


@pad_op.gradient
@pad_v2.gradient
def _(op, grad):
    source, paddings = op._inputs[:2]
    before = ops.slice(paddings, [0, 0], ops.stack([ops.rank(source), 1]))
    begin = ops.reshape(before, [-1])
    result = ops.slice(grad, begin, ops.shape(source))
    return (result, None, None) if len(op._inputs) == 3 else (result, None)


@mirror_pad.gradient
def _(op, grad):
    return mirror_pad_grad(grad, op._inputs[1], mode=op._attrs["mode"]), None


@mirror_pad_grad.gradient
def _(op, grad):
    return mirror_pad(grad, op._inputs[1], mode=op._attrs["mode"]), None
