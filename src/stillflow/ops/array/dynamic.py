"""DynamicStitch and DynamicPartition: rows put together by index, and dealt out by number."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.shape_inference import ShapeError, dims_text
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op


def _stitch(name, **options):
    return define_op(
        f"{name}(indices: N * int32, data: N * T) -> (merged: T)",
        "N: int >= 1; T: type",
        kernel="dynamic_stitch(indices, data)",
        **options,
    )


dynamic_stitch = _stitch(
    "DynamicStitch",
    public="dynamic_stitch",
    doc="""Rows put together: row indices[k][i] of the result is data[k][i]; of several, the last one counts.""",
)
parallel_dynamic_stitch = _stitch("ParallelDynamicStitch")
dynamic_partition = define_op(
    "DynamicPartition(data: T, partitions: int32) -> (outputs: num_partitions * T)",
    "num_partitions: int >= 1; T: type",
    kernel="dynamic_partition(data, partitions)",
    public="dynamic_partition",
    doc="""A list of `num_partitions` tensors; the k-th holds the rows of `data` whose `partitions` is k.""",
)


@dynamic_stitch.shape_rule
@parallel_dynamic_stitch.shape_rule
def _(context):
    count = context.attrs["N"]
    inner, largest = None, -1
    is_known = True
    for k in range(count):
        indices, data = context.shapes[k], context.shapes[count + k]
        value = context.value(k)
        if value is None:
            is_known = False
        elif value.size:
            largest = max(largest, int(value.max()))
        if indices is None or data is None:
            continue
        if len(data) < len(indices):
            raise ShapeError(f"data[{k}].shape = {dims_text(data)} does not start with that of its indices, "
                             f"{dims_text(indices)}")  # fmt: skip
        plain.merged(data[: len(indices)], indices)
        rest = data[len(indices) :]
        inner = rest if inner is None else plain.merged(inner, rest)
    return None if inner is None else (largest + 1 if is_known else None, *inner)


@dynamic_stitch.folded_value
@parallel_dynamic_stitch.folded_value
def _(context):
    count = context.attrs["N"]
    indices, parts = ([context.value(k) for k in range(begin, begin + count)] for begin in (0, count))
    if any(value is None for value in indices + parts) or parts[0].dtype == object:
        return None  # a gap in text is empty, which the kernel knows
    size = 1 + max((int(index.max()) for index in indices if index.size), default=-1)
    merged = np.zeros((size, *parts[0].shape[indices[0].ndim :]), parts[0].dtype)
    for index, part in zip(indices, parts, strict=True):
        merged[index] = part
    return merged


@dynamic_partition.folded_value
def _(context):
    data, partitions = context.value(0), context.value(1)
    return None if data is None or partitions is None else data[partitions == context.output_index]


@dynamic_partition.shape_rule
def _(context):
    data, partitions = context.shapes
    count = context.attrs["num_partitions"]
    if data is None or partitions is None:
        return [None] * count
    plain.with_rank_at_least(data, len(partitions))
    plain.merged(data[: len(partitions)], partitions)
    return [(None, *data[len(partitions) :])] * count


# ---- Gradients ----------------------------------------------------------------------------------------------


@dynamic_stitch.gradient
@parallel_dynamic_stitch.gradient
def _(op, grad):
    count = len(op._inputs) // 2
    if isinstance(grad, IndexedSlices):
        rows = ops.shape(op._outputs[0])[0]
        grad = ops.unsorted_segment_sum(grad.values, grad.indices, rows)
    return [None] * count + [ops.gather(grad, indices) for indices in op._inputs[:count]]


@dynamic_partition.gradient
def _(op, *grads):
    """The gradients of the parts, each row back in its place."""
    data, partitions = op._inputs
    shape = ops.shape(partitions)
    places = ops.reshape(ops.range(ops.reduce_prod(shape)), shape)
    places = dynamic_partition(places, partitions, num_partitions=len(grads))
    whole = dynamic_stitch(places, list(grads))
    return ops.reshape(whole, ops.shape(data)), None
