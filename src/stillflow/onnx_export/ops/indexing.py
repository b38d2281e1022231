"""Ops that pick elements by place: slices, gathers, scatters, searches."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import END, Call, converts


@converts("Slice")
def slice_(call: Call):
    begin, size = call.value(1), call.value(2)
    axes = call.ints(*range(len(call.dims())))
    if begin is not None and size is not None:
        ends = np.where(np.asarray(size) == -1, END, np.asarray(begin, np.int64) + np.asarray(size, np.int64))
        return call.add("Slice", call.inputs[0], call.constant(begin, np.int64), call.constant(ends, np.int64), axes)
    starts, sizes = call.numbers(1), call.numbers(2)
    to_end = call.add("Equal", sizes, call.constant(-1, np.int64))
    ends = call.add("Where", to_end, call.constant(END, np.int64), call.add("Add", starts, sizes))
    return call.add("Slice", call.inputs[0], starts, ends, axes)


def numbered(call, shape):
    """An array of a shape, int64 [rank], whose elements are their numbers, int64: what is done to it tells where the
    elements of another array go."""
    numbers = call.below(call.add("ReduceProd", shape, keepdims=0))
    return call.add("Reshape", numbers, shape)


def scatter_elements(call, shape, places, values, index):
    """Values, of the type of input `index`, added up at the places, numbers of elements, in zeros of a shape."""
    count = call.add("ReduceProd", shape, keepdims=1)
    places, values = (call.add("Reshape", value, call.ints(-1)) for value in (places, values))
    zeros = call.add("Expand", call.like(0, index), count)
    found = call.add("ScatterElements", zeros, places, values, axis=0, reduction="add")
    return call.add("Reshape", found, shape)


@converts("StridedSlice")
def strided_slice(call):
    return _strided_slice(call, call.inputs[0], len(call.dims()))


@converts("StridedSliceGrad")
def strided_slice_gradient(call):
    shape, (rank,) = call.numbers(0), call.dims()
    if rank is None:
        raise call.error("needs to know how many dimensions there are")
    places = _strided_slice(call, numbered(call, shape), rank)
    return scatter_elements(call, shape, places, call.inputs[4], 4)


def _strided_slice(call, value, rank):
    """The slice of a value of a rank that inputs 1 to 3 and the masks say."""
    masks = {name: call.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    strides = np.atleast_1d(call.known(3, "strides"))
    begin, end = call.value(1), call.value(2)
    starts, ends, axes, steps, shrunk, new = [], [], [], [], [], []
    axis = place = 0
    for i, stride in enumerate(strides):
        bit = 1 << i
        if masks["ellipsis"] & bit:
            skipped = _axes_in_ellipsis(rank, len(strides), masks, i)
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
            starts.append(call.ints(0 if stride > 0 else END) if masks["begin"] & bit else first)
            open_end = call.ints(END if stride > 0 else -END)
            ends.append(open_end if masks["end"] & bit else _bound(call, 2, end, i))
            steps.append(int(stride))
            place += 1
        axes.append(axis)
        axis += 1
    if axes:
        joined = [part[0] if len(part) == 1 else call.add("Concat", *part, axis=0) for part in (starts, ends)]
        value = call.add("Slice", value, *joined, call.ints(*axes), call.ints(*steps))
    if shrunk:
        value = call.add("Squeeze", value, call.constant(shrunk, np.int64))
    return call.add("Unsqueeze", value, call.constant(new, np.int64)) if new else value


def _axes_in_ellipsis(rank, count, masks, place):
    named = sum(1 for i in range(count) if i != place and not masks["new_axis"] & (1 << i))
    return rank - named


def _bound(call, index, value, place):
    if value is not None:
        return call.ints(np.atleast_1d(value)[place])
    return call.add("Gather", call.numbers(index), call.ints(place))


def _behind(call, first, begin, place):
    """The end of a slice of one element at `first`; of the last one, at -1, it is open."""
    if begin is not None:
        last = int(np.atleast_1d(begin)[place])
        return call.ints(END if last == -1 else last + 1)
    is_last = call.add("Equal", first, call.ints(-1))
    return call.add("Where", is_last, call.ints(END), call.add("Add", first, call.ints(1)))


@converts("Gather", "GatherV2", "ResourceGather")
def gather(call):
    axis = int(call.known(2, "an axis")) if call.op.type == "GatherV2" else 0
    if call.op.type == "GatherV2" and call.attr("batch_dims"):
        raise call.error("has batch dimensions, which ONNX's Gather lacks")
    return call.add("Gather", *call.inputs[:2], axis=axis)


@converts("GatherNd")
def gather_nd(call):
    return call.add("GatherND", call.inputs[0], call.cast(call.inputs[1], np.int64))


@converts("ScatterNdNonAliasingAdd")
def scatter_nd_add(call):
    indices = call.cast(call.inputs[1], np.int64)
    return call.add("ScatterND", call.inputs[0], indices, call.inputs[2], reduction="add")


@converts("UnravelIndex")
def unravel_index(call):
    """Of numbers of elements their places along each axis of a shape, [axes] or [axes, numbers]."""
    sizes = call.cast(call.inputs[1], np.int64)
    whole = call.add("Concat", sizes, call.ints(1), axis=0)
    # What one step along an axis counts: the product of the sizes behind it.
    (rank,) = call.dims(1)
    if rank is None:
        raise call.error("needs to know how many dimensions there are")
    behind = [call.add("Slice", whole, call.ints(axis + 1), call.ints(rank + 1)) for axis in range(rank)]
    steps = [call.add("ReduceProd", value) for value in behind]
    numbers = call.cast(call.inputs[0], np.int64)
    if call.dims():
        numbers = call.add("Unsqueeze", numbers, call.ints(0))
    places = []
    for axis, step in enumerate(steps):
        size = call.add("Slice", sizes, call.ints(axis), call.ints(axis + 1))
        places.append(call.add("Mod", call.add("Div", numbers, step), size))
    return call.to_type_of(call.add("Concat", *places, axis=0), call.dtype())


@converts("ScatterNd")
def scatter_nd(call):
    zeros = call.add("Expand", call.like(0, 1), call.numbers(2))
    return call.add("ScatterND", zeros, call.cast(call.inputs[0], np.int64), call.inputs[1], reduction="add")


@converts("OneHot")
def one_hot(call):
    """Comparisons with all numbers below the depth: those below 0 and behind the depth are equal to none."""
    rank, axis = len(call.dims()), call.attr("axis")
    place = rank if axis == -1 else axis
    numbers = call.below(call.cast(call.inputs[1], np.int64))
    if place < rank:
        numbers = call.add("Unsqueeze", numbers, call.ints(*range(1, 1 + rank - place)))
    indices = call.add("Unsqueeze", call.cast(call.inputs[0], np.int64), call.ints(place))
    return call.choose(call.add("Equal", indices, numbers), *call.inputs[2:], call.dtype(2))


@converts("TopK", "TopKV2")
def top_k(call):
    count = call.numbers(1) if call.op.type == "TopKV2" else call.ints(call.attr("k"))
    values, places = call.add("TopK", call.inputs[0], count, outputs=2, sorted=1)
    return [values, call.cast(places, np.int32)]


@converts("NthElement")
def nth_element(call):
    count = call.add("Add", call.numbers(1), call.ints(1))
    options = {"axis": -1, "largest": int(call.attr("reverse")), "sorted": 1}
    values, _ = call.add("TopK", call.inputs[0], count, outputs=2, **options)
    last = call.ints(-1)
    found = call.add("Slice", values, last, call.ints(END), last)
    return call.add("Squeeze", found, last)


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
            numbers = ((cut, END), (0, cut))
            parts = [call.add("Slice", value, *(call.ints(n) for n in (*part, axis))) for part in numbers]
            value = call.add("Concat", *parts, axis=int(axis))
    return call.add("Identity", value) if value == call.inputs[0] else value


@converts("Bucketize")
def bucketize(call):
    last = call.ints(-1)
    values = call.cast(call.add("Unsqueeze", call.inputs[0], last), np.float32)
    is_above = call.add("GreaterOrEqual", values, call.constant(call.attr("boundaries"), np.float32))
    return call.add("ReduceSum", call.cast(is_above, np.int32), last, keepdims=0)


@converts("ReverseV2")
def reverse(call):
    axes = [int(axis) for axis in np.atleast_1d(call.known(1, "axes"))]
    if not axes:
        return call.add("Identity", call.inputs[0])
    ends = [call.ints(*[number] * len(axes)) for number in (-1, -END)]
    steps = call.ints(*[-1] * len(axes))
    return call.add("Slice", call.inputs[0], *ends, call.ints(*axes), steps)


@converts("ReverseSequence")
def reverse_sequence(call):
    time, batch = call.attr("seq_dim"), call.attr("batch_dim")
    if {time, batch} != {0, 1}:
        raise call.error("needs its sequence and batch dimensions to be the first two")
    lengths = call.cast(call.inputs[1], np.int64)
    return call.add("ReverseSequence", call.inputs[0], lengths, time_axis=time, batch_axis=batch)
