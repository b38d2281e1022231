"""Shapes, parts of tensors, tensors put together."""

from __future__ import annotations

import numpy as np

from stillflow.conversion.onnx_graph import converts
from stillflow.graph import dtypes
from stillflow.inspection.sources import InputError

_END = 2**62  # beyond any size


def _wanted(made, operation, name, dtype=dtypes.int64):
    """A result of ONNX's type as TensorFlow's operation has it."""
    wanted = operation.outputs[0].dtype
    return name if wanted == dtype else made.cast(name, wanted)


@converts("Shape")
def _shape(made, operation):
    return _wanted(made, operation, made.node("Shape", made.inputs(operation)))


@converts("ShapeN")
def _shapes(made, operation):
    return [_wanted(made, operation, made.node("Shape", [name])) for name in made.inputs(operation)]


@converts("Size")
def _size(made, operation):
    return _wanted(made, operation, made.node("Size", made.inputs(operation)))


@converts("Rank")
def _rank(made, operation):
    rank = made.node("Size", [made.node("Shape", made.inputs(operation))])
    return _wanted(made, operation, rank)


@converts("Reshape")
def _reshape(made, operation):
    return made.node("Reshape", [made.input(operation, 0), made.shape_input(operation, 1)], allowzero=1)


@converts("Transpose")
def _transpose(made, operation):
    return made.transpose(made.input(operation, 0), [int(axis) for axis in made.value(operation, 1)])


@converts("ExpandDims")
def _expand_dims(made, operation):
    return made.unsqueeze(made.input(operation, 0), [int(made.value(operation, 1))])


@converts("Squeeze")
def _squeeze(made, operation):
    axes = list(operation.get_attr("squeeze_dims"))
    if not axes:
        dims = made.dims(operation.inputs[0], "to drop sizes of 1")
        if None in dims:
            raise InputError(f"{operation.name} (Squeeze): its axes must be given where sizes are unknown.")
        axes = [axis for axis, size in enumerate(dims) if size == 1]
    return made.squeeze(made.input(operation, 0), axes) if axes else made.input(operation, 0)


@converts("ConcatV2")
def _concat(made, operation):
    *names, _ = range(len(operation.inputs))
    axis = int(made.value(operation, len(operation.inputs) - 1))
    return made.node("Concat", [made.input(operation, index) for index in names], axis=axis)


@converts("Concat")
def _old_concat(made, operation):
    names = [made.input(operation, index) for index in range(1, len(operation.inputs))]
    return made.node("Concat", names, axis=int(made.value(operation, 0)))


@converts("Pack")
def _pack(made, operation):
    axis = operation.get_attr("axis")
    if axis < 0:
        axis += len(made.dims(operation.inputs[0], "to count axes from the end")) + 1
    return made.node("Concat", [made.unsqueeze(name, [axis]) for name in made.inputs(operation)], axis=axis)


@converts("Unpack")
def _unpack(made, operation):
    axis, name = operation.get_attr("axis"), made.input(operation, 0)
    return [
        made.node("Gather", [name, made.constant(np.array(index, np.int64))], axis=axis)
        for index in range(operation.get_attr("num"))
    ]


@converts("Split")
def _split(made, operation):
    axis, count = int(made.value(operation, 0)), operation.get_attr("num_split")
    if count == 1:
        return made.node("Identity", [made.input(operation, 1)])
    return made.node("Split", [made.input(operation, 1)], outputs=count, axis=axis)


@converts("SplitV")
def _split_v(made, operation):
    axis, sizes = int(made.value(operation, 2)), made.value(operation, 1).astype(np.int64)
    if (sizes < 0).any():
        total = made.dims(operation.inputs[0], "to split it")[axis]
        if total is None:
            raise InputError(f"{operation.name} (SplitV): the size that it splits must be known.")
        sizes = np.where(sizes < 0, total - sizes[sizes >= 0].sum(), sizes)
    if len(sizes) == 1:
        return made.node("Identity", [made.input(operation, 0)])
    return made.node("Split", [made.input(operation, 0), made.ints(sizes)], outputs=len(sizes), axis=axis)


@converts("Slice")
def _slice(made, operation):
    name, begin = made.input(operation, 0), made.shape_input(operation, 1)
    axes = made.ints(range(len(made.dims(operation.inputs[0], "to cut it"))))
    if made.is_constant(operation.inputs[2]) and made.is_constant(operation.inputs[1]):
        begins, sizes = made.value(operation, 1), made.value(operation, 2)
        ends = [_END if size < 0 else b + size for b, size in zip(begins, sizes, strict=True)]
        return made.node("Slice", [name, begin, made.ints(ends), axes])
    sizes = made.shape_input(operation, 2)
    is_rest = made.node("Less", [sizes, made.ints([0])])
    ends = made.node("Where", [is_rest, made.ints([_END]), made.node("Add", [begin, sizes])])
    return made.node("Slice", [name, begin, ends, axes])


