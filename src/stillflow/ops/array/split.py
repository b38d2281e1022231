"""Split and SplitV: an array cut along one dimension, into equal parts or into parts of given sizes."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import Dimension
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dims import with_rank
from stillflow.ops.registry import define_op

split_op = define_op(
    "Split(split_dim: int32, value: T) -> (output: num_split * T)",
    "num_split: int >= 1; T: type",
    kernel="split(split_dim, value)",
)
split_v = define_op(
    "SplitV(value: T, size_splits: Tlen, split_dim: int32) -> (output: num_split * T)",
    "num_split: int >= 1; T: type; Tlen: {int32, int64} = int64",
    kernel="split_v(value, size_splits, split_dim)",
)


def _known_axis(axis, rank):
    """The axis counted from the front, or None where that is unknown."""
    if axis is None or rank is None:
        return int(axis) if axis is not None and axis >= 0 else None
    if not -rank <= axis < rank:
        raise ShapeError(f"Dimension size, given by scalar input {axis} must be in range [-{rank}, {rank})")
    return int(axis) % rank


@split_op.shape_rule
def _(context):
    dims = context.shapes[1]
    count = context.attrs["num_split"]
    with_rank(context.shapes[0], 0)
    if dims is None:
        # The rank is at least what the axis asks for, but nothing more is known.
        return [None] * count
    rank = len(dims)
    axis = _known_axis(context.value(0), rank)
    if axis is None:
        return [(None,) * rank] * count
    size = dims[axis]
    if size is not None:
        if size % count:
            raise ShapeError(
                f"Dimension size must be evenly divisible by {count} but is {size}\n\t"
                "Number of ways to split should evenly divide the split dimension"
            )
        size //= count
    return [(*dims[:axis], size, *dims[axis + 1 :])] * count


@split_op.folded_value
def _(context):
    axis, value = context.value(0), context.value(1)
    count = context.attrs["num_split"]
    if axis is None or value is None or value.shape[int(axis)] % count:
        return None
    size = value.shape[int(axis)] // count
    return value.take(range(context.output_index * size, (context.output_index + 1) * size), int(axis))


@split_v.shape_rule
def _(context):
    dims = context.shapes[0]
    count = context.attrs["num_split"]
    with_rank(context.shapes[2], 0)
    if dims is None:
        return [None] * count
    if not dims:
        raise ShapeError("Can't split scalars")
    axis = 0 if len(dims) == 1 else _known_axis(context.value(2), len(dims))
    sizes = context.value(1)
    if axis is None:
        return [(None,) * len(dims)] * count
    if sizes is None:
        return [(*dims[:axis], None, *dims[axis + 1 :])] * count
    return [
        (*dims[:axis], size, *dims[axis + 1 :]) for size in _part_sizes(sizes.ravel().tolist(), count, dims[axis])
    ]


def _part_sizes(sizes, count, whole):
    """The parts' sizes, with -1 replaced by what is left of the whole."""
    if len(sizes) != count:
        raise ShapeError("Length of size_splits should be equal to num_outputs")
    if sizes.count(-1) > 1:
        raise ShapeError("size_splits can only have one -1")
    total = sum(size for size in sizes if size != -1)
    if whole is None:
        return [None if size == -1 else size for size in sizes]
    if total > whole if -1 in sizes else total != whole:
        raise ShapeError(f"can't split axis of size {whole} into pieces of size [{','.join(map(str, sizes))}]")
    return [whole - total if size == -1 else size for size in sizes]


@split_v.folded_value
def _(context):
    value, sizes, axis = context.value(0), context.value(1), context.value(2)
    if value is None or sizes is None or axis is None:
        return None
    sizes = _part_sizes(sizes.tolist(), context.attrs["num_split"], value.shape[int(axis)])
    begin = sum(sizes[: context.output_index])
    return value.take(range(begin, begin + sizes[context.output_index]), int(axis))


@public("split")
def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """`value` cut along `axis`: a list of tensors.

    Args:
      num_or_size_splits: the number of equal parts, or an integer vector of their sizes, one of which may be -1.
      axis: an integer scalar.
      num: the number of parts, where it cannot be seen from the vector of sizes.

    Raises:
      ValueError: if the number of parts is unknown, or the dimension cannot be cut so.
    """
    sizes = convert_to_tensor(num_or_size_splits)
    if isinstance(num_or_size_splits, (int, Dimension)):
        return split_op(axis, value, num_split=num_or_size_splits, name=name)
    if sizes._dims == ():
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if num is None:
        num = sizes._dims[0] if sizes._dims else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return split_v(value, sizes, axis, num_split=num, name=name)


@split_op.gradient
def _(op, *grads):
    return None, ops.concat(list(grads), op._inputs[0])


@split_v.gradient
def _(op, *grads):
    return ops.concat(list(grads), op._inputs[2]), None, None
