"""RaggedTensorToTensor: rows of any length as a dense tensor of a given shape."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_FIRST = b"FIRST_DIM_SIZE"

ragged_tensor_to_tensor = define_op(
    "RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, "
    "row_partition_tensors: num_row_partition_tensors * Tindex) -> (result: T)",
    "T: type; Tindex: {int64, int32}; Tshape: {int64, int32}; num_row_partition_tensors: int >= 1; "
    "row_partition_types: list(string)",
    kernel="ragged_tensor_to_tensor(shape, values, default_value, row_partition_tensors | row_partition_types)",
    differentiable=None,
)


def _check_kinds(kinds, count):
    for kind in kinds:
        if kind not in (_FIRST, b"VALUE_ROWIDS", b"ROW_SPLITS"):
            raise ShapeError(f"Unknown string for partition info type: {kind.decode()}")
    if not kinds:
        raise ShapeError("Partition info types should not be empty")
    if _FIRST in kinds[1:]:
        raise ShapeError("FIRST_DIM_SIZE must be first")
    if kinds[0] == _FIRST and kinds[1:2] != (b"VALUE_ROWIDS",):
        raise ShapeError("FIRST_DIM_SIZE must be followed by VALUE_ROWIDS")
    if kinds[0] == b"VALUE_ROWIDS":
        raise ShapeError("VALUE_ROWIDS cannot be first")
    if count != len(kinds):
        raise ShapeError(
            f"Number of row partition tensors ({count}) does not equal the number of row partition "
            f"types({len(kinds)})."
        )


@ragged_tensor_to_tensor.shape_rule
def _(context):
    kinds = tuple(context.attrs["row_partition_types"])
    _, values, default, *partitions = context.shapes
    _check_kinds(kinds, len(partitions))
    for kind, dims in zip(kinds, partitions, strict=True):
        if dims is not None and len(dims) != (kind != _FIRST):
            what = "FIRST_DIM_SIZE must be a scalar." if kind == _FIRST else "Row partition must be a vector."
            raise ShapeError(what)
    _check_default(default, values)
    ragged_rank = len(kinds) - (kinds[0] == _FIRST)
    wanted = _wanted(context)
    if values is None:
        return wanted
    if wanted is None:
        return (None,) * (1 + ragged_rank) + tuple(values[1:])
    if len(wanted) != ragged_rank + len(values):
        raise ShapeError(
            f"Value shape {_text(values)} and output shape {_text(wanted)} are inconsistent: the output has rank "
            f"{len(wanted)}, not {ragged_rank + len(values)}"
        )
    outer, inner = wanted[: 1 + ragged_rank], wanted[1 + ragged_rank :]
    return outer + tuple(plain.merged_size(ours, theirs) for ours, theirs in zip(inner, values[1:], strict=True))


def _wanted(context):
    """The shape asked for, or None for any: a scalar -1 or what is not known yet."""
    value = context.partial_value(0)
    if value is None or not isinstance(value, tuple):
        dims = context.shapes[0]
        return (None,) * dims[0] if dims and dims[0] is not None else None
    return tuple(None if size is None or size < 0 else size for size in value)


def _check_default(default, values):
    if default is None or values is None or not default:
        return
    if len(default) > len(values) - 1:
        raise ShapeError(
            f"default_value.shape={_text(default)} and rt_input.flat_values.shape={_text(values)} are incompatible: "
            f"default_value.rank = {len(default)}  must be less than rt_input.flat_values.rank = {len(values)}"
        )
    for size, of_values in zip(reversed(default), reversed(values), strict=False):
        if size not in (None, 1) and of_values is not None and size != of_values:
            raise ShapeError(
                f"default_value.shape={_text(default)} and rt_input.flat_values.shape={_text(values)} are "
                f"incompatible: default_value.shape[-{len(default)}] = {size} but rt_input.flat_values.shape"
                f"[-{len(default)}] = {of_values}"
            )


def _text(dims):
    return "[" + ",".join("?" if size is None else str(size) for size in dims) + "]"
