"""CropAndResize with its gradients, ExtractGlimpse and DrawBoundingBoxes: parts of images, and marks around them."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import ShapeError, value_as_dims
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_NUMBERS = "{uint8, uint16, int8, int16, int32, int64, float16, float32, float64}"
_METHODS = "{'bilinear', 'nearest'} = 'bilinear'"

crop_and_resize_op = define_op(
    "CropAndResize(image: T, boxes: float32, box_ind: int32, crop_size: int32) -> (crops: float32)",
    f"T: {_NUMBERS}; method: {_METHODS}; extrapolation_value: float = 0.0",
    kernel="crop_and_resize(image, boxes, box_ind, crop_size | method, extrapolation_value)",
)
crop_and_resize_grad_image = define_op(
    "CropAndResizeGradImage(grads: float32, boxes: float32, box_ind: int32, image_size: int32) -> (output: T)",
    f"T: {{float32, float16, float64}}; method: {_METHODS}",
    kernel="crop_and_resize_grad_image(grads, boxes, box_ind, image_size | T, method)",
    differentiable=None,
)
crop_and_resize_grad_boxes = define_op(
    "CropAndResizeGradBoxes(grads: float32, image: T, boxes: float32, box_ind: int32) -> (output: float32)",
    f"T: {_NUMBERS}; method: {{'bilinear'}} = 'bilinear'",
    kernel="crop_and_resize_grad_boxes(grads, image, boxes, box_ind)",
    differentiable=None,
)
draw_bounding_boxes_op = define_op(
    "DrawBoundingBoxes(images: T, boxes: float32) -> (output: T)",
    "T: {float32, float16} = float32",
    kernel="draw_bounding_boxes(images, boxes)",
    differentiable=False,
)
draw_bounding_boxes_v2 = define_op(
    "DrawBoundingBoxesV2(images: T, boxes: float32, colors: float32) -> (output: T)",
    "T: {float32, float16} = float32",
    kernel="draw_bounding_boxes(images, boxes, colors)",
    differentiable=None,
)
extract_glimpse_op = define_op(
    "ExtractGlimpse(input: float32, size: int32, offsets: float32) -> (glimpse: float32)",
    "centered: bool = true; normalized: bool = true; uniform_noise: bool = true; noise: string = 'uniform'",
    kernel="extract_glimpse(input, size, offsets | centered, normalized, uniform_noise, noise)",
    differentiable=False,
)


@crop_and_resize_op.shape_rule
def _(context):
    image = plain.with_rank(context.shapes[0], 4)
    boxes = plain.with_rank(context.shapes[1], 2)
    indices = plain.with_rank(context.shapes[2], 1)
    size = plain.with_rank(context.shapes[3], 1)
    plain.merged_size(boxes[1], 4)
    plain.with_size(size[0], 2)
    count = plain.merged_size(boxes[0], indices[0])
    height, width = value_as_dims(context.partial_value(3)) or (None, None)
    return count, height, width, image[3]


@crop_and_resize_grad_image.shape_rule
def _(context):
    plain.with_rank(context.shapes[3], 1)
    return value_as_dims(context.partial_value(3)) or (None,) * 4


@crop_and_resize_grad_boxes.shape_rule
def _(context):
    return plain.with_rank(context.shapes[2], 2)


@draw_bounding_boxes_op.shape_rule
def _(context):
    images = plain.with_rank(context.shapes[0], 4)
    plain.with_rank(context.shapes[1], 3)
    return images


@draw_bounding_boxes_v2.shape_rule
def _(context):
    images = plain.with_rank_at_least(context.shapes[0], 3)
    plain.with_rank(context.shapes[1], 3)
    return images


@extract_glimpse_op.shape_rule
def _(context):
    images = plain.with_rank(context.shapes[0], 4)
    size = plain.with_rank(context.shapes[1], 1)
    plain.with_size(size[0], 2)
    offsets = plain.with_rank(context.shapes[2], 2)
    if offsets[1] not in (None, 2):
        raise ShapeError(f"Dimension must be 2 but is {offsets[1]}")
    batch = plain.merged_size(images[0], offsets[0])
    height, width = value_as_dims(context.partial_value(1)) or (None, None)
    return batch, height, width, images[3]


# ---- Functions --------------------------------------------------------------------------------------------


@public("image.crop_and_resize")
def crop_and_resize(
    image,
    boxes,
    box_ind=None,
    crop_size=None,
    method="bilinear",
    extrapolation_value=0,
    name=None,
    box_indices=None,
):
    """Boxes cut out of images and resized to one size.

    Args:
      image: [batch, height, width, depth] of numbers.
      boxes: float32 [boxes, 4]: top, left, bottom and right, as parts of 1 from the center of the first pixel to
        that of the last. A box may be turned over, or reach beyond the image.
      box_ind, box_indices: int32 [boxes]: the image of each.
      crop_size: int32 [2]: height and width of the results.
      method: "bilinear" or "nearest".
      extrapolation_value: what is outside of an image.
      name: of the node.

    Returns:
      float32 [boxes, height, width, depth]. Raises OutOfRangeError for an image that is not there.
    """
    box_ind = renamed("box_indices", box_indices, "box_ind", box_ind)
    return crop_and_resize_op(
        image, boxes, box_ind, crop_size, method=method, extrapolation_value=extrapolation_value, name=name
    )


@public("image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """Images with outlines of boxes, one pixel wide.

    Args:
      images: float32 or float16 [batch, height, width, depth], of depth 1, 3 or 4.
      boxes: float32 [batch, boxes, 4]: top, left, bottom and right as parts of 1.
      name: of the node.
      colors: float32 [colors, channels], which boxes take by turns; by default ten.

    Returns:
      A tensor like `images`.
    """
    if colors is None:
        return draw_bounding_boxes_op(images, boxes, name=name)
    return draw_bounding_boxes_v2(images, boxes, colors, name=name)


@public("image.extract_glimpse")
def extract_glimpse(input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None):
    """A window of each image; what is outside of the image is noise.

    Args:
      input: float32 [batch, height, width, depth].
      size: int32 [2]: height and width of the windows.
      offsets: float32 [batch, 2]: y and x of their centers.
      centered: whether offsets are counted from the middle, from -1 to 1; else from the upper left.
      normalized: whether they are parts of the image's size, and not pixels.
      uniform_noise: whether noise is uniform, and not Gaussian; it is the same in every run.
      name: of the node.

    Returns:
      float32 [batch, height, width, depth].
    """
    return extract_glimpse_op(
        input, size, offsets, centered=centered, normalized=normalized, uniform_noise=uniform_noise, name=name
    )


@crop_and_resize_op.gradient
def _(op, grad):
    image, boxes, indices = op._inputs[:3]
    shape = list(image._dims) if image.shape.is_fully_defined() else ops.shape(image)
    by_image = None
    if image.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
        by_image = crop_and_resize_grad_image(
            grad, boxes, indices, shape, T=op.get_attr("T"), method=op.get_attr("method")
        )
    by_boxes = crop_and_resize_grad_boxes(grad, image, boxes, indices)
    return by_image, by_boxes, None, None
