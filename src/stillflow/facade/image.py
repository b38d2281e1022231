"""tf.image: windows and boxes."""

from __future__ import annotations

from stillflow import ops
from stillflow.facade.image_patches import extract_image_patches, extract_patches
from stillflow.graph.name_scope import name_scope

__all__ = ["extract_image_patches", "extract_patches", "sample_distorted_bounding_box"]


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
        return ops.sample_distorted_bounding_box_v2(
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
