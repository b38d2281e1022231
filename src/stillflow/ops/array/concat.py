"""ConcatV2 and Concat: arrays joined along one dimension."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import MOST_SIZES, ShapeError, constant_value
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

# More parts than this are cut out of the gradient by one Split rather than by a Slice each.
_MOST_SLICES = 16

concat_v2 = define_op(
    "ConcatV2(values: N * T, axis: Tidx) -> (output: T)",
    "N: int >= 2; T: type; Tidx: {int32, int64} = int32",
    kernel="concat_v2(values, axis)",
)
concat_op = define_op(
    "Concat(concat_dim: int32, values: N * T) -> (output: T)",
    "N: int >= 2; T: type",
    kernel="concat(concat_dim, values)",
)


def _parts(context, sequence):
    """The values among what stands for each input, and the axis."""
    if context.op_def.name == "Concat":
        return sequence[1:], sequence[0], 0
    return sequence[:-1], sequence[-1], len(sequence) - 1


@concat_v2.shape_rule
@concat_op.shape_rule
def _(context):
    parts, axis_shape, axis_index = _parts(context, context.shapes)
    plain.with_rank(axis_shape, 0)
    axis = context.value(axis_index)
    rank = next((len(dims) for dims in parts if dims is not None), None)
    if axis is None:
        return _shape_without_axis(parts, rank)
    axis = int(axis)
    least = axis + 1 if axis >= 0 else -axis
    if rank is None:
        return None
    if rank == 0:
        raise ShapeError("Can't concatenate scalars (use tf.stack instead)")
    parts = [plain.with_rank_at_least(plain.with_rank(dims, rank), least) for dims in parts]
    axis %= rank
    before, after = parts[0][:axis], parts[0][axis + 1 :]
    for dims in parts[1:]:
        before = plain.merged(before, dims[:axis])
        after = plain.merged(after, dims[axis + 1 :])
    return (*before, plain.total(dims[axis] for dims in parts), *after)


def _shape_without_axis(parts, rank):
    if rank is None:
        return None
    for dims in parts:
        plain.with_rank(dims, rank)
    if rank == 0:
        raise ShapeError("Can't concatenate scalars (use tf.stack instead)")
    return (None,) * rank


@concat_v2.constant_value
@concat_op.constant_value
def _(context):
    positions, axis_index = _value_positions(context)
    axis = context.value(axis_index)
    if axis is None:
        return None
    values = []
    for i in positions:
        value = context.value(i)
        if value is None:
            return None
        values.append(value)
    return np.concatenate(values, axis=int(axis))


@concat_v2.partial_value
@concat_op.partial_value
def _(context):
    sizes: list = []
    for i in _value_positions(context)[0]:
        part, dims = context.partial_value(i), context.shapes[i]
        if part is None and dims is not None and len(dims) == 1 and dims[0] is not None and dims[0] <= MOST_SIZES:
            part = (None,) * dims[0]  # how many sizes there are is known, if nothing else
        if not isinstance(part, tuple):
            return None
        sizes.extend(part)
    return tuple(sizes)


def _value_positions(context):
    count = context.attrs["N"]
    return (range(1, count + 1), 0) if "Tidx" not in context.attrs else (range(count), count)


@public("concat")
@dispatched
def concat(values, axis, name="concat"):
    """Tensors joined along `axis`; a single one is handed on.

    Args:
      values: tensors of one type whose shapes differ in `axis` only.
      axis: an integer scalar; negative ones count from the end.
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            convert_to_tensor(axis, dtypes.int32, name="concat_dim").shape.assert_has_rank(0)
            return ops.identity(values[0], name=name)
    return concat_v2(values, axis, name=name)


# ---- Gradients --------------------------------------------------------------------------------------------


@concat_v2.gradient
def _(op, grad):
    return [*_part_gradients(op._inputs[:-1], op._inputs[-1], grad), None]


@concat_op.gradient
def _(op, grad):
    return [None, *_part_gradients(op._inputs[1:], op._inputs[0], grad)]


def _part_gradients(parts, axis, grad):
    """The piece of `grad` that belongs to each part."""
    if len(parts) == 1:
        return [grad]
    if isinstance(grad, IndexedSlices):
        return _part_slices(parts, axis, grad)
    axis = _in_context_of(grad, axis) % ops.rank(parts[0])
    sizes = _shapes_of(parts)
    if len(sizes) > _MOST_SLICES:
        sizes = ops.squeeze(ops.slice(ops.stack(sizes, axis=1), [axis, 0], [1, -1]))
        return ops.split(grad, sizes, axis)
    offsets = ops.concat_offset(axis, sizes)
    return [ops.slice(grad, begin, size) for begin, size in zip(offsets, sizes, strict=True)]


def _in_context_of(grad, axis):
    """A constant axis, made again if it belongs to another loop or branch than the gradient."""
    if axis._op.type != "Const" or _output_context(axis._op) is _output_context(grad._op):
        return axis
    return ops.constant(constant_value(axis), axis.dtype)


def _output_context(op):
    context = op._get_control_flow_context()
    return context.outer_context if context is not None and op._op_def.special == "exit" else context


def _shapes_of(parts):
    """The parts' shapes: constants if all are known, else the outputs of one ShapeN."""
    sizes: list = []
    for part in parts:
        size = ops.shape(part)
        if size._op.type != "Const":
            return ops.shape_n(parts)
        sizes.append(size)
    return sizes


def _part_slices(parts, axis, grad):
    """Like _part_gradients for rows of the gradient."""
    positive_axis = axis % ops.rank(parts[0])
    known_axis = constant_value(axis)
    if known_axis is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    known_axis = int(known_axis)
    if known_axis < 0:
        rank = constant_value(ops.rank(parts[0]))
        if rank is None:
            raise ValueError(
                "Can only compute IndexedSlices gradient with negative concat_dim when first value rank is "
                "statically-known."
            )
        known_axis %= int(rank)
    sizes = [ops.shape(part) for part in parts]
    if known_axis > 0:
        return _columns_of_slices(sizes, positive_axis, grad)
    return _rows_of_slices(sizes, positive_axis, grad)


def _columns_of_slices(sizes, axis, grad):
    """All rows, and of each the part's columns."""
    shape_of_shape = ops.shape(sizes[0])
    mask = ops.concat([ops.fill(ops.expand_dims(axis, 0), 0), [1], ops.fill(shape_of_shape - axis - 1, 0)], 0)
    begin = ops.fill(shape_of_shape, 0)
    result = []
    for size in sizes:
        values = ops.slice(grad.values, begin, ops.concat([[-1], ops.slice(size, [1], [-1])], 0))
        result.append(IndexedSlices(values, grad.indices, size))
        begin = ops.add(begin, size * mask)
    return result


def _rows_of_slices(sizes, axis, grad):
    """The rows that lie in each part."""
    start = ops.constant(0, grad.indices.dtype)
    result = []
    for size in sizes:
        count = ops.gather(size, axis)
        if count.dtype is not grad.indices.dtype:
            count = ops.cast(count, grad.indices.dtype)
        end = start + count
        chosen = ops.where(ops.logical_and(grad.indices >= start, grad.indices < end))
        chosen = ops.squeeze(chosen, axis=[1])
        indices = ops.gather(grad.indices, chosen) - start
        result.append(IndexedSlices(ops.gather(grad.values, chosen), indices, size))
        start = end
    return result
