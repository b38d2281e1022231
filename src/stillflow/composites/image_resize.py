"""resize_images and resize_image_with_pad: images of another size, by four methods and by kernels."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.image_geometry import as_batch, larger, pad_to_bounding_box, sizes_of
from stillflow.composites.image_types import at_least_3d_checks, check_that, is_tensor
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import partial_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("image.ResizeMethod")
class ResizeMethod:
    """The methods of resize_images."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


@public("compat.v2.image.ResizeMethod", "python.ops.image_ops.ResizeMethod", "python.ops.image_ops_impl.ResizeMethod")
class ResizeMethodV2:
    """The methods of TensorFlow 2's resize."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# The number or name of a method -> the op's builder.
_METHODS = {
    0: "resize_bilinear", "bilinear": "resize_bilinear", 1: "resize_nearest_neighbor",
    "nearest": "resize_nearest_neighbor", 2: "resize_bicubic", "bicubic": "resize_bicubic", 3: "resize_area",
    "area": "resize_area",
}  # fmt: skip
_V2_METHODS = ("bilinear", "nearest", "bicubic", "area")
# Methods of TensorFlow 2 -> the kernel of ScaleAndTranslate; the first two have it only against aliasing.
_KERNELS = {
    "bilinear": "triangle", "bicubic": "keyscubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5",
    "gaussian": "gaussian", "mitchellcubic": "mitchellcubic",
}  # fmt: skip


@public("image.resize", "image.resize_images")
def resize_images(
    images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None
):
    """Images of the height and width that `size` says, in pixels.

    Args:
      images: 3 or 4 dimensions.
      size: two integers, or a tensor of int32.
      method: one of ResizeMethod.
      align_corners: whether the pixels in the corners keep their places.
      preserve_aspect_ratio: whether to go only as far as the ratio of height to width allows.

    Returns:
      float32, but of the images' type for nearest neighbors, and where the size is what it was.

    Raises:
      ValueError: for images of another rank, a size of another form, or a method that there is not.
    """
    method = method.item() if isinstance(method, np.ndarray) else method
    if method not in _METHODS:
        return _resized(images, size, preserve_aspect_ratio, name, _unknown_method, keeps_same_size=True)

    def resize(images, size):
        return getattr(ops, _METHODS[method])(images, size, align_corners=align_corners)

    return _resized(images, size, preserve_aspect_ratio, name, resize, keeps_same_size=True)


@public("compat.v2.image.resize")
@public("python.ops.image_ops_impl.resize_images_v2", "python.ops.image_ops.resize_images_v2")
def resize_images_v2(images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False, name=None):
    """Images of the height and width that `size` says, with pixels where their centers are.

    Args:
      images: 3 or 4 dimensions.
      size: two integers, or a tensor of int32.
      method: "bilinear", "nearest", "bicubic", "area", or a kernel: "lanczos3", "lanczos5", "gaussian",
        "mitchellcubic".
      preserve_aspect_ratio: whether to go only as far as the ratio of height to width allows.
      antialias: whether kernels grow as images shrink, so that every pixel counts.
      name: of the scope.

    Returns:
      float32, but of the images' type for nearest neighbors.

    Raises:
      ValueError: for images of another rank, a size of another form, or a method that there is not.
    """

    def resize(images, size):
        kernel = _KERNELS.get(method)
        if kernel is None or (kernel in ("triangle", "keyscubic") and not antialias):
            if method not in _V2_METHODS:
                return _unknown_method(images, size)
            attrs = {} if method == "area" else {"half_pixel_centers": True}
            return getattr(ops, _METHODS[method])(images, size, **attrs)
        scale = ops.cast(size, dtypes.float32) / ops.cast(ops.shape(images)[1:3], dtypes.float32)
        return ops.scale_and_translate(images, size, scale, ops.zeros([2]), kernel_type=kernel, antialias=antialias)

    return _resized(images, size, preserve_aspect_ratio, name, resize, keeps_same_size=False)


def _unknown_method(_images, _size):
    raise ValueError("Resize method is not implemented.")


def _resized(images, size, preserve_aspect_ratio, name, resize, keeps_same_size):
    """Images as `resize(batch, size)` makes them; with `keeps_same_size`, themselves if they have that size."""
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.shape.rank is None:
            raise ValueError("'images' contains no shape.")
        if images.shape.rank not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        images, is_batch = as_batch(images)
        try:
            size = convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError) as error:
            raise ValueError("'size' must be a 1-D int32 Tensor") from error
        if not size.shape.is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        known = _known_size(size)
        if preserve_aspect_ratio:
            size = _size_within(images, known)
            known = _known_size(size)
        if keeps_same_size and None not in known and images.shape[1:3].as_list() == known:
            return images if is_batch else ops.squeeze(images, [0])
        result = resize(images, size)
        result.set_shape([None, *known, None])
        return result if is_batch else ops.squeeze(result, [0])


def _known_size(size):
    return list(partial_value(size) or (None, None))


def _size_within(images, known):
    """The largest size with the images' ratio of height to width that fits into a size."""
    if None in known:
        raise ValueError("'size' must be known to preserve the ratio of height to width.")
    _, height, width, _ = sizes_of(images)
    by_height = ops.cast(known[0], dtypes.float32) / ops.cast(height, dtypes.float32)
    by_width = ops.cast(known[1], dtypes.float32) / ops.cast(width, dtypes.float32)
    factor = ops.minimum(by_height, by_width)
    scaled = [
        ops.cast(ops.round(factor * ops.cast(length, dtypes.float32)), dtypes.int32) for length in (height, width)
    ]
    return convert_to_tensor(scaled, dtypes.int32, name="size")


