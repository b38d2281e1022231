"""Ops that pick elements by place: slices, gathers, scatters, searches."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import Call, converts

_END = np.iinfo(np.int64).max


@converts("Slice")
def slice_(call: Call):
    begin, size = call.value(1), call.value(2)
    axes = call.constant(np.arange(len(call.dims())), np.int64)
    if begin is not None and size is not None:
        ends = np.where(np.asarray(size) == -1, _END, np.asarray(begin, np.int64) + np.asarray(size, np.int64))
        return call.add("Slice", call.inputs[0], call.constant(begin, np.int64), call.constant(ends, np.int64), axes)
    starts, sizes = call.numbers(1), call.numbers(2)
    to_end = call.add("Equal", sizes, call.constant(-1, np.int64))
    ends = call.add("Where", to_end, call.constant(_END, np.int64), call.add("Add", starts, sizes))
    return call.add("Slice", call.inputs[0], starts, ends, axes)


@converts("StridedSlice")
def strided_slice(call):
    masks = {name: call.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    strides = np.atleast_1d(call.known(3, "strides"))
    begin, end = call.value(1), call.value(2)
    starts, ends, axes, steps, shrunk, new = [], [], [], [], [], []
    axis = place = 0
    for i, stride in enumerate(strides):
        bit = 1 << i
        if masks["ellipsis"] & bit:
            skipped = _axes_in_ellipsis(call, len(strides), masks, i)
            axis, place = axis + skipped, place + skipped
            continue
        if masks["new_axis"] & bit:
            new.append(place)
            place += 1
            continue
        first = _bound(call, 1, begin, i)
        if masks["shrink_axis"] & bit:
            starts.append(first)
            ends.append(_behind(call, first, begin, i))
            steps.append(1)
            shrunk.append(axis)
        else:
            starts.append(call.constant([0 if stride > 0 else _END]) if masks["begin"] & bit else first)
            open_end = call.constant([_END if stride > 0 else -_END])
            ends.append(open_end if masks["end"] & bit else _bound(call, 2, end, i))
            steps.append(int(stride))
            place += 1
        axes.append(axis)
        axis += 1
    value = call.inputs[0]
    if axes:
        joined = [part[0] if len(part) == 1 else call.add("Concat", *part, axis=0) for part in (starts, ends)]
        value = call.add("Slice", value, *joined, call.constant(axes, np.int64), call.constant(steps, np.int64))
    if shrunk:
        value = call.add("Squeeze", value, call.constant(shrunk, np.int64))
    return call.add("Unsqueeze", value, call.constant(new, np.int64)) if new else value


def _axes_in_ellipsis(call, count, masks, place):
    named = sum(1 for i in range(count) if i != place and not masks["new_axis"] & (1 << i))
    return len(call.dims()) - named


def _bound(call, index, value, place):
    if value is not None:
        return call.constant([np.atleast_1d(value)[place]], np.int64)
    return call.add("Gather", call.numbers(index), call.constant([place], np.int64))


def _behind(call, first, begin, place):
    """The end of a slice of one element at `first`; of the last one, at -1, it is open."""
    if begin is not None:
        last = int(np.atleast_1d(begin)[place])
        return call.constant([_END if last == -1 else last + 1])
    is_last = call.add("Equal", first, call.constant([-1], np.int64))
    return call.add("Where", is_last, call.constant([_END]), call.add("Add", first, call.constant([1], np.int64)))


@converts("Gather", "GatherV2", "ResourceGather")
def gather(call):
    axis = int(call.known(2, "an axis")) if call.op.type == "GatherV2" else 0
    if call.op.type == "GatherV2" and call.attr("batch_dims"):
        raise call.error("has batch dimensions, which ONNX's Gather lacks")
    return call.add("Gather", *call.inputs[:2], axis=axis)


@converts("GatherNd")
def gather_nd(call):
    return call.add("GatherND", call.inputs[0], call.cast(call.inputs[1], np.int64))


@converts("ScatterNd")
def scatter_nd(call):
    zeros = call.add("Expand", call.like(0, 1), call.numbers(2))
    return call.add("ScatterND", zeros, call.cast(call.inputs[0], np.int64), call.inputs[1], reduction="add")


@converts("OneHot")
def one_hot(call):
    indices, one = call.inputs[0], call.constant([1], np.int64)
    values = call.add("Concat", *(call.add("Reshape", call.inputs[i], one) for i in (3, 2)), axis=0)
    depth = call.add("Reshape", call.inputs[1], one)
    is_scalar = not call.dims()
    if is_scalar:
        indices = call.add("Reshape", indices, one)
    # ONNX counts negative indices from the end; TensorFlow's rows of them are off everywhere.
    beyond = call.to_type_of(depth, call.dtype()) if call.dtype() != call.dtype(1) else depth
    valid = call.add("Where", call.add("Less", indices, call.like(0)), beyond, indices)
    result = call.add("OneHot", valid, depth, values, axis=-1 if is_scalar else call.attr("axis"))
    return call.add("Squeeze", result, call.constant([0], np.int64)) if is_scalar else result


@converts("TopK", "TopKV2")
def top_k(call):
    count = call.numbers(1) if call.op.type == "TopKV2" else call.constant([call.attr("k")], np.int64)
    values, places = call.add("TopK", call.inputs[0], count, outputs=2, sorted=1)
    return [values, call.cast(places, np.int32)]


@converts("Where")
def where(call):
    return call.add("Transpose", call.add("NonZero", call.inputs[0]), perm=[1, 0])


@converts("Roll")
def roll(call):
    value, shifts = call.inputs[0], np.atleast_1d(call.known(1, "shifts"))
    for shift, axis in zip(shifts, np.atleast_1d(call.known(2, "axes")), strict=True):
        size = call.dims()[int(axis)]
        if size is None:
            raise call.error("needs the size of the axis that it rolls")
        cut = -int(shift) % size if size else 0
        if cut:
            numbers = ((cut, _END), (0, cut))
            parts = [
                call.add("Slice", value, *(call.constant([n], np.int64) for n in (*part, axis))) for part in numbers
            ]
            value = call.add("Concat", *parts, axis=int(axis))
    return call.add("Identity", value) if value == call.inputs[0] else value


@converts("Bucketize")
def bucketize(call):
    last = call.constant([-1], np.int64)
    values = call.cast(call.add("Unsqueeze", call.inputs[0], last), np.float32)
    is_above = call.add("GreaterOrEqual", values, call.constant(call.attr("boundaries"), np.float32))
    return call.add("ReduceSum", call.cast(is_above, np.int32), last, keepdims=0)


@converts("ReverseV2")
def reverse(call):
    axes = [int(axis) for axis in np.atleast_1d(call.known(1, "axes"))]
    if not axes:
        return call.add("Identity", call.inputs[0])
    ends = [call.constant([number] * len(axes), np.int64) for number in (-1, -_END)]
    steps = call.constant([-1] * len(axes), np.int64)
    return call.add("Slice", call.inputs[0], *ends, call.constant(axes, np.int64), steps)


@converts("ReverseSequence")
def reverse_sequence(call):
    time, batch = call.attr("seq_dim"), call.attr("batch_dim")
    if {time, batch} != {0, 1}:
        raise call.error("needs its sequence and batch dimensions to be the first two")
    lengths = call.cast(call.inputs[1], np.int64)
    return call.add("ReverseSequence", call.inputs[0], lengths, time_axis=time, batch_axis=batch)
