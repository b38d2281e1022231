"""SampleDistortedBoundingBox: a part of an image, at random, that covers enough of one of its boxes."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_OUTPUTS = "begin: T, size: T, bboxes: float32"
_RANGES = (
    "aspect_ratio_range: list(float) = [0.75, 1.3300000429153442]; area_range: list(float) = "
    "[0.05000000074505806, 1.0]; max_attempts: int = 100; use_image_if_no_bounding_boxes: bool = false"
)
_TYPES = "T: {uint8, int8, int16, int32, int64}; seed: int = 0; seed2: int = 0"
_NAMES = "aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes"

sample_distorted_bounding_box = define_op(
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


@sample_distorted_bounding_box.shape_rule
@sample_distorted_bounding_box_v2.shape_rule
def _(context):
    plain.with_rank(context.shapes[0], 1)
    plain.with_rank(context.shapes[1], 3)
    return [(3,), (3,), (1, 1, 4)]