@public("image.resize_image_with_pad")
def resize_image_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, align_corners=False):
    """Images as large as fits into that height and width, in pixels, with zeros around them; see `resize_images`.

    Raises ValueError for a size that is not positive; InvalidArgumentError if it is seen at run time.
    """

    def resize(image, size):
        return resize_images(image, size, method, align_corners)

    return _with_pad(image, target_height, target_width, resize)


@public("compat.v2.image.resize_with_pad")
@public("python.ops.image_ops_impl.resize_image_with_pad_v2", "python.ops.image_ops.resize_image_with_pad_v2")
def resize_image_with_pad_v2(image, target_height, target_width, method="bilinear", antialias=False):
    """Images as large as fits into that height and width, with zeros around them; see `resize_images_v2`.

    Raises ValueError for a size that is not positive; InvalidArgumentError if it is seen at run time.
    """

    def resize(image, size):
        return resize_images_v2(image, size, method, antialias=antialias)

    return _with_pad(image, target_height, target_width, resize)


def _with_pad(image, target_height, target_width, resize):
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        found = at_least_3d_checks(image)
        found += check_that(target_width > 0, "target_width must be > 0.")
        found += check_that(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(found, image)
        _, height, width, _ = sizes_of(image)
        known = _fitting_size(height, width, target_height, target_width)
        height, width = ops.cast(height, dtypes.float64), ops.cast(width, dtypes.float64)
        wanted_height = ops.cast(target_height, dtypes.float64)
        wanted_width = ops.cast(target_width, dtypes.float64)
        ratio = larger(width / wanted_width, height / wanted_height)
        exact_height, exact_width = height / ratio, width / ratio
        new_height = ops.cast(ops.floor(exact_height), dtypes.int32)
        new_width = ops.cast(ops.floor(exact_width), dtypes.int32)
        above, left = (wanted_height - exact_height) / 2, (wanted_width - exact_width) / 2
        above, left = ops.floor(above), ops.floor(left)
        above = larger(0, ops.cast(above, dtypes.int32))
        left = larger(0, ops.cast(left, dtypes.int32))
        resized = resize(image, [new_height, new_width])
        resized.set_shape([None, *known, None])
        padded = pad_to_bounding_box(resized, above, left, target_height, target_width)
        sizes_of(padded)  # TensorFlow asks for them
        return padded if is_batch else ops.squeeze(padded, [0])


def _fitting_size(height, width, target_height, target_width):
    """What the nodes of resize_image_with_pad will say of the size, where that is known before."""
    if any(is_tensor(size) for size in (height, width, target_height, target_width)):
        return None, None
    ratio = max(width / target_width, height / target_height)
    return int(height / ratio), int(width / ratio)
