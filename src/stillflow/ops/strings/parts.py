"""Strings cut into parts and put together: StringSplit, StringSplitV2, ReduceJoin, UnsortedSegmentJoin."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

string_split_op = define_op(
    "StringSplit(input: string, delimiter: string) -> (indices: int64, values: string, shape: int64)",
    "skip_empty: bool = true",
    kernel="string_split(input, delimiter | skip_empty)",
    differentiable=False,
)
string_split_v2 = define_op(
    "StringSplitV2(input: string, sep: string) -> (indices: int64, values: string, shape: int64)",
    "maxsplit: int = -1",
    kernel="string_split_v2(input, sep | maxsplit)",
    differentiable=None,
)
reduce_join_op = define_op(
    "ReduceJoin(inputs: string, reduction_indices: int32) -> (output: string)",
    "keep_dims: bool = false; separator: string = ''",
    kernel="reduce_join(inputs, reduction_indices | keep_dims, separator)",
    differentiable=False,
)
unsorted_segment_join = define_op(
    "UnsortedSegmentJoin(inputs: string, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: string)",
    "separator: string = ''; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32",
    kernel="unsorted_segment_join(inputs, segment_ids, num_segments | separator)",
    differentiable=None,
    public="strings.unsorted_segment_join",
    doc="Strings of each segment joined, in their order.",
)


@string_split_op.shape_rule
@string_split_v2.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    plain.with_rank(context.shapes[1], 0)
    return [(None, 2), (None,), (2,)]


@reduce_join_op.shape_rule
def _(context):
    dims = context.shapes[0]
    axes = context.value(1)
    if dims is None:
        return None
    if axes is None:
        return (None,) * len(dims) if context.attrs["keep_dims"] else None
    joined = set()
    for axis in axes.ravel().tolist():
        if not -len(dims) <= axis < len(dims):
            raise ShapeError(f"Invalid reduction dimension {axis} for input with {len(dims)} dimensions.")
        joined.add(axis % len(dims))
    if context.attrs["keep_dims"]:
        return tuple(1 if i in joined else size for i, size in enumerate(dims))
    return tuple(size for i, size in enumerate(dims) if i not in joined)


@unsorted_segment_join.shape_rule
def _(context):
    dims, segments, _ = context.shapes
    if dims is None or segments is None:
        return None
    if len(segments) > len(dims):
        raise ShapeError(f"Shape must be at least rank {len(segments)} but is rank {len(dims)}")
    for size, other in zip(dims, segments, strict=False):
        plain.merged_size(size, other)
    count = context.value(2)
    if count is not None and count < 0:
        raise ShapeError(f"Dimension size, given by scalar input 2, must be non-negative but is {count}")
    return (None if count is None else int(count), *dims[len(segments) :])
