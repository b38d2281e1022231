"""NonMaxSuppression in all its versions: boxes with the highest scores that overlap each other little."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

_T = "T: {float16, float32} = float32"
_THRESHOLD = "T_threshold: {float16, float32} = float32"
_INPUTS = "boxes: T, scores: T, max_output_size: int32"
_THRESHOLDS = "iou_threshold: T_threshold, score_threshold: T_threshold"

non_max_suppression_v1 = define_op(
    "NonMaxSuppression(boxes: float32, scores: float32, max_output_size: int32) -> (selected_indices: int32)",
    "iou_threshold: float = 0.5",
    kernel="non_max_suppression(boxes, scores, max_output_size | iou_threshold, 0, 'indices', 0)",
    differentiable=False,
)
non_max_suppression_v2 = define_op(
    f"NonMaxSuppressionV2({_INPUTS}, iou_threshold: T_threshold) -> (selected_indices: int32)",
    f"{_T}; {_THRESHOLD}",
    kernel="non_max_suppression(boxes, scores, max_output_size, iou_threshold | 0, 0, 'indices', 0)",
    differentiable=False,
)
non_max_suppression_v3 = define_op(
    f"NonMaxSuppressionV3({_INPUTS}, {_THRESHOLDS}) -> (selected_indices: int32)",
    f"{_T}; {_THRESHOLD}",
    kernel="non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold | 0, 0, 'indices', 0)",
    differentiable=None,
)
non_max_suppression_v4 = define_op(
    f"NonMaxSuppressionV4({_INPUTS}, {_THRESHOLDS}) -> (selected_indices: int32, valid_outputs: int32)",
    f"{_T}; {_THRESHOLD}; pad_to_max_output_size: bool = false",
    kernel="non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold | 0, 0, 'count', "
    "pad_to_max_output_size)",
    differentiable=None,
)
non_max_suppression_v5 = define_op(
    f"NonMaxSuppressionV5({_INPUTS}, iou_threshold: T, score_threshold: T, soft_nms_sigma: T) -> "
    "(selected_indices: int32, selected_scores: T, valid_outputs: int32)",
    f"{_T}; pad_to_max_output_size: bool = false",
    kernel="non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma | "
    "0, 0, 'all', pad_to_max_output_size)",
    differentiable=None,
)
non_max_suppression_with_overlaps = define_op(
    "NonMaxSuppressionWithOverlaps(overlaps: float32, scores: float32, max_output_size: int32, "
    "overlap_threshold: float32, score_threshold: float32) -> (selected_indices: int32)",
    kernel="non_max_suppression(overlaps, scores, max_output_size, overlap_threshold, score_threshold | 0, 1, "
    "'indices', 0)",
    differentiable=False,
)
combined_non_max_suppression_op = define_op(
    "CombinedNonMaxSuppression(boxes: float32, scores: float32, max_output_size_per_class: int32, "
    "max_total_size: int32, iou_threshold: float32, score_threshold: float32) -> (nmsed_boxes: float32, "
    "nmsed_scores: float32, nmsed_classes: float32, valid_detections: int32)",
    "pad_per_class: bool = false; clip_boxes: bool = true",
    kernel="combined_non_max_suppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, "
    "score_threshold | pad_per_class, clip_boxes)",
    differentiable=None,
)


def _check(context):
    """The inputs' ranks and sizes; returns how many boxes there are at most, as far as it is known."""
    boxes = plain.with_rank(context.shapes[0], 2)
    scores = plain.with_rank(context.shapes[1], 1)
    for dims in context.shapes[2:]:
        plain.with_rank(dims, 0)
    plain.merged_size(boxes[0], scores[0])
    plain.merged_size(boxes[1], 4)
    most = context.value(2)
    return None if most is None else int(most)


@non_max_suppression_v1.shape_rule
@non_max_suppression_v2.shape_rule
@non_max_suppression_v3.shape_rule
def _(context):
    _check(context)
    return (None,)


@non_max_suppression_v4.shape_rule
def _(context):
    most = _check(context)
    return [(most if context.attrs["pad_to_max_output_size"] else None,), ()]


@non_max_suppression_v5.shape_rule
def _(context):
    most = _check(context)
    count = most if context.attrs["pad_to_max_output_size"] else None
    return [(count,), (count,), ()]


