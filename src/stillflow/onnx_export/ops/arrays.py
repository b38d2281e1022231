"""Ops that reshape, join, cut and fill arrays."""

from __future__ import annotations

import numpy as np

from stillflow.graph import shape_inference
from stillflow.onnx_export.ops.indexing import numbered, scatter_elements
from stillflow.onnx_export.translation import Call, converts


@converts("Shape")
def shape(call: Call):
    return call.to_type_of(call.add("Shape", call.inputs[0]), call.op.outputs[0].dtype)


@converts("ShapeN")
def shapes(call):
    return [
        call.to_type_of(call.add("Shape", value), output.dtype)
        for value, output in zip(call.inputs, call.op.outputs, strict=True)
    ]


@converts("BroadcastGradientArgs")
def broadcast_gradient_args(call):
    """The axes along which two broadcast shapes have 1, each; none where they are the same."""
    lengths = [call.dims(index)[0] for index in (0, 1)]
    if None in lengths:
        raise call.error("needs to know how many dimensions its shapes have")
    padded = []
    for value, length in zip(call.inputs, lengths, strict=True):
        missing = max(lengths) - length
        sizes = call.cast(value, np.int64)
        padded.append(call.add("Concat", call.ints(*[1] * missing), sizes, axis=0) if missing else sizes)
    differs = call.constant(True)
    if lengths[0] == lengths[1]:
        is_other = call.cast(call.add("Not", call.add("Equal", *padded)), np.int32)
        differs = call.cast(call.add("ReduceMax", is_other, keepdims=0), np.bool_)
    made = []
    for sizes, output in zip(padded, call.op.outputs, strict=True):
        is_reduced = call.add("And", call.add("Equal", sizes, call.constant(1, np.int64)), differs)
        axes = call.add("Squeeze", call.add("NonZero", is_reduced), call.ints(0))
        made.append(call.to_type_of(axes, output.dtype))
    return made


@converts("Rank")
def rank(call):
    return call.constant(len(call.dims()), np.int32)


@converts("LinSpace")
def lin_space(call):
    """num numbers from start to stop; the step is that of at least two."""
    start, stop, num = call.inputs
    last = call.add("Sub", call.cast(num, np.int64), call.constant(1, np.int64))
    steps = call.add("Max", last, call.constant(1, np.int64))
    step = call.add("Div", call.add("Sub", stop, start), call.to_type_of(steps, call.dtype()))
    numbers = call.below(call.cast(num, np.int64))
    return call.add("Add", start, call.add("Mul", call.to_type_of(numbers, call.dtype()), step))


@converts("DataFormatDimMap", "DataFormatVecPermute")
def data_format(call):
    source, target = call.attr("src_format"), call.attr("dst_format")
    if call.op.type == "DataFormatVecPermute":
        return call.add("Gather", call.inputs[0], call.ints(*(source.index(axis) for axis in target)))
    places = call.constant([target.index(axis) for axis in source], np.int32)
    return call.add("Gather", places, call.inputs[0])


@converts("Size")
def size(call):
    return call.to_type_of(call.add("Size", call.inputs[0]), call.op.outputs[0].dtype)


@converts("Reshape")
def reshape(call):
    partial = shape_inference.value_as_dims(shape_inference.partial_value(call.op.inputs[1]))
    if partial is not None and partial.count(None) <= 1:
        sizes = call.ints(*(-1 if size is None else size for size in partial))
    else:
        sizes = call.numbers(1)
    return call.add("Reshape", call.inputs[0], sizes, allowzero=0 if partial is None or 0 not in partial else 1)


@converts("ExpandDims")
def expand_dims(call):
    return call.add("Unsqueeze", call.inputs[0], call.ints(int(call.known(1, "an axis"))))


@converts("Squeeze")
def squeeze(call):
    axes = call.attr("squeeze_dims") or [axis for axis, size in enumerate(call.dims()) if size == 1]
    return call.add("Squeeze", call.inputs[0], call.ints(*axes))


@converts("Transpose", "ConjugateTranspose")
def transpose(call):
    return call.add("Transpose", call.inputs[0], perm=[int(axis) for axis in call.known(1, "axes")])


@converts("ConcatV2", "Concat")
def concat(call):
    last = len(call.inputs) - 1
    axis, values = (last, call.inputs[:-1]) if call.op.type == "ConcatV2" else (0, call.inputs[1:])
    return call.add("Concat", *values, axis=int(call.known(axis, "an axis")))


