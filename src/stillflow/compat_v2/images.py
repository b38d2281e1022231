"""Images, as TensorFlow 2 spells them."""

from __future__ import annotations

import stillflow as tf
from stillflow.names import public


@public("compat.v2.image.crop_and_resize")
def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0, name=None):
    """tf.image.crop_and_resize."""
    return tf.image.crop_and_resize(
        image=image,
        boxes=boxes,
        box_indices=box_indices,
        crop_size=crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


@public("compat.v2.image.draw_bounding_boxes")
def draw_bounding_boxes(images, boxes, colors, name=None):
    """tf.image.draw_bounding_boxes."""
    return tf.image.draw_bounding_boxes(images=images, boxes=boxes, colors=colors, name=name)


@public("compat.v2.image.extract_glimpse")
def extract_glimpse(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None):
    """tf.image.extract_glimpse; `noise` is "uniform", "gaussian" or "zero"."""
    return tf.raw_ops.ExtractGlimpse(
        input=input,
        size=size,
        offsets=offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=False,
        noise=noise,
        name=name,
    )
