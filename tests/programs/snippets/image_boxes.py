"""Parts of images: boxes cut out, drawn and chosen from, glimpses, and images resized by kernels."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.convert_to_tensor(values), shape)


def _image(tf, *shape):
    return tf.constant(np.random.RandomState(len(shape)).rand(*shape).astype(np.float32))


_BOXES = np.float32([[0, 0, 1, 1], [0.25, 0.1, 0.8, 0.6], [0.9, 0.7, 0.2, 0.3], [-0.5, 0.5, 0.5, 1.5]])


def crops_of_boxes(tf):
    image, boxes, indices = _image(tf, 2, 5, 6, 2), tf.constant(_BOXES), tf.constant([0, 1, 1, 0])
    unknown = _unknown(tf, image)
    crop = tf.image.crop_and_resize
    results = [
        crop(image, boxes, indices, [3, 4]), crop(image, boxes, indices, [1, 1], extrapolation_value=-2),
        crop(image, boxes, indices, [4, 1], method="nearest", name="near"),
        crop(unknown, boxes, box_indices=indices, crop_size=_unknown(tf, [2, 2])),
        crop(tf.cast(image * 255, tf.uint8), boxes, indices, [2, 3]),
        crop(tf.cast(image, tf.float64), boxes, indices, [2, 3]),
    ]  # fmt: skip
    gradients = tf.gradients(results[0] * results[0], [image, boxes])
    gradients += tf.gradients(results[2] * results[2], [image]) + tf.gradients(results[3], [unknown])
    return results + [g for g in gradients if g is not None]


def drawn_boxes(tf):
    image = _image(tf, 2, 6, 7, 3)
    boxes = tf.constant([[[0.1, 0.2, 0.7, 0.9], [0, 0, 1, 1]], [[0.5, 0.5, 0.2, 0.9], [-0.3, 0.2, 0.6, 2]]])
    colors = [[1.0, 0.5, 0.25], [0.0, 1.0, 0.5]]
    return [
        tf.image.draw_bounding_boxes(image, boxes), tf.image.draw_bounding_boxes(image, boxes, colors=colors),
        tf.image.draw_bounding_boxes(image[..., :1], boxes, name="gray"),
        tf.image.draw_bounding_boxes(tf.concat([image, image[..., :1]], 3), boxes[:, :1]),
    ]  # fmt: skip


def glimpses(tf):
    image = _image(tf, 2, 5, 6, 2)
    offsets = [[0.1, -0.3], [0.5, 0.2]]
    glimpse = tf.image.extract_glimpse
    inside = glimpse(image, [2, 3], offsets)
    pixels = [[1.0, 2.0], [2.0, 2.0]]
    return [
        inside, glimpse(image, [2, 2], pixels, normalized=False, centered=False),
        glimpse(image, [3, 2], [[0.0, 1.0], [-1.0, 0.0]], normalized=False),
        tf.image.extract_glimpse(image, _unknown(tf, [1, 2]), [[0.4, 0.4], [0.5, 0.2]], centered=False, name="g"),
    ]  # fmt: skip


def _candidates(tf, n=12, rank=1):
    random = np.random.RandomState(n)
    corners = random.rand(n, 2) * 4
    boxes = np.concatenate([corners, corners + random.rand(n, 2) * 3 + 0.5], 1).astype(np.float32)
    return tf.constant(boxes), tf.constant(np.round(random.rand(n), 1).astype(np.float32))


def suppressed_boxes(tf):
    boxes, scores = _candidates(tf)
    nms = tf.image.non_max_suppression
    raw = tf.raw_ops.NonMaxSuppression(boxes=boxes, scores=scores, max_output_size=5)
    second = tf.raw_ops.NonMaxSuppressionV2(boxes=boxes, scores=scores, max_output_size=5, iou_threshold=0.4)
    padded = tf.image.non_max_suppression_padded
    results = [
        raw, second, nms(boxes, scores, 4), nms(boxes, scores, 20, 0.2, 0.3),
        nms(boxes, scores, _unknown(tf, 3), name="n"),
        nms(boxes[:, ::-1], scores, 6, 0.9), nms(boxes[:0], scores[:0], 6), nms(boxes, scores, 0),
        *padded(boxes, scores, 15, 0.3, 0.2, pad_to_max_output_size=True), *padded(boxes, scores, 15, 0.3),
        tf.image.non_max_suppression_overlaps(tf.matmul(scores[:, None], scores[None]), scores, 6, 0.3, 0.1),
    ]  # fmt: skip
    with_scores = tf.image.non_max_suppression_with_scores
    results += with_scores(boxes, scores, 8, 0.4, 0.2)
    results += with_scores(boxes, scores, 8, soft_nms_sigma=0.5)
    results += with_scores(boxes, scores, 8, 0.6, 0.05, soft_nms_sigma=0.1, name="soft")
    results += tf.raw_ops.NonMaxSuppressionV5(
        boxes=boxes, scores=scores, max_output_size=15, iou_threshold=0.5, score_threshold=0.1, soft_nms_sigma=0.2,
        pad_to_max_output_size=True,
    )  # fmt: skip
    return results


def combined_suppression(tf):
    boxes = [_candidates(tf, n)[0] / 5 for n in (9, 10)]
    boxes = tf.stack([boxes[0], boxes[1][:9]])
    scores = tf.constant(np.random.RandomState(3).rand(2, 9, 3).astype(np.float32))
    each = tf.stack([boxes, boxes * 0.9, boxes[:, ::-1]], 2)
    combined = tf.image.combined_non_max_suppression
    return [
        *combined(boxes[:, :, None], scores, 4, 10), *combined(each, scores, 4, 10, 0.3, 0.2),
        *combined(each, scores, 3, 20, pad_per_class=True), *combined(each, scores, 3, 5, clip_boxes=False, name="c"),
    ]  # fmt: skip


def kernels(tf):
    images = _image(tf, 2, 5, 6, 2)
    scale = tf.raw_ops.ScaleAndTranslate
    results = []
    for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic", "mitchellcubic"):
        for antialias in (False, True):
            results.append(
                scale(images=images, size=[3, 9], scale=[0.6, 1.5], translation=[0.3, -0.5], kernel_type=kernel,
                      antialias=antialias)
            )  # fmt: skip
    results.append(
        scale(images=tf.cast(images * 255, tf.uint8), size=_unknown(tf, [4, 4]), scale=[1, 1.2], translation=[0, 0])
    )
    return results + tf.gradients([r * r for r in results[:-1]], images)