@converts("ParallelConcat")
def parallel_concat(call):
    return call.add("Concat", *call.inputs, axis=0)


@converts("Pack")
def pack(call):
    axis = call.attr("axis")
    axes = call.ints(axis)
    return call.add("Concat", *(call.add("Unsqueeze", value, axes) for value in call.inputs), axis=axis)


@converts("Unpack")
def unpack(call):
    axis, count = call.attr("axis"), call.attr("num")
    parts = call.add("Split", call.inputs[0], outputs=count, axis=axis, num_outputs=count)
    axes = call.ints(axis)
    return [call.add("Squeeze", part, axes) for part in ([parts] if count == 1 else parts)]


@converts("Split")
def split(call):
    count = call.attr("num_split")
    parts = call.add("Split", call.inputs[1], outputs=count, axis=int(call.known(0, "an axis")), num_outputs=count)
    return [parts] if count == 1 else parts


@converts("SplitV")
def split_v(call):
    count = call.attr("num_split")
    sizes, axis = np.array(call.known(1, "sizes"), np.int64), int(call.known(2, "an axis"))
    if -1 in sizes:
        total = call.dims()[axis]
        if total is None:
            raise call.error("needs the size of the axis that it cuts")
        sizes[sizes == -1] = total - sizes[sizes != -1].sum()
    parts = call.add("Split", call.inputs[0], call.constant(sizes), outputs=count, axis=axis)
    return [parts] if count == 1 else parts


@converts("Tile")
def tile(call):
    return call.add("Tile", call.inputs[0], call.numbers(1))


@converts("Fill")
def fill(call):
    return call.add("Expand", call.inputs[1], call.numbers(0))


@converts("BroadcastArgs")
def broadcast_args(call):
    """The shape of a sum of zeros of both."""
    zeros = [call.add("ConstantOfShape", call.cast(value, np.int64)) for value in call.inputs]
    return call.to_type_of(call.add("Shape", call.add("Add", *zeros)), call.dtype())


@converts("BroadcastTo")
def broadcast_to(call):
    return call.add("Expand", call.inputs[0], call.numbers(1))


@converts("ConcatOffset")
def concat_offset(call):
    """Where the parts of a concatenation begin, from their shapes: along its axis behind those before."""
    axis = int(call.known(0, "an axis"))
    (rank,) = call.dims(1)
    if rank is None:
        raise call.error("needs to know how many dimensions its shapes have")
    is_axis = np.zeros(rank, np.int32)
    is_axis[axis] = 1
    begin, offsets = call.constant(np.zeros(rank, np.int32)), []
    for sizes in call.inputs[1:]:
        offsets.append(call.add("Mul", begin, call.constant(is_axis)))
        begin = call.add("Add", begin, sizes)
    return offsets


def _paddings(call):
    """ONNX wants all sizes before the elements, then all behind."""
    value = call.value(1)
    if value is not None:
        return call.constant(np.asarray(value, np.int64).T.reshape(-1))
    turned = call.add("Transpose", call.cast(call.inputs[1], np.int64), perm=[1, 0])
    return call.add("Reshape", turned, call.ints(-1))


@converts("Pad", "PadV2")
def pad(call):
    filling = [call.inputs[2]] if call.op.type == "PadV2" else []
    return call.add("Pad", call.inputs[0], _paddings(call), *filling, mode="constant")


@converts("MirrorPad")
def mirror_pad(call):
    return _mirror_padded(call, call.inputs[0])


@converts("MirrorPadGrad")
def mirror_pad_gradient(call):
    """Each element has the gradients of all places where it was put."""
    added = call.add("ReduceSum", call.cast(call.inputs[1], np.int64), call.ints(1), keepdims=0)
    shape = call.add("Sub", call.add("Shape", call.inputs[0]), added)
    return scatter_elements(call, shape, _mirror_padded(call, numbered(call, shape)), call.inputs[0], 0)


def _mirror_padded(call, value):
    if call.attr("mode") == "REFLECT":
        return call.add("Pad", value, _paddings(call), mode="reflect")
    # SYMMETRIC: the edge is repeated once, which ONNX has for one element at a time.
    for axis, (before, behind) in enumerate(call.known(1, "paddings")):
        value = _mirrored(call, value, axis, int(before), int(behind))
    return value


