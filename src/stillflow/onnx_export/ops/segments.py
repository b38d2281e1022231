"""Sums and other reductions of rows that belong together, and what else puts rows at places by their numbers."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import END, Call, converts

_REDUCTIONS = {"Sum": "add", "Prod": "mul", "Max": "max", "Min": "min"}


def _beginning(call, kind, index=0):
    """What a segment of nothing is."""
    dtype = np.dtype(call.dtype(index).base_dtype.as_numpy_dtype)
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    return {"Sum": 0, "Prod": 1, "Max": limits.min, "Min": limits.max}[kind]


def scattered(call, rows, numbers, count, kind="Sum", index=0):
    """`rows` reduced into `count` rows, by their numbers; those with numbers below 0 are left out.

    `rows` are [n, ...], `numbers` int64 [n], `count` int64 [1]; `index` is of the op's input that has their type.
    """
    one = call.ints(1)
    whole = call.add("Add", count, one)  # one row more for those that are left out
    numbers = call.add("Where", call.add("Less", numbers, call.constant(0, np.int64)), count, numbers)
    inner = call.add("Slice", call.add("Shape", rows), one, call.ints(END))
    shape = call.add("Concat", whole, inner, axis=0)
    empty = call.add("Expand", call.like(_beginning(call, kind, index), index), shape)
    places = call.add("Unsqueeze", numbers, one)
    found = call.add("ScatterND", empty, places, rows, reduction=_REDUCTIONS[kind])
    return call.add("Slice", found, call.ints(0), count)


def _counts(call, numbers, count):
    """How many rows each segment has, [count], in the data's type, at least 1."""
    ones = call.add("Expand", call.like(1), call.add("Shape", numbers))
    return call.add("Max", scattered(call, ones, numbers, count), call.like(1))


def _as_columns(call, counts):
    """[count] with as many dimensions as the data."""
    inner = len(call.dims()) - 1
    return call.add("Unsqueeze", counts, call.ints(*range(1, 1 + inner))) if inner else counts


@converts("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin")
def unsorted_segment(call: Call):
    kind = call.op.type.removeprefix("UnsortedSegment")
    outer = len(call.dims(1))
    numbers = call.add("Reshape", call.cast(call.inputs[1], np.int64), call.ints(-1))
    rows = call.inputs[0]
    if outer != 1:
        inner = call.add("Slice", call.add("Shape", rows), call.ints(outer), call.constant([len(call.dims())]))
        shape = call.add("Concat", call.ints(-1), inner, axis=0)
        rows = call.add("Reshape", rows, shape)
    return scattered(call, rows, numbers, call.numbers(2), kind)


def _segment_count(call, numbers):
    """One more than the last of ascending numbers."""
    last = call.add("Slice", numbers, call.ints(-1), call.ints(END))
    return call.add("Add", last, call.ints(1))


@converts("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin")
def segment(call):
    kind = call.op.type.removeprefix("Segment")
    numbers = call.cast(call.inputs[1], np.int64)
    count = _segment_count(call, numbers)
    rows = call.inputs[0]
    if kind in ("Sum", "Mean"):
        total = scattered(call, rows, numbers, count)
        return total if kind == "Sum" else call.add("Div", total, _as_columns(call, _counts(call, numbers, count)))
    found = scattered(call, rows, numbers, count, kind)
    if kind == "Prod":
        return found
    ones = call.add("Expand", call.like(1), call.add("Shape", numbers))
    is_empty = call.add("Equal", _as_columns(call, scattered(call, ones, numbers, count)), call.like(0))
    return call.add("Where", is_empty, call.like(0), found)


@converts(*(f"SparseSegment{kind}{count}" for kind in ("Sum", "Mean", "SqrtN") for count in ("", "WithNumSegments")))
def sparse_segment(call):
    kind = call.op.type.removeprefix("SparseSegment").removesuffix("WithNumSegments")
    numbers = call.cast(call.inputs[2], np.int64)
    count = call.numbers(3) if len(call.inputs) > 3 else _segment_count(call, numbers)
    rows = call.add("Gather", call.inputs[0], call.inputs[1])
    total = scattered(call, rows, numbers, count)
    if kind == "Sum":
        return total
    counts = _counts(call, numbers, count)
    return call.add("Div", total, _as_columns(call, call.add("Sqrt", counts) if kind == "SqrtN" else counts))


