"""How nodes of neural networks and their gradients are vectorized."""

from __future__ import annotations

from stillflow import ops
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.parallel_for.rules import flatten_two, same_in_all, stacked, unflatten_first, vectorizes

# {op type: the inputs whose first dimension is the batch}: rounds are further rows of the batch.
_BATCHED = {
    "Conv2D": (0,), "Conv3D": (0,), "DepthwiseConv2dNative": (0,), "AvgPool": (0,), "AvgPool3D": (0,),
    "MaxPool": (0,), "MaxPool3D": (0,), "MaxPoolGrad": (0, 1, 2), "MaxPool3DGrad": (0, 1, 2),
    "MaxPoolGradGrad": (0, 1, 2), "MaxPool3DGradGrad": (0, 1, 2), "SoftmaxCrossEntropyWithLogits": (0, 1),
    "SparseSoftmaxCrossEntropyWithLogits": (0, 1), "LRN": (0,), "ResizeBilinear": (0,),
    "ResizeNearestNeighbor": (0,), "SpaceToDepth": (0,), "DepthToSpace": (0,),
}  # fmt: skip
# {op type: (the input that is a shape, the batched input)}
_WITH_SIZES = {"Conv2DBackpropInput": (0, 2), "Conv3DBackpropInputV2": (0, 2), "AvgPoolGrad": (0, 1),
               "DepthwiseConv2dNativeBackpropInput": (0, 2)}  # fmt: skip


@vectorizes(*_BATCHED)
def _batched(node):
    batched = _BATCHED[node.op.type]
    try:
        others = [None if index in batched else node.common(index) for index in range(len(node))]
    except ValueError:
        return one_by_one(node)
    inputs = [flatten_two(node.rows(index)) if index in batched else others[index] for index in range(len(node))]
    return [stacked(unflatten_first(output, node.length)) for output in node.again(inputs)]


@vectorizes(*_WITH_SIZES)
def _batched_with_sizes(node):
    at_sizes, at_batch = _WITH_SIZES[node.op.type]
    if any(node.is_stacked(index) for index in range(len(node)) if index not in (at_sizes, at_batch)):
        return one_by_one(node)
    sizes = node.common(at_sizes)
    inputs = [node.value(index) for index in range(len(node))]
    inputs[at_sizes] = ops.concat([sizes[:1] * node.length, sizes[1:]], 0)
    inputs[at_batch] = flatten_two(node.rows(at_batch))
    return stacked(unflatten_first(node.again(inputs)[0], node.length))


@vectorizes("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter")
def _filter_gradient(node):
    if node.is_stacked(0) or node.op.type != "Conv2DBackpropFilter":
        return one_by_one(node)
    # The gradients of all rounds are further channels, and the filter has so many outputs.
    sizes, (gradient, _, _) = node.common(1), _as_channels(node, 2)
    wide = ops.concat([sizes[:3], sizes[3:] * node.length], 0)
    result = node.again([node.value(0), wide, gradient])[0]
    result = ops.reshape(result, ops.concat([sizes[:3], node.length, [-1]], 0))
    return stacked(ops.transpose(result, [3, 0, 1, 2, 4]))


def _as_channels(node, index):
    """An input with the rounds as further channels; what brings it back: (a shape, an order)."""
    value = node.rows(index)
    shape = ops.shape(value)
    if node.attr("data_format") == b"NCHW":
        order, back = [1, 0, 2, 3, 4], [1, 0, 2, 3, 4]
        merged = ops.concat([shape[1:2], [-1], shape[3:]], 0)
    else:
        order, back = [1, 2, 3, 0, 4], [3, 0, 1, 2, 4]
        merged = ops.concat([shape[1:4], [-1]], 0)
    value = ops.transpose(value, order)
    return ops.reshape(value, merged), ops.shape(value), back


@vectorizes("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(node):
    if not node.attr("is_training") and not any(node.is_stacked(index) for index in range(1, len(node))):
        outputs = node.again([flatten_two(node.rows(0)), *(node.value(index) for index in range(1, len(node)))])
        zeros = ops.zeros_like(node.value(3))
        return [stacked(unflatten_first(outputs[0], node.length)), *[same_in_all(zeros)] * (len(outputs) - 1)]
    # Each round has statistics of its own: the rounds are further channels.
    value, shape, back = _as_channels(node, 0)
    outputs = node.again([value, *(ops.reshape(node.rows(index), [-1]) for index in range(1, len(node)))])
    first = ops.transpose(ops.reshape(outputs[0], shape), back)
    return [stacked(first), *(stacked(unflatten_first(output, node.length)) for output in outputs[1:])]


@vectorizes("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _batch_norm_gradient(node):
    gradient, _, _ = _as_channels(node, 0)
    value, shape, back = _as_channels(node, 1)
    rest = [ops.reshape(node.rows(index), [-1]) for index in range(2, len(node))]
    outputs = node.again([gradient, value, *rest])
    first = ops.transpose(ops.reshape(outputs[0], shape), back)
    return [stacked(first), *(stacked(unflatten_first(output, node.length)) for output in outputs[1:])]


def one_by_one(node):
    """The outputs of a node that is run for each round by a loop."""
    count = node.length[0]
    arrays = [TensorArray(output.dtype, count) for output in node.op.outputs]

    def body(index, arrays):
        inputs = [ops.gather(tensor, index) if is_stacked else tensor for tensor, is_stacked in node.inputs]
        outputs = node.again(inputs)
        return index + 1, [array.write(index, output) for array, output in zip(arrays, outputs, strict=True)]

    _, arrays = while_loop(lambda index, _: index < count, body, (ops.constant(0), arrays))
    return [stacked(array.stack()) for array in arrays]