@converts("StridedSlice")
def _strided_slice(made, operation):
    masks = {
        key: operation.get_attr(f"{key}_mask") for key in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    name = made.input(operation, 0)
    begins, ends, steps = (
        made.value(operation, index) if made.is_constant(operation.inputs[index]) else None for index in (1, 2, 3)
    )
    if begins is None or ends is None or steps is None:
        return _moving_slice(made, operation, masks)
    rank = len(made.dims(operation.inputs[0], "to cut it"))
    plan = _slice_plan(begins, ends, steps, masks, rank)
    if plan["axes"]:
        name = made.slice(name, plan["starts"], plan["ends"], plan["axes"], plan["steps"])
    if plan["dropped"]:
        name = made.squeeze(name, plan["dropped"])
    return made.unsqueeze(name, plan["added"]) if plan["added"] else name


def _slice_plan(begins, ends, steps, masks, rank):
    """Which axes are cut, and how; which are dropped then, and which added, counted in the result."""
    plan: dict = {"starts": [], "ends": [], "axes": [], "steps": [], "dropped": [], "added": []}
    has = lambda key, bit: bool(masks[key] >> bit & 1)  # noqa: E731
    given = sum(not has("new_axis", bit) and not has("ellipsis", bit) for bit in range(len(begins)))
    axis = target = 0
    for bit in range(len(begins)):
        if has("ellipsis", bit):
            axis, target = axis + rank - given, target + rank - given
            continue
        if has("new_axis", bit):
            plan["added"].append(target)
            target += 1
            continue
        begin, end, step = int(begins[bit]), int(ends[bit]), int(steps[bit])
        if has("shrink_axis", bit):
            end, step = begin + 1 if begin != -1 else _END, 1
            plan["dropped"].append(axis)
        else:
            target += 1
            if has("begin", bit):
                begin = 0 if step > 0 else _END
            if has("end", bit):
                end = _END if step > 0 else -_END
        if (begin, end, step) != (0, _END, 1):
            for key, value in (("starts", begin), ("ends", end), ("axes", axis), ("steps", step)):
                plan[key].append(value)
        axis += 1
    return plan


def _moving_slice(made, operation, masks):
    """A slice whose bounds depend on inputs: without new axes, an ellipsis or steps."""
    steps = made.value(operation, 3)
    if masks["new_axis"] or masks["ellipsis"] or (steps != 1).any():
        raise InputError(
            f"{operation.name} (StridedSlice): bounds that depend on inputs cannot be combined with that."
        )
    count = len(steps)
    begin, end = made.shape_input(operation, 1), made.shape_input(operation, 2)
    is_first = np.array([bool(masks["begin"] >> bit & 1) for bit in range(count)])
    is_last = np.array([bool(masks["end"] >> bit & 1) for bit in range(count)])
    dropped = [bit for bit in range(count) if masks["shrink_axis"] >> bit & 1]
    if is_first.any():
        begin = made.node("Where", [made.constant(is_first), made.ints([0]), begin])
    if dropped:
        is_dropped = made.constant(np.isin(np.arange(count), dropped))
        end = made.node("Where", [is_dropped, made.node("Add", [begin, made.ints([1])]), end])
    if is_last.any():
        end = made.node("Where", [made.constant(is_last), made.ints([_END]), end])
    name = made.node("Slice", [made.input(operation, 0), begin, end, made.ints(range(count))])
    return made.squeeze(name, dropped) if dropped else name


@converts("Fill")
def _fill(made, operation):
    return made.node("Expand", [made.input(operation, 1), made.shape_input(operation, 0)])


@converts("BroadcastTo")
def _broadcast_to(made, operation):
    return made.node("Expand", [made.input(operation, 0), made.shape_input(operation, 1)])


@converts("ZerosLike", "OnesLike")
def _filled_like(made, operation):
    value = np.array(operation.type == "OnesLike", operation.inputs[0].dtype.as_numpy_dtype)
    return made.node("Expand", [made.constant(value), made.node("Shape", made.inputs(operation))])


@converts("Tile")
def _tile(made, operation):
    return made.node("Tile", [made.input(operation, 0), made.shape_input(operation, 1)])


@converts("Gather", "GatherV2")
def _gather(made, operation):
    axis = int(made.value(operation, 2)) if operation.type == "GatherV2" else 0
    return made.node("Gather", [made.input(operation, 0), made.input(operation, 1)], axis=axis)


@converts("GatherNd")
def _gather_nd(made, operation):
    return made.node("GatherND", [made.input(operation, 0), made.shape_input(operation, 1)])


@converts("Pad", "PadV2", "MirrorPad")
def _pad(made, operation):
    widths = np.asarray(made.value(operation, 1)).T.ravel()
    inputs = [made.input(operation, 0), made.ints(widths)]
    if operation.type == "PadV2":
        inputs.append(made.input(operation, 2))
    mode = "constant"
    if operation.type == "MirrorPad":
        if operation.get_attr("mode") != b"REFLECT":
            raise InputError(f"{operation.name}: ONNX has no symmetric padding.")
        mode = "reflect"
    return made.node("Pad", inputs, mode=mode)


@converts("Range")
def _range(made, operation):
    return made.node("Range", made.inputs(operation))


@converts("OneHot")
def _one_hot(made, operation):
    depth = made.ints(int(made.value(operation, 1)))
    values = made.node("Concat", [made.unsqueeze(made.input(operation, index), [0]) for index in (3, 2)], axis=0)
    # ONNX counts negative indices from the end, where TensorFlow has no class at all. Not all runtimes take int32.
    indices = made.cast(made.input(operation, 0), dtypes.int64)
    zero, beyond = np.int64(0), np.int64(int(made.value(operation, 1)))
    is_negative = made.node("Less", [indices, made.constant(zero)])
    indices = made.node("Where", [is_negative, made.constant(beyond), indices])
    return made.node("OneHot", [indices, depth, values], axis=operation.get_attr("axis"))


@converts("ReverseV2")
def _reverse(made, operation):
    axes = [int(axis) for axis in made.value(operation, 1)]
    count = len(axes)
    if not axes:
        return made.input(operation, 0)
    return made.slice(made.input(operation, 0), [-1] * count, [-_END] * count, axes, [-1] * count)


@converts("Where")
def _where(made, operation):
    found = made.input(operation, 0)
    if operation.inputs[0].dtype == dtypes.bool_:
        found = made.cast(found, dtypes.int32)
    return made.transpose(made.node("NonZero", [found]), [1, 0])
