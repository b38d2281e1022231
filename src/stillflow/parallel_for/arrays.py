"""How nodes that rearrange values are vectorized."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.array.where import boolean_mask
from stillflow.parallel_for.rules import flatten_two, stacked, unflatten_first, vectorizes


def _next_axis(axis):
    """The axis of stacked values that is `axis` in a round."""
    known = constant_value(axis)
    if known is not None:
        return ops.constant(known + (known >= 0).astype(known.dtype))
    return axis + ops.cast(axis >= 0, axis.dtype)


@vectorizes(
    "Identity", "StopGradient", "MatrixDiag", "MatrixDiagPart", "Softmax", "LogSoftmax", "Cholesky", "MatrixInverse",
    "MatrixDeterminant", "PreventGradient", "Snapshot",
)  # fmt: skip
def _same_op(node):
    return stacked(node.again([node.value(0)])[0])


@vectorizes("IdentityN")
def _identity_n(node):
    outputs = node.again([tensor for tensor, _ in node.inputs])
    return [found._replace(tensor=output) for found, output in zip(node.inputs, outputs, strict=True)]


@vectorizes("Reshape")
def _reshape(node):
    shape = node.common(1)
    return stacked(ops.reshape(node.rows(0), ops.concat([ops.cast(node.length, shape.dtype), shape], 0)))


@vectorizes("BroadcastTo")
def _broadcast_to(node):
    value, shape = node.rows(0), node.common(1)
    ones = ops.fill(ops.reshape(ops.size(shape) - (ops.rank(value) - 1), [1]), 1)
    value = ops.reshape(value, ops.concat([ops.shape(value)[:1], ones, ops.shape(value)[1:]], 0))
    return stacked(ops.broadcast_to(value, ops.concat([ops.cast(node.length, shape.dtype), shape], 0)))


@vectorizes("ExpandDims")
def _expand_dims(node):
    return stacked(ops.expand_dims(node.rows(0), _next_axis(node.common(1))))


@vectorizes("Squeeze")
def _squeeze(node):
    dims = list(node.attr("squeeze_dims"))
    value = node.rows(0)
    if dims:
        return stacked(node.again([value], squeeze_dims=tuple(dim + (dim >= 0) for dim in dims))[0])
    shape = ops.shape(value)[1:]
    kept = boolean_mask(shape, ops.not_equal(shape, 1))
    return stacked(ops.reshape(value, ops.concat([node.length, kept], 0)))


@vectorizes("MatrixBandPart")
def _band(node):
    return stacked(node.again([node.rows(0), node.common(1), node.common(2)])[0])


@vectorizes("MatrixSetDiag", "LowerBound", "UpperBound")
def _of_rows(node):
    if node.op.type == "MatrixSetDiag":
        return stacked(node.again(node.stack_all())[0])
    flat = [flatten_two(tensor) for tensor in node.stack_all()]
    return stacked(unflatten_first(node.again(flat)[0], node.length))


@vectorizes("OneHot")
def _one_hot(node):
    axis = node.attr("axis")
    inputs = [node.rows(0), *(node.common(index) for index in (1, 2, 3))]
    return stacked(node.again(inputs, axis=axis + (axis >= 0))[0])


@vectorizes("Slice")
def _slice(node):
    begin, size = node.common(1), node.common(2)
    zero, all_rows = ops.constant([0], begin.dtype), ops.constant([-1], size.dtype)
    return stacked(ops.slice(node.rows(0), ops.concat([zero, begin], 0), ops.concat([all_rows, size], 0)))


@vectorizes("Tile")
def _tile(node):
    multiples = node.common(1)
    return stacked(ops.tile(node.rows(0), ops.concat([ops.constant([1], multiples.dtype), multiples], 0)))


@vectorizes("Pack")
def _pack(node):
    axis = node.attr("axis")
    return stacked(node.again(node.stack_all(), axis=axis + (axis >= 0))[0])


@vectorizes("Unpack")
def _unpack(node):
    axis = node.attr("axis")
    return [stacked(output) for output in node.again([node.rows(0)], axis=axis + (axis >= 0))]


@vectorizes("Pad", "PadV2", "MirrorPad")
def _pad(node):
    paddings = node.common(1)
    paddings = ops.concat([ops.zeros([1, 2], paddings.dtype), paddings], 0)
    rest = [node.common(index) for index in range(2, len(node))]
    return stacked(node.again([node.rows(0), paddings, *rest])[0])


@vectorizes("Split")
def _split(node):
    return [stacked(output) for output in node.again([_next_axis(node.common(0)), node.rows(1)])]


@vectorizes("SplitV")
def _split_v(node):
    outputs = node.again([node.rows(0), node.common(1), _next_axis(node.common(2))])
    return [stacked(output) for output in outputs]


@vectorizes("Transpose")
def _transpose(node):
    order = node.common(1)
    return stacked(ops.transpose(node.rows(0), ops.concat([ops.constant([0], order.dtype), order + 1], 0)))


@vectorizes("ReverseV2")
def _reverse(node):
    return stacked(node.again([node.rows(0), _next_axis(node.common(1))])[0])


@vectorizes("ConcatV2")
def _concat(node):
    count = len(node) - 1
    return stacked(node.again([*node.stack_all(range(count)), _next_axis(node.common(count))])[0])


@vectorizes("StridedSlice", "StridedSliceGrad")
def _strided_slice(node):
    is_gradient = node.op.type == "StridedSliceGrad"
    begin, end, strides = (node.common(index) for index in (1, 2, 3))
    zero, one = ops.constant([0], begin.dtype), ops.constant([1], begin.dtype)
    places = [ops.concat([zero, begin], 0), ops.concat([zero, end], 0), ops.concat([one, strides], 0)]
    masks = {name: node.attr(name) << 1 for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    masks.update({name: node.attr(name) << 1 | 1 for name in ("begin_mask", "end_mask")})
    if is_gradient:
        shape = node.common(0)
        shape = ops.concat([ops.cast(node.length, shape.dtype), shape], 0)
        return stacked(node.again([shape, *places, node.rows(4)], **masks)[0])
    return stacked(node.again([node.rows(0), *places], **masks)[0])


@vectorizes("Gather", "GatherV2")
def _gather(node):
    axis = ops.constant(0) if node.op.type == "Gather" else node.common(2)
    batch_dims = node.op._attrs.get("batch_dims", 0)
    known = constant_value(axis)
    if not node.is_stacked(0) and batch_dims == 0:
        return _gather_of_common(node, axis, known)
    if batch_dims == 0 and not node.is_stacked(1):
        axis = _next_axis(axis)
        return stacked(ops.gather(node.value(0), node.value(1), axis=axis))
    if known is not None:
        params, indices = node.stack_all([0, 1])
        axis = int(known) + (int(known) >= 0)
        return stacked(ops.gather(params, indices, axis=axis, batch_dims=batch_dims + (batch_dims >= 0)))
    raise ValueError(
        f"Error while converting {node.op.name}. Gather, where indices and param are both loop dependent, needs a "
        "constant axis"
    )


def _gather_of_common(node, axis, known):
    """A gather from what is the same in all rounds."""
    params, indices = node.value(0), node.value(1)
    if indices is node.vectorizer.rounds and known == 0:
        size = params.shape.dims[0].value if params.shape.dims else None
        if size is not None and size == indices.shape.dims[0].value:
            return stacked(params)  # the rounds are in order and each one is there
    gathered = ops.gather(params, indices, axis=axis)
    if known == 0:
        return stacked(gathered)
    axis = axis % ops.cast(ops.rank(params), axis.dtype)
    axis = ops.cast(ops.reshape(axis, []), "int32")
    order = ops.concat([ops.reshape(axis, [1]), ops.range(axis), ops.range(axis + 1, ops.rank(gathered))], 0)
    return stacked(ops.transpose(gathered, order))


@vectorizes("GatherNd")
def _gather_nd(node):
    params, indices = node.stack_all()
    shape = ops.shape(indices)
    numbers = ops.reshape(
        ops.cast(ops.range(node.length[0]), indices.dtype),
        ops.concat([node.length, ops.fill(ops.reshape(ops.rank(indices) - 1, [1]), 1)], 0),
    )
    numbers = ops.tile(numbers, ops.concat([[1], shape[1:-1], [1]], 0))
    return stacked(node.again([params, ops.concat([numbers, indices], -1)])[0])


@vectorizes("Fill")
def _fill(node):
    dims, value = node.common(0), node.rows(1)
    ones = ops.fill(ops.reshape(ops.size(dims), [1]), 1)
    value = ops.reshape(value, ops.concat([node.length, ones], 0))
    return stacked(ops.tile(value, ops.concat([ops.constant([1], dims.dtype), dims], 0)))