def _mirrored(call, value, axis, before, behind):
    def part(start, end):  # backwards, from `start` down to before `end`
        numbers = [call.ints(number) for number in (start, end, axis, -1)]
        return call.add("Slice", value, *numbers)

    least = np.iinfo(np.int64).min
    head = [part(before - 1, least)] if before else []
    tail = [part(-1, -behind - 1)] if behind else []
    return call.add("Concat", *head, value, *tail, axis=axis) if head or tail else value


@converts("Range")
def range_(call):
    return call.add("Range", *call.inputs)


@converts("SpaceToDepth")
def space_to_depth(call):
    inner = call.add("Transpose", call.inputs[0], perm=[0, 3, 1, 2])
    return call.add(
        "Transpose", call.add("SpaceToDepth", inner, blocksize=call.attr("block_size")), perm=[0, 2, 3, 1]
    )


@converts("DepthToSpace")
def depth_to_space(call):
    inner = call.add("Transpose", call.inputs[0], perm=[0, 3, 1, 2])
    return call.add(
        "Transpose", call.add("DepthToSpace", inner, blocksize=call.attr("block_size")), perm=[0, 2, 3, 1]
    )


def _blocks(call):
    """The sizes of blocks; of the older ops, which have one for both sides of images, they are an attribute."""
    is_old = not call.op.type.endswith("ND")
    return [call.attr("block_size")] * 2 if is_old else [int(block) for block in call.known(1, "blocks")]


@converts("SpaceToBatch", "SpaceToBatchND")
def space_to_batch(call):
    blocks = _blocks(call)
    paddings = np.asarray(call.known(len(call.inputs) - 1, "paddings"), np.int64)
    rank, inner = len(call.dims()), len(blocks)
    pads = np.zeros([rank, 2], np.int64)
    pads[1 : 1 + inner] = paddings
    value = call.add("Pad", call.inputs[0], call.constant(pads.T.reshape(-1)), mode="constant")
    sizes = call.add("Shape", value)
    places = [_size(call, sizes, 0)]
    for axis, block in enumerate(blocks, 1):
        block_size = call.ints(block)
        places += [call.add("Div", _size(call, sizes, axis), block_size), block_size]
    places += [_size(call, sizes, axis) for axis in range(1 + inner, rank)]
    value = call.add("Reshape", value, call.add("Concat", *places, axis=0))
    order = [2 * i + 2 for i in range(inner)] + [0] + [2 * i + 1 for i in range(inner)]
    value = call.add("Transpose", value, perm=order + list(range(1 + 2 * inner, rank + inner)))
    whole = [call.ints(-1)] + [places[2 * i + 1] for i in range(inner)] + places[1 + 2 * inner :]
    return call.add("Reshape", value, call.add("Concat", *whole, axis=0))


@converts("BatchToSpace", "BatchToSpaceND")
def batch_to_space(call):
    blocks = _blocks(call)
    crops = np.asarray(call.known(len(call.inputs) - 1, "crops"), np.int64)
    rank, inner = len(call.dims()), len(blocks)
    sizes = call.add("Shape", call.inputs[0])
    parts = [call.ints(block) for block in blocks]
    outer = [_size(call, sizes, axis) for axis in range(1, rank)]
    target = call.add("Concat", *parts, call.ints(-1), *outer, axis=0)
    value = call.add("Reshape", call.inputs[0], target)
    order = [inner]
    for i in range(inner):
        order += [inner + 1 + i, i]
    value = call.add("Transpose", value, perm=order + list(range(2 * inner + 1, rank + inner)))
    merged = [call.add("Mul", outer[i], parts[i]) for i in range(inner)]
    value = call.add("Reshape", value, call.add("Concat", call.ints(-1), *merged, *outer[inner:], axis=0))
    ends = [call.add("Sub", merged[i], call.ints(crops[i, 1])) for i in range(inner)]
    axes = call.ints(*range(1, 1 + inner))
    return call.add("Slice", value, call.constant(crops[:, 0]), call.add("Concat", *ends, axis=0), axes)


def _size(call, sizes, axis):
    return call.add("Gather", sizes, call.ints(axis))


@converts("MatrixBandPart")
def matrix_band_part(call):
    """What is above and below the band is cut off, one after the other."""
    result = call.inputs[0]
    for index, sign, is_lower_cut in ((1, -1, 1), (2, 1, 0)):
        count = int(call.known(index, "widths of the band"))
        if count >= 0:
            result = call.add("Trilu", result, call.constant(sign * count, np.int64), upper=is_lower_cut)
    return result