@non_max_suppression_with_overlaps.shape_rule
def _(context):
    overlaps = plain.with_rank(context.shapes[0], 2)
    scores = plain.with_rank(context.shapes[1], 1)
    for dims in context.shapes[2:]:
        plain.with_rank(dims, 0)
    plain.merged_size(overlaps[0], scores[0])
    plain.merged_size(overlaps[0], overlaps[1])
    return (None,)


@combined_non_max_suppression_op.shape_rule
def _(context):
    boxes = plain.with_rank(context.shapes[0], 4)
    scores = plain.with_rank(context.shapes[1], 3)
    for dims in context.shapes[2:]:
        plain.with_rank(dims, 0)
    batch = plain.merged_size(boxes[0], scores[0])
    plain.merged_size(boxes[1], scores[1])
    plain.merged_size(boxes[3], 4)
    if None not in (boxes[2], scores[2]) and boxes[2] not in (1, scores[2]):
        raise ShapeError("third dimension of boxes must be either 1 or equal to the third dimension of scores")
    total, per_class = context.value(3), context.value(2)
    size = None if total is None else int(total)
    if size is not None and context.attrs["pad_per_class"]:
        size = None if per_class is None or scores[2] is None else min(size, int(per_class) * scores[2])
    return [(batch, size, 4), (batch, size), (batch, size), (batch,)]


# ---- Functions --------------------------------------------------------------------------------------------


@public("image.non_max_suppression")
def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """Boxes in the order of their scores, without those that overlap one before them.

    Args:
      boxes: [boxes, 4]: y and x of two opposite corners.
      scores: [boxes].
      max_output_size: int32 scalar: how many at most.
      iou_threshold: from which intersection over union on a box is left out.
      score_threshold: which score is too low.
      name: of the nodes' scope.

    Returns:
      int32 indices of boxes.
    """
    with name_scope(name, "non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return non_max_suppression_v3(boxes, scores, max_output_size, iou_threshold, score_threshold)


@public("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    soft_nms_sigma=0.0,
    name=None,
):
    """(indices, scores) of boxes; see `non_max_suppression`.

    With `soft_nms_sigma` above zero, an overlap lowers scores by a Gaussian of it (Bodla et al., "Soft-NMS", 2017).
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        soft_nms_sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        indices, scores, _ = non_max_suppression_v5(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            soft_nms_sigma,
            pad_to_max_output_size=False,
        )
        return indices, scores


@public("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_to_max_output_size=False,
    name=None,
):
    """(indices, how many of them count): see `non_max_suppression`; the others are zeros if there are to be some."""
    with name_scope(name, "non_max_suppression_padded"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return non_max_suppression_v4(
            boxes,
            scores,
            max_output_size,
            iou_threshold,
            score_threshold,
            pad_to_max_output_size=pad_to_max_output_size,
        )


@public("image.non_max_suppression_overlaps")
def non_max_suppression_overlaps(
    overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"), name=None
):
    """`non_max_suppression` by a matrix of overlaps between boxes, of whatever kind."""
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap_threshold = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return non_max_suppression_with_overlaps(
            overlaps, scores, max_output_size, overlap_threshold, score_threshold
        )


@public("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_per_class=False,
    clip_boxes=True,
    name=None,
):
    """`non_max_suppression` for each class of each image, put together.

    Args:
      boxes: [batch, boxes, 1 or classes, 4].
      scores: [batch, boxes, classes].
      max_output_size_per_class, max_total_size: how many at most of a class, and in all.
      iou_threshold, score_threshold: as for `non_max_suppression`.
      pad_per_class: whether results are no longer than all classes' together.
      clip_boxes: whether coordinates are kept between 0 and 1.
      name: of the nodes' scope.

    Returns:
      (boxes [batch, n, 4], scores [batch, n], classes [batch, n], how many count [batch]), with zeros behind.
    """
    with name_scope(name, "combined_non_max_suppression"):
        iou_threshold = convert_to_tensor(iou_threshold, dtype=dtypes.float32, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, dtype=dtypes.float32, name="score_threshold")
        return combined_non_max_suppression_op(
            boxes,
            scores,
            max_output_size_per_class,
            max_total_size,
            iou_threshold,
            score_threshold,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )
