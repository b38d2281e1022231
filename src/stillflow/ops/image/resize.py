"""Images of another size: ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic, ResizeArea and ScaleAndTranslate."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import SizeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_TYPES = "int8, uint8, int16, uint16, int32, int64, float16, float32, float64"
_ATTRS = "align_corners: bool = false; half_pixel_centers: bool = false"
_NAMES = "align_corners, half_pixel_centers"

resize_bilinear_op = define_op(
    "ResizeBilinear(images: T, size: int32) -> (resized_images: float32)",
    f"T: {{int8, uint8, int16, uint16, int32, int64, bfloat16, float16, float32, float64}}; {_ATTRS}",
    kernel=f"resize_bilinear(images, size | {_NAMES})",
)
resize_bilinear_grad = define_op(
    "ResizeBilinearGrad(grads: float32, original_image: T) -> (output: T)",
    f"T: {{float32, bfloat16, float16, float64}}; {_ATTRS}",
    kernel=f"resize_bilinear_grad(grads, original_image | {_NAMES})",
    differentiable=None,
)
resize_nearest_neighbor_op = define_op(
    "ResizeNearestNeighbor(images: T, size: int32) -> (resized_images: T)",
    f"T: {{{_TYPES}}}; {_ATTRS}",
    kernel=f"resize_nearest_neighbor(images, size | {_NAMES})",
)
resize_nearest_neighbor_grad = define_op(
    "ResizeNearestNeighborGrad(grads: T, size: int32) -> (output: T)",
    f"T: {{uint8, int8, int32, float16, float32, float64}}; {_ATTRS}",
    kernel=f"resize_nearest_neighbor_grad(grads, size | {_NAMES})",
    differentiable=None,
)
resize_bicubic_op = define_op(
    "ResizeBicubic(images: T, size: int32) -> (resized_images: float32)",
    f"T: {{{_TYPES}}}; {_ATTRS}",
    kernel=f"resize_bicubic(images, size | {_NAMES})",
)
resize_bicubic_grad = define_op(
    "ResizeBicubicGrad(grads: float32, original_image: T) -> (output: T)",
    f"T: {{float32, float64}}; {_ATTRS}",
    kernel=f"resize_bicubic_grad(grads, original_image | {_NAMES})",
    differentiable=None,
)
resize_area = define_op(
    "ResizeArea(images: T, size: int32) -> (resized_images: float32)",
    f"T: {{{_TYPES}}}; align_corners: bool = false",
    kernel="resize_area(images, size | align_corners)",
    differentiable=None,
    public="image.resize_area",
    doc="Batches of images resized by means over the pixels that each new one covers, as float32.",
)
scale_and_translate = define_op(
    "ScaleAndTranslate(images: T, size: int32, scale: float32, translation: float32) -> (resized_images: float32)",
    "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, float16, float32, float64}; "
    "kernel_type: string = 'lanczos3'; antialias: bool = true",
    kernel="scale_and_translate(images, size, scale, translation | kernel_type, antialias)",
)
scale_and_translate_grad = define_op(
    "ScaleAndTranslateGrad(grads: T, original_image: T, scale: float32, translation: float32) -> (output: T)",
    "T: {float32}; kernel_type: string = 'lanczos3'; antialias: bool = true",
    kernel="scale_and_translate_grad(grads, original_image, scale, translation | kernel_type, antialias)",
    differentiable=None,
)


@resize_bilinear_op.shape_rule
@resize_nearest_neighbor_op.shape_rule
@resize_bicubic_op.shape_rule
@resize_area.shape_rule
@resize_nearest_neighbor_grad.shape_rule
def _(context):
    batch, _, _, channels = plain.with_rank(context.shapes[0], 4)
    plain.with_size(plain.with_rank(context.shapes[1], 1)[0], 2)
    height, width = sizes = context.partial_value(1) or (None, None)
    for size in sizes:
        if size is not None and size < 0:
            raise SizeError(f"Dimension {size} must be >= 0")
    return (batch, height, width, channels)


@resize_bilinear_grad.shape_rule
@resize_bicubic_grad.shape_rule
@scale_and_translate_grad.shape_rule
def _(context):
    return context.shapes[1]


@scale_and_translate.shape_rule
def _(context):
    batch, _, _, channels = plain.with_rank(context.shapes[0], 4)
    for dims in context.shapes[1:]:
        plain.merged(plain.with_rank(dims, 1), (2,))
    height, width = context.partial_value(1) or (None, None)
    return (batch, height, width, channels)


def _attrs(op):
    return {name: op._attrs[name] for name in ("align_corners", "half_pixel_centers")}


@resize_bilinear_op.gradient
def _(op, grad):
    return resize_bilinear_grad(grad, op._inputs[0], **_attrs(op)), None


@resize_bicubic_op.gradient
def _(op, grad):
    if op._inputs[0].dtype not in (dtypes.float32, dtypes.float64):
        return None, None
    return resize_bicubic_grad(grad, op._inputs[0], **_attrs(op)), None


@resize_nearest_neighbor_op.gradient
def _(op, grad):
    image = op._inputs[0]
    known = image.shape[1:3]
    size = known if known.is_fully_defined() else ops.shape(image)[1:3]
    return resize_nearest_neighbor_grad(grad, size, **_attrs(op)), None


@scale_and_translate.gradient
def _(op, grad):
    image, _, scale, translation = op._inputs
    attrs = {name: op._attrs[name] for name in ("kernel_type", "antialias")}
    return scale_and_translate_grad(grad, image, scale, translation, **attrs), None, None, None


@public("image.resize_bilinear")
def resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Batches of images resized by linear interpolation, as float32.

    `half_pixel_centers` says that pixels are where their centers are, and excludes `align_corners`.
    """
    return resize_bilinear_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


@public("image.resize_nearest_neighbor")
def resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Batches of images resized by taking the nearest pixels; see `resize_bilinear`."""
    return resize_nearest_neighbor_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


@public("image.resize_bicubic")
def resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """Batches of images resized by cubic interpolation, as float32; see `resize_bilinear`."""
    return resize_bicubic_op(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )
