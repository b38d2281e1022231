"""Images turned, moved and seen through other projections of the plane.

A transform is eight numbers a0, a1, a2, b0, b1, b2, c0, c1: place (x, y) of a result shows the image's place
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), with k = c0 x + c1 y + 1.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.image.projection import flat_transforms_to_matrices, matrices_to_flat_transforms

_PIXEL_TYPES = (dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)


@public("contrib.image.rotate")
def rotate(images, angles, interpolation="NEAREST", name=None):
    """Images turned counterclockwise around their middle, by one angle in radians or by one for each.

    Args:
      images: a tensor [batch, height, width, channels], [height, width, channels] or [height, width].
      angles: a scalar, or a vector [batch].
      interpolation: "NEAREST" or "BILINEAR".

    Returns:
      A tensor like `images`, with 0 where nothing was.

    Raises:
      TypeError: if the images have a type or a rank that cannot be.
    """
    with name_scope(name, "rotate"):
        images = convert_to_tensor(images)
        batch = _as_batch(images)
        height = ops.cast(ops.shape(batch)[1], dtypes.float32)[None]
        width = ops.cast(ops.shape(batch)[2], dtypes.float32)[None]
        transforms = angles_to_projective_transforms(angles, height, width)
        return _of_rank(transform(batch, transforms, interpolation=interpolation), images)


@public("contrib.image.translate")
def translate(images, translations, interpolation="NEAREST", name=None):
    """Images moved by one vector (dx, dy), or by one for each: `translations` is [2] or [batch, 2].

    Other arguments, result and errors as of `rotate`.
    """
    with name_scope(name, "translate"):
        return transform(images, translations_to_projective_transforms(translations), interpolation=interpolation)


@public("contrib.image.angles_to_projective_transforms")
def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    """Transforms [N, 8] that turn images of that height and width by `angles`, a scalar or [N], in radians.

    Raises TypeError for angles of another rank.
    """
    with name_scope(name, "angles_to_projective_transforms"):
        angles = convert_to_tensor(angles, name="angles", dtype=dtypes.float32)
        rank = len(angles.shape)
        if rank > 1:
            raise TypeError("Angles should have rank 0 or 1.")
        if rank == 0:
            angles = angles[None]
        # The order in which TensorFlow makes these nodes.
        x_offset = (
            (image_width - 1) - (ops.cos(angles) * (image_width - 1) - ops.sin(angles) * (image_height - 1))
        ) / 2.0
        y_offset = (
            (image_height - 1) - (ops.sin(angles) * (image_width - 1) + ops.cos(angles) * (image_height - 1))
        ) / 2.0
        count = ops.shape(angles)[0]
        columns = [
            ops.cos(angles)[:, None], -ops.sin(angles)[:, None], x_offset[:, None],
            ops.sin(angles)[:, None], ops.cos(angles)[:, None], y_offset[:, None],
            ops.zeros((count, 2), dtypes.float32),
        ]  # fmt: skip
        return ops.concat(columns, axis=1)


@public("contrib.image.translations_to_projective_transforms")
def translations_to_projective_transforms(translations, name=None):
    """Transforms [N, 8] that move images by (dx, dy): `translations` is [2] or [N, 2].

    Raises TypeError for translations of another rank.
    """
    with name_scope(name, "translations_to_projective_transforms"):
        translations = convert_to_tensor(translations, name="translations", dtype=dtypes.float32)
        rank = translations.shape.ndims
        if rank is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if rank not in (1, 2):
            raise TypeError("Translations should have rank 1 or 2.")
        if rank == 1:
            translations = translations[None]
        count = ops.shape(translations)[0]
        columns = [
            ops.ones((count, 1), dtypes.float32), ops.zeros((count, 1), dtypes.float32), -translations[:, 0, None],
            ops.zeros((count, 1), dtypes.float32), ops.ones((count, 1), dtypes.float32), -translations[:, 1, None],
            ops.zeros((count, 2), dtypes.float32),
        ]  # fmt: skip
        return ops.concat(columns, axis=1)


@public("contrib.image.transform")
def transform(images, transforms, interpolation="NEAREST", output_shape=None, name=None):
    """Images seen through transforms (see the module): one [8], or one for each image [batch, 8].

    Gradients go to the images, not to the transforms.

    Args:
      images: a tensor [batch, height, width, channels], [height, width, channels] or [height, width].
      transforms: float32.
      interpolation: "NEAREST" or "BILINEAR".
      output_shape: int32 [2], height and width of the result; by default those of the images.

    Returns:
      A tensor of the images' type and rank, with 0 where nothing was.

    Raises:
      TypeError: if images or transforms have a type or a rank that cannot be.
      ValueError: if `output_shape` is not a vector of two.
    """
    with name_scope(name, "transform"):
        images = convert_to_tensor(images, name="images")
        transforms = convert_to_tensor(transforms, name="transforms", dtype=dtypes.float32)
        batch = _as_batch(images)
        if output_shape is None:
            output_shape = ops.shape(batch)[1:3]
            known = constant_value(output_shape)
            output_shape = output_shape if known is None else known
        output_shape = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError("output_shape must be a 1-D Tensor of 2 elements: new_height, new_width")
        rank = len(transforms.shape)
        if rank not in (1, 2):
            raise TypeError("Transforms should have rank 1 or 2.")
        result = ops.image_projective_transform_v2(
            batch,
            output_shape=output_shape,
            transforms=transforms[None] if rank == 1 else transforms,
            interpolation=interpolation.upper(),
        )
        return _of_rank(result, images)


@public("contrib.image.compose_transforms")
def compose_transforms(*transforms):
    """The transform that is these transforms one after the other: each [8] or [N, 8], the result [N, 8]."""
    assert transforms, "transforms cannot be empty"
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for following in transforms[1:]:
            composed = ops.matmul(composed, flat_transforms_to_matrices(following))
        return matrices_to_flat_transforms(composed)


def _as_batch(images):
    if images.dtype.base_dtype not in _PIXEL_TYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank not in (2, 3, 4):
        raise TypeError("Images should have rank between 2 and 4.")
    if rank == 2:
        return images[None, :, :, None]
    return images if rank == 4 else images[None, :, :, :]


def _of_rank(batch, images):
    """A batch with the dimensions that `images` have."""
    rank = images.shape.ndims
    if rank == 2:
        return batch[0, :, :, 0]
    return batch if rank == 4 else batch[0, :, :, :]
