"""Images of another size."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.computed_here import computed_here
from stillflow.onnx_export.layout import as_before, channels_first
from stillflow.onnx_export.translation import Call, converts
from stillflow.ops import raw_ops


def _coordinates(call):
    aligned, half = call.attr("align_corners"), call.attr("half_pixel_centers")
    return "align_corners" if aligned else "half_pixel" if half else "asymmetric"


def _resized(call, image, **options):
    """The image, channels last, in the size of the second input."""
    image = channels_first(call, image, 4, "NHWC")
    outer = call.add("Slice", call.add("Shape", image), *(call.ints(n) for n in (0, 2)))
    sizes = call.add("Concat", outer, call.numbers(1), axis=0)
    options["coordinate_transformation_mode"] = _coordinates(call)
    return as_before(call, call.add("Resize", image, "", "", sizes, **options), 4, "NHWC")


@converts("ResizeBilinear")
def resize_bilinear(call: Call):
    image = call.inputs[0] if call.dtype().is_floating else call.cast(call.inputs[0], np.float32)
    return _resized(call, image, mode="linear")


@converts("ResizeNearestNeighbor")
def resize_nearest_neighbor(call):
    rounding = "floor" if _coordinates(call) == "asymmetric" else "round_prefer_ceil"
    return _resized(call, call.inputs[0], mode="nearest", nearest_mode=rounding)


@converts("ResizeBicubic")
def resize_bicubic(call):
    """TensorFlow has Keys' cubic of -0.5 with half pixel centers, whose weights end at the edge; else of -0.75.

    Each channel is an image of its own, as onnxruntime, which moves channels where it likes, makes no image with
    channels smaller.
    """
    image = call.inputs[0] if call.dtype().is_floating else call.cast(call.inputs[0], np.float32)
    image = channels_first(call, image, 4, "NHWC")
    begin, middle, end = (call.ints(n) for n in (0, 2, 4))
    shape, single = call.add("Shape", image), call.ints(-1, 1)
    image = call.add("Reshape", image, call.add("Concat", single, call.add("Slice", shape, middle, end), axis=0))
    sizes = call.add("Slice", call.add("Shape", image), begin, middle)
    options = {"cubic_coeff_a": -0.75}
    if call.attr("half_pixel_centers"):
        options = {"cubic_coeff_a": -0.5, "exclude_outside": 1}
    options["coordinate_transformation_mode"] = _coordinates(call)
    sizes = call.add("Concat", sizes, call.numbers(1), axis=0)
    found = call.add("Resize", image, "", "", sizes, mode="cubic", **options)
    whole = call.add("Concat", call.add("Slice", shape, begin, middle), call.numbers(1), axis=0)
    return as_before(call, call.add("Reshape", found, whole), 4, "NHWC")


# ---- Resizing as a product with weights, of images of known sizes -------------------------------------------------


def _weights(call, axis, sizes, target):
    """What part each element of an axis has in those of the resized axis, float32 [target, size]: columns of ones
    and zeros, as the op resizes them."""
    kind = call.op.type.removesuffix("Grad")
    size = sizes[axis]
    image = np.eye(size, dtype=np.float32).reshape([1, size, 1, size])
    options = {} if kind == "ResizeArea" else {"half_pixel_centers": call.attr("half_pixel_centers")}
    options |= {"images": image, "size": [target[axis], 1], "align_corners": call.attr("align_corners")}
    resized = computed_here(lambda: getattr(raw_ops, kind)(**options))
    return call.constant(resized[0, :, 0, :])


def _both_weights(call, sizes, target):
    if None in (*sizes, *target):
        raise call.error("needs the height and width of its images: name them, as in --inputs image[1,64,64,3]")
    return [_weights(call, axis, sizes, target) for axis in (0, 1)]


@converts("ResizeArea")
def resize_area(call):
    sizes, target = call.dims()[1:3], call.op.outputs[0].shape.as_list()[1:3]
    image = call.cast(call.inputs[0], np.float32)
    rows, columns = _both_weights(call, sizes, target)
    found = call.add("Einsum", rows, image, equation="ry,byxc->brxc")
    return call.add("Einsum", columns, found, equation="sx,brxc->brsc")


@converts("ResizeBilinearGrad", "ResizeNearestNeighborGrad", "ResizeBicubicGrad")
def resize_gradient(call):
    sizes, target = call.op.outputs[0].shape.as_list()[1:3], call.dims()[1:3]
    rows, columns = _both_weights(call, sizes, target)
    found = call.add("Einsum", rows, call.cast(call.inputs[0], np.float32), equation="ry,brsc->bysc")
    found = call.add("Einsum", columns, found, equation="sx,bysc->byxc")
    return call.to_type_of(found, call.op.outputs[0].dtype)


@converts("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3")
def non_max_suppression(call):
    """ONNX takes a batch of images and of classes, and tells of each box image, class and number."""
    boxes = call.add("Unsqueeze", call.inputs[0], call.ints(0))
    scores = call.add("Unsqueeze", call.inputs[1], call.ints(0, 1))
    thresholds = [call.add("Reshape", value, call.ints(1)) for value in call.inputs[3:]]
    if call.op.type == "NonMaxSuppression":
        thresholds = [call.constant([call.attr("iou_threshold")], np.float32)]
    found = call.add("NonMaxSuppression", boxes, scores, call.numbers(2), *thresholds)
    return call.cast(call.add("Gather", found, call.constant(2, np.int64), axis=1), np.int32)
