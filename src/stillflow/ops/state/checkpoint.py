"""SaveV2, RestoreV2 and their kin: tensors written to checkpoint files and read from them."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

save_v2 = define_op(
    "SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes) -> ()",
    "dtypes: list(type) >= 1",
    kernel="save_v2(prefix, tensor_names, shape_and_slices, tensors)",
    stateful=True,
    differentiable=None,
    traits="saves_or_restores",
)
restore_v2 = define_op(
    "RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> (tensors: dtypes)",
    "dtypes: list(type) >= 1",
    kernel="restore_v2(prefix, tensor_names, shape_and_slices | dtypes)",
    stateful=True,
    differentiable=None,
    traits="saves_or_restores",
)
merge_v2_checkpoints = define_op(
    "MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string) -> ()",
    "delete_old_dirs: bool = true",
    kernel="merge_v2_checkpoints(checkpoint_prefixes, destination_prefix | delete_old_dirs)",
    stateful=True,
    differentiable=None,
)
sharded_filename = define_op(
    "ShardedFilename(basename: string, shard: int32, num_shards: int32) -> (filename: string)",
    kernel="sharded_filename(basename, shard, num_shards)",
    differentiable=False,
)
sharded_filespec = define_op(
    "ShardedFilespec(basename: string, num_shards: int32) -> (filename: string)",
    kernel="sharded_filespec(basename, num_shards)",
    differentiable=False,
)

# ---- The ops of TensorFlow before 0.12 ---------------------------------------------------------------------------

save = define_op(
    "Save(filename: string, tensor_names: string, data: T) -> ()",
    "T: list(type) >= 1",
    kernel="save_v1(filename, tensor_names, data | false)",
    stateful=True,
    differentiable=False,
    traits="saves_or_restores",
)
save_slices = define_op(
    "SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: T) -> ()",
    "T: list(type) >= 1",
    kernel="save_slices_v1(filename, tensor_names, shapes_and_slices, data | true)",
    stateful=True,
    differentiable=False,
)
restore = define_op(
    "Restore(file_pattern: string, tensor_name: string) -> (tensor: dt)",
    "dt: type; preferred_shard: int = -1",
    kernel="restore_v1(file_pattern, tensor_name | dt)",
    stateful=True,
    differentiable=False,
    traits="saves_or_restores",
)
restore_slice = define_op(
    "RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string) -> (tensor: dt)",
    "dt: type; preferred_shard: int = -1",
    kernel="restore_slice_v1(file_pattern, tensor_name, shape_and_slice | dt)",
    stateful=True,
    differentiable=False,
    traits="saves_or_restores",
)


def _check_names(context, count, has_slices=True):
    """A scalar, then vectors of `count` names, and of as many slices."""
    plain.with_rank(context.shapes[0], 0)
    for dims in context.shapes[1 : 3 if has_slices else 2]:
        plain.merged_size(plain.with_rank(dims, 1)[0], count)


@save_v2.shape_rule
@save_slices.shape_rule
def _(context):
    _check_names(context, len(context.shapes) - 3)
    return []


@save.shape_rule
def _(context):
    _check_names(context, len(context.shapes) - 2, has_slices=False)
    return []


@restore_v2.shape_rule
def _(context):
    count = context.output_count()
    _check_names(context, count)
    slices = context.value(2)
    return [None] * count if slices is None else [_slice_dims(bytes(text)) for text in slices]


@restore_slice.shape_rule
def _(context):
    for dims in context.shapes:
        plain.with_rank(dims, 0)
    text = context.value(2)
    return None if text is None else _slice_dims(bytes(text.item()))


@restore.shape_rule
def _(context):
    for dims in context.shapes:
        plain.with_rank(dims, 0)
    return


def _slice_dims(text):
    """The shape of the slice that "4 3 0,2:-" stands for; unknown for the empty text, which is the whole."""
    if not text:
        return None
    *sizes, slices = text.decode().split(" ")
    extents = slices.split(":")
    if not sizes or len(sizes) != len(extents):
        raise ShapeError(f"Wrong shape_and_slice: {text.decode()}")
    try:
        return tuple(
            int(size) if extent == "-" else int(extent.split(",")[1])
            for size, extent in zip(sizes, extents, strict=True)
        )
    except (ValueError, IndexError):
        raise ShapeError(f"Wrong shape_and_slice: {text.decode()}") from None


@merge_v2_checkpoints.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    plain.with_rank(context.shapes[1], 0)
    return []


@sharded_filename.shape_rule
@sharded_filespec.shape_rule
def _(context):
    for dims in context.shapes:
        plain.with_rank(dims, 0)
    return ()