@converts("SparseTensorDenseMatMul")
def sparse_tensor_dense_matmul(call):
    rows, columns = (call.add("Gather", call.inputs[0], call.constant(number, np.int64), axis=1) for number in (0, 1))
    if call.attr("adjoint_a"):
        rows, columns = columns, rows
    dense = call.add("Transpose", call.inputs[3], perm=[1, 0]) if call.attr("adjoint_b") else call.inputs[3]
    weights = call.add("Unsqueeze", call.inputs[1], call.ints(1))
    products = call.add("Mul", call.add("Gather", dense, columns), weights)
    height = call.add("Gather", call.numbers(2), call.constant([1 if call.attr("adjoint_a") else 0], np.int64))
    return scattered(call, products, call.cast(rows, np.int64), height, index=3)


@converts("SparseToDense")
def sparse_to_dense(call):
    rank = len(call.dims())
    empty = call.add("Expand", call.inputs[3], call.numbers(1))
    places = call.cast(call.inputs[0], np.int64)
    if rank < 2:
        places = call.add("Reshape", places, call.ints(-1, 1))
    values = call.inputs[2]
    if not call.dims(2):
        count = call.add("Slice", call.add("Shape", places), *(call.ints(n) for n in (0, 1)))
        values = call.add("Expand", values, count)
    return call.add("ScatterND", empty, places, values)


@converts("DynamicStitch", "ParallelDynamicStitch")
def dynamic_stitch(call):
    half = len(call.inputs) // 2
    flat = call.ints(-1)
    numbers, rows = [], []
    for index in range(half):
        outer, rank = len(call.dims(index)), len(call.dims(half + index))
        numbers.append(call.add("Reshape", call.cast(call.inputs[index], np.int64), flat))
        sizes = call.add("Shape", call.inputs[half + index])
        inner = call.add("Slice", sizes, call.ints(outer), call.ints(rank))
        rows.append(call.add("Reshape", call.inputs[half + index], call.add("Concat", flat, inner, axis=0)))
    numbers, rows = (call.add("Concat", *parts, axis=0) for parts in (numbers, rows))
    count = call.add("Add", call.add("ReduceMax", numbers, keepdims=1), call.ints(1))
    inner = call.add("Slice", call.add("Shape", rows), *(call.ints(n) for n in (1, END)))
    empty = call.add("Expand", call.like(0, half), call.add("Concat", count, inner, axis=0))
    return call.add("ScatterND", empty, call.add("Unsqueeze", numbers, call.ints(1)), rows)


@converts("DynamicPartition")
def dynamic_partition(call):
    outer = len(call.dims(1))
    rows, partitions = call.inputs
    if outer != 1:
        sizes = call.add("Shape", rows)
        inner = call.add("Slice", sizes, call.ints(outer), call.constant([len(call.dims())], np.int64))
        rows = call.add("Reshape", rows, call.add("Concat", call.ints(-1), inner, axis=0))
        partitions = call.add("Reshape", partitions, call.ints(-1))
    return [
        call.add("Compress", rows, call.add("Equal", partitions, call.like(number, 1)), axis=0)
        for number in range(call.attr("num_partitions"))
    ]


@converts("InvertPermutation")
def invert_permutation(call):
    size = call.add("Squeeze", call.add("Shape", call.inputs[0]), call.ints(0))
    numbers = call.below(size)
    places = call.add("Unsqueeze", call.cast(call.inputs[0], np.int64), call.ints(1))
    values = call.to_type_of(numbers, call.dtype())
    return call.add("ScatterND", values, places, values)


@converts("Unique", "UniqueWithCounts", "UniqueV2", "UniqueWithCountsV2")
def unique(call):
    options, values = {}, call.inputs[0]
    if call.dtype().name == "int32":  # of which onnxruntime tells no duplicates
        values = call.cast(values, np.int64)
    if call.op.type.endswith("V2"):
        axes = np.reshape(call.known(1, "axes"), -1)
        options = {"axis": int(axes[0])} if len(axes) else {}
    values, _, places, counts = call.add("Unique", values, outputs=4, sorted=0, **options)
    numbered = [call.to_type_of(each, call.op.outputs[1].dtype) for each in (places, counts)]
    values = call.to_type_of(values, call.dtype())
    return [values, *numbered][: len(call.op.outputs)]
