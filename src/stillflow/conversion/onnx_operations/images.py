"""Normalization and resizing of images."""

from __future__ import annotations

import numpy as np

from stillflow.conversion.onnx_graph import converts
from stillflow.conversion.onnx_operations.windows import Layout
from stillflow.graph import dtypes
from stillflow.inspection.sources import InputError


@converts("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(made, operation):
    if operation.get_attr("is_training"):
        raise InputError(f"{operation.name}: it normalizes by the batch; convert the graph that predicts.")
    layout = Layout(made, operation)
    x, scale, offset, mean, variance = made.inputs(operation)
    found = made.node(
        "BatchNormalization",
        [layout.enter(x), scale, offset, mean, variance],
        epsilon=operation.get_attr("epsilon"),
    )
    return layout.leave(found)


@converts("LRN")
def _local_response_normalization(made, operation):
    size = 2 * operation.get_attr("depth_radius") + 1
    found = made.node(
        "LRN",
        [made.transpose(made.input(operation, 0), [0, 3, 1, 2])],
        size=size,
        alpha=operation.get_attr("alpha") * size,
        beta=operation.get_attr("beta"),
        bias=operation.get_attr("bias"),
    )
    return made.transpose(found, [0, 2, 3, 1])


@converts("ResizeBilinear", "ResizeNearestNeighbor")
def _resize(made, operation):
    is_linear = operation.type == "ResizeBilinear"
    corners = operation.get_attr("align_corners")
    centers = operation.get_attr("half_pixel_centers")
    mode = "align_corners" if corners else "half_pixel" if centers else "asymmetric"
    # TensorFlow's nearest pixel is that above the position, but with aligned corners, where it rounds.
    nearest = {"nearest_mode": "round_prefer_ceil" if corners else "floor"}
    if not is_linear and centers:
        mode = "tf_half_pixel_for_nn"
        raise InputError(f"{operation.name}: ONNX has no nearest neighbors of half pixels as TensorFlow has them.")
    x = made.transpose(made.input(operation, 0), [0, 3, 1, 2])
    if is_linear and operation.inputs[0].dtype != dtypes.float32:
        x = made.cast(x, dtypes.float32)
    front = made.node("Slice", [made.node("Shape", [x]), made.ints([0]), made.ints([2])])
    sizes = made.node("Concat", [front, made.shape_input(operation, 1)], axis=0)
    found = made.node(
        "Resize",
        [x, "", "", sizes],
        mode="linear" if is_linear else "nearest",
        coordinate_transformation_mode=mode,
        **({} if is_linear else nearest),
    )
    return made.transpose(found, [0, 2, 3, 1])


@converts("DepthToSpace", "SpaceToDepth")
def _blocks(made, operation):
    if operation.get_attr("data_format") != b"NHWC":
        raise InputError(f"{operation.name}: only channels that come last are known.")
    size = operation.get_attr("block_size")
    x = made.transpose(made.input(operation, 0), [0, 3, 1, 2])
    options = {"mode": "DCR"} if operation.type == "DepthToSpace" else {}
    return made.transpose(made.node(operation.type, [x], blocksize=size, **options), [0, 2, 3, 1])


@converts("ReverseSequence")
def _reverse_sequence(made, operation):
    axes = {"batch_axis": operation.get_attr("batch_dim"), "time_axis": operation.get_attr("seq_dim")}
    if sorted(axes.values()) != [0, 1]:
        raise InputError(f"{operation.name}: ONNX reverses sequences only along the first two dimensions.")
    return made.node("ReverseSequence", [made.input(operation, 0), made.shape_input(operation, 1)], **axes)


@converts("InTopK", "InTopKV2")
def _in_top_k(made, operation):
    predictions, targets = made.input(operation, 0), made.shape_input(operation, 1)
    count = int(operation.get_attr("k") if operation.type == "InTopK" else made.value(operation, 2))
    own = made.node("GatherElements", [predictions, made.unsqueeze(targets, [1])], axis=1)
    above = made.cast(made.node("Greater", [predictions, own]), dtypes.int32)
    number = made.node("ReduceSum", [above, made.ints([1])], keepdims=0)
    return made.node("Less", [number, made.constant(np.int32(count))])
