"""connected_components: pixels that hang together, numbered over all images."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor


@public("contrib.image.connected_components")
def connected_components(images):
    """Numbers of the components of images: pixels of one value that is not 0 (or ""), joined by neighbors above,
    below, left and right.

    Args:
      images: [height, width] or [images, height, width] of numbers, bools or strings.

    Returns:
      An int64 tensor of the same shape: 0 where the image is 0, else a number that counts from 1 over all images, in
      the order of first pixels.

    Raises:
      TypeError: for images of another rank.
    """
    with name_scope("connected_components"):
        images = convert_to_tensor(images, name="images")
        rank = images.shape.ndims
        if rank not in (2, 3):
            raise TypeError(f"images should have rank 2 (HW) or 3 (NHW). Static shape is {images.shape}")
        components = ops.image_connected_components(images[None, :, :] if rank == 2 else images)
        found, places = ops.unique(ops.reshape(components, [-1]))
        zero = ops.where_v2(ops.equal(found, 0))[:, 0]
        numbers = ops.range(ops.shape(found)[0] - ops.shape(zero)[0]) + 1

        def with_zero():
            at = ops.cast(zero[0], dtypes.int32)
            return ops.concat([numbers[:at], [0], numbers[at:]], axis=0)

        numbers = cond(ops.equal(ops.shape(zero)[0], 0), lambda: numbers, with_zero)
        components = ops.reshape(ops.gather(numbers, places), ops.shape(components))
        return components[0, :, :] if rank == 2 else components
