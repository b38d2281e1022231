"""ImageProjectiveTransformV2: images seen through projections of the plane."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import value_as_dims
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

image_projective_transform_v2 = define_op(
    "ImageProjectiveTransformV2(images: dtype, transforms: float32, output_shape: int32)"
    " -> (transformed_images: dtype)",
    "dtype: {uint8, int32, int64, float16, float32, float64}; interpolation: string",
    kernel="projective_transform(images, transforms, output_shape | interpolation)",
)


@image_projective_transform_v2.shape_rule
def _(context):
    images = plain.with_rank(context.shapes[0], 4)
    size = plain.with_rank(context.shapes[2], 1)
    plain.with_size(size[0], 2)
    height, width = value_as_dims(context.partial_value(2)) or (None, None)
    return images[0], height, width, images[3]


@public("contrib.image.flat_transforms_to_matrices")
def flat_transforms_to_matrices(transforms):
    """The matrices [N, 3, 3] of transforms [8] or [N, 8], whose ninth elements are 1.

    They map places of a result to places of the image. Raises ValueError for transforms of another rank.
    """
    with name_scope("flat_transforms_to_matrices"):
        transforms = convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        transforms = ops.reshape(transforms, ops.constant([-1, 8]))
        count = ops.shape(transforms)[0]
        rows = ops.concat([transforms, ops.ones([count, 1])], axis=1)
        return ops.reshape(rows, ops.constant([-1, 3, 3]))


@public("contrib.image.matrices_to_flat_transforms")
def matrices_to_flat_transforms(transform_matrices):
    """Transforms [N, 8] of matrices [3, 3] or [N, 3, 3] that map places of a result to places of the image.

    Each is divided by its ninth element. Raises ValueError for matrices of another rank.
    """
    with name_scope("matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        transforms = ops.reshape(matrices, ops.constant([-1, 9]))
        transforms = transforms / transforms[:, 8:9]
        return transforms[:, :8]


@image_projective_transform_v2.gradient
def _(op, grad):
    images, transforms = op._inputs[:2]
    inverse = ops.matrix_inverse(flat_transforms_to_matrices(transforms))
    by_images = image_projective_transform_v2(
        images=grad,
        transforms=matrices_to_flat_transforms(inverse),
        output_shape=ops.shape(images)[1:3],
        interpolation=op.get_attr("interpolation"),
    )
    return by_images, None, None
