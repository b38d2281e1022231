"""SampleDistortedBoundingBox: a part of an image, at random, that covers enough of one of its boxes."""

from __future__ import annotations

from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_OUTPUTS = "begin: T, size: T, bboxes: float32"
_RANGES = (
    "aspect_ratio_range: list(float) = [0.75, 1.3300000429153442]; area_range: list(float) = "
    "[0.05000000074505806, 1.0]; max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false"
)
_TYPES = "T: {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0"
_NAMES = "aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes"

sample_distorted_bounding_box_op = define_op(
    f"SampleDistortedBoundingBox(image_size: T, bounding_boxes: float32) -> ({_OUTPUTS})",
    f"{_TYPES}; min_object_covered: float = 0.10000000149011612; {_RANGES}",
    kernel=f"sample_distorted_bounding_box(image_size, bounding_boxes | {_NAMES}, min_object_covered)",
    state="random",
    stateful=True,
    differentiable=False,
)
sample_distorted_bounding_box_v2 = define_op(
    "SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float32, min_object_covered: float32) -> "
    f"({_OUTPUTS})",
    f"{_TYPES}; {_RANGES}",
    kernel=f"sample_distorted_bounding_box_v2(image_size, bounding_boxes, min_object_covered | {_NAMES})",
    state="random",
    stateful=True,
    differentiable=False,
)


@sample_distorted_bounding_box_op.shape_rule
@sample_distorted_bounding_box_v2.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    plain.with_rank(context.shapes[1], 3)
    return [(3,), (3,), (1, 1, 4)]


@public("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=None,
    seed2=None,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """A part of an image, at random, that covers enough of one of its boxes.

    Args:
      image_size: integers [height, width, depth].
      bounding_boxes: float32 [batch, boxes, 4]: top, left, bottom and right as parts of 1.
      seed, seed2: the op's own; without them they are the operating system's.
      min_object_covered: how much of one box must be covered at least.
      aspect_ratio_range: between what width / height is; [0.75, 1.33] by default.
      area_range: between what parts of the image's area; [0.05, 1] by default.
      max_attempts: after how many attempts it is the whole image; 100 by default.
      use_image_if_no_bounding_boxes: whether the image stands for a box if there is none.

    Returns:
      (begin, size, bboxes): [y, x, 0] and [height, width, -1] for tf.slice, and the part as a box, [1, 1, 4].
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return sample_distorted_bounding_box_v2(
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed,
            seed2=seed2,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
            name=name,
        )
