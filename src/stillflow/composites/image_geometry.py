"""Images flipped, turned, cropped and padded."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.case import case
from stillflow.composites.image_types import at_least_3d_checks, check_that, checked_image, is_tensor
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform

_WRONG_RANK = "'image' must have either 3 or 4 dimensions."


def _is_single(image):
    """Whether this is one image, or is taken for one, rather than a batch. Raises ValueError for other ranks."""
    rank = image.shape.rank
    if rank not in (3, 4, None):
        raise ValueError(_WRONG_RANK)
    return rank != 4


# ---- Flips and turns --------------------------------------------------------------------------------------------


def _with_shape_of(result, image):
    result.set_shape([None, None, None] if image.shape.rank is None else image.shape)
    return result


def flip(image, axis, scope_name):
    with name_scope(None, scope_name, [image]):
        image = checked_image(convert_to_tensor(image, name="image"))
        if _is_single(image):
            return _with_shape_of(ops.reverse_v2(image, [axis]), image)
        return ops.reverse_v2(image, [axis + 1])


def random_flip(image, axis, seed, scope_name):
    with name_scope(None, scope_name, [image]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        if _is_single(image):
            is_flipped = ops.less(random_uniform([], 0, 1.0, seed=seed), 0.5)
            result = cond(is_flipped, lambda: ops.reverse_v2(image, [axis]), lambda: image, name=scope)
            return _with_shape_of(result, image)
        batch = ops.shape(image)[0]
        numbers = random_uniform([batch], 0, 1.0, seed=seed)
        flips = ops.cast(ops.round(ops.reshape(numbers, [batch, 1, 1, 1])), image.dtype)
        flipped = ops.reverse_v2(image, [axis + 1])
        return flips * flipped + (1 - flips) * image


@public("image.rot90")
def rot90(image, k=1, name=None):
    """Images turned counter-clockwise by k right angles, an integer or a scalar tensor of int32."""
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        k = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.shape.assert_has_rank(0)
        k = ops.floor_mod(k, 4)
        first = 0 if _is_single(image) else 1  # the axis of the rows
        order = [1, 0, 2] if first == 0 else [0, 2, 1, 3]
        turns = [
            (ops.equal(k, 1), lambda: ops.transpose(ops.reverse_v2(image, [first + 1]), order)),
            (ops.equal(k, 2), lambda: ops.reverse_v2(image, [first, first + 1])),
            (ops.equal(k, 3), lambda: ops.reverse_v2(ops.transpose(image, order), [first + 1])),
        ]
        result = case(turns, default=lambda: image, exclusive=True, name=scope)
        if first == 0:
            result.set_shape([None, None, image.shape[2]])
        else:
            result.set_shape([result.shape[0], None, None, result.shape[3]])
        return result


@public("image.transpose", "image.transpose_image")
def transpose(image, name=None):
    """Images with rows for columns. Raises ValueError unless they have 3 or 4 dimensions."""
    with name_scope(name, "transpose", [image]):
        image = checked_image(convert_to_tensor(image, name="image"))
        return ops.transpose(image, [1, 0, 2] if _is_single(image) else [0, 2, 1, 3], name=name)


# ---- Parts ------------------------------------------------------------------------------------------------------


def _margin(size, fraction):
    """(how much to take away on each side, what is left) of a size."""
    if is_tensor(size):
        exact = ops.cast(size, dtypes.float64)
        return ops.cast((exact - exact * fraction) / 2, dtypes.int32)
    return int((size - size * fraction) / 2)


def _known_or_tensor(image, axis):
    size = image.shape.dims[axis].value
    return ops.shape(image)[axis] if size is None else size


@public("image.central_crop")
def central_crop(image, central_fraction):
    """The middle of images: so large a part of their height and of their width.

    Raises ValueError for a part that is not in (0, 1], or images that have not 3 or 4 dimensions.
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        checked_image(image)
        rank = image.shape.rank
        if rank not in (3, 4):
            raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}.")
        batch = [] if rank == 3 else [image.shape[0]]
        sizes = [_known_or_tensor(image, len(batch) + i) for i in range(2)]
        margins = [_margin(size, central_fraction) for size in sizes]
        left = [size - margin * 2 for size, margin in zip(sizes, margins, strict=True)]
        begin = ops.stack([0] * len(batch) + [*margins, 0])
        size = ops.stack([-1] * len(batch) + [*left, -1])
        result = ops.slice(image, begin, size)
        known = [None if is_tensor(size) else size for size in left]
        result.set_shape([*batch, *known, image.shape[-1]])
        return result


def as_batch(image):
    """(a batch of images, whether it was one)."""
    rank = image.shape.rank
    if rank == 4:
        return image, True
    if rank not in (3, None):
        raise ValueError(_WRONG_RANK)
    image = ops.expand_dims(image, 0)
    if rank is None:
        image.set_shape([None] * 4)
    return image, False


def sizes_of(image):
    """The four sizes of a batch, integers or tensors."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    tensors = ops.unstack(ops.shape(image), 4)
    known = image.shape.with_rank(4).as_list()
    return [tensor if size is None else size for size, tensor in zip(known, tensors, strict=True)]


def _finished(result, sizes, is_batch):
    """A batch with what is known of its sizes, or the one image in it."""
    result.set_shape([None if is_tensor(size) else size for size in sizes])
    return result if is_batch else ops.squeeze(result, [0])


@public("image.pad_to_bounding_box")
def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """Images with zeros around them.

    Args:
      image: 3 or 4 dimensions.
      offset_height, offset_width: how many rows and columns of zeros come first.
      target_height, target_width: how many rows and columns there are then. All of them integers or scalars of int32.

    Raises:
      ValueError: for negative numbers, or images that do not fit; InvalidArgumentError if it is seen at run time.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        found = at_least_3d_checks(image)
        batch, height, width, depth = sizes_of(image)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        found += check_that(offset_height >= 0, "offset_height must be >= 0")
        found += check_that(offset_width >= 0, "offset_width must be >= 0")
        found += check_that(right >= 0, "width must be <= target - offset")
        found += check_that(below >= 0, "height must be <= target - offset")
        image = with_dependencies(found, image)
        paddings = ops.reshape(ops.stack([0, 0, offset_height, below, offset_width, right, 0, 0]), [4, 2])
        return _finished(ops.pad(image, paddings), (batch, target_height, target_width, depth), is_batch)


@public("image.crop_to_bounding_box")
def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of images that begins so many rows and columns from the first and is so large.

    Args:
      image: 3 or 4 dimensions.
      offset_height, offset_width, target_height, target_width: integers or scalars of int32, in pixels.

    Raises:
      ValueError: for a part that is not inside; InvalidArgumentError at run time, if not known before.
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        found = at_least_3d_checks(image)
        batch, height, width, depth = sizes_of(image)
        found += check_that(offset_width >= 0, "offset_width must be >= 0.")
        found += check_that(offset_height >= 0, "offset_height must be >= 0.")
        found += check_that(target_width > 0, "target_width must be > 0.")
        found += check_that(target_height > 0, "target_height must be > 0.")
        found += check_that(width >= target_width + offset_width, "width must be >= target + offset.")
        found += check_that(height >= target_height + offset_height, "height must be >= target + offset.")
        image = with_dependencies(found, image)
        begin = ops.stack([0, offset_height, offset_width, 0])
        cropped = ops.slice(image, begin, ops.stack([-1, target_height, target_width, -1]))
        return _finished(cropped, (batch, target_height, target_width, depth), is_batch)


# ---- Both -------------------------------------------------------------------------------------------------------


def _choose(known, op):
    """A function of two sizes: `known` of integers, or `op` if one is a tensor."""
    return lambda x, y: op(x, y) if is_tensor(x) or is_tensor(y) else known(x, y)


larger = _choose(max, lambda x, y: ops.maximum(x, y))
_smaller = _choose(min, lambda x, y: ops.minimum(x, y))
_equal = _choose(lambda x, y: x == y, lambda x, y: ops.equal(x, y))


@public("image.resize_image_with_crop_or_pad", "image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image, target_height, target_width):
    """The middle of images, with zeros around it where they are smaller than that size, in pixels.

    Raises ValueError for a size that is not positive; InvalidArgumentError at run time, if not known before.
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        found = at_least_3d_checks(image)
        found += check_that(target_width > 0, "target_width must be > 0.")
        found += check_that(target_height > 0, "target_height must be > 0.")
        image = with_dependencies(found, image)
        if is_tensor(target_height):
            target_height = with_dependencies(found, target_height)
        if is_tensor(target_width):
            target_width = with_dependencies(found, target_width)
        _, height, width, _ = sizes_of(image)
        crop_left, pad_left = _offsets(target_width - width)
        crop_top, pad_top = _offsets(target_height - height)
        rows, columns = _smaller(target_height, height), _smaller(target_width, width)
        cropped = crop_to_bounding_box(image, crop_top, crop_left, rows, columns)
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        _, height, width, _ = sizes_of(resized)
        found = check_that(_equal(height, target_height), "resized height is not correct.")
        found += check_that(_equal(width, target_width), "resized width is not correct.")
        resized = with_dependencies(found, resized)
        return resized if is_batch else ops.squeeze(resized, [0])


def _offsets(difference):
    """How much to crop before, and to pad before, for a size that is to grow by `difference`."""
    return larger(-difference // 2, 0), larger(difference // 2, 0)


@public("image.flip_left_right")
def flip_left_right(image):
    """Images with their columns in the reverse order. Raises ValueError unless they have 3 or 4 dimensions."""
    return flip(image, 1, "flip_left_right")


@public("image.flip_up_down")
def flip_up_down(image):
    """Images with their rows in the reverse order. Raises ValueError unless they have 3 or 4 dimensions."""
    return flip(image, 0, "flip_up_down")


@public("image.random_flip_left_right")
def random_flip_left_right(image, seed=None):
    """flip_left_right for every second image, at random."""
    return random_flip(image, 1, seed, "random_flip_left_right")


@public("image.random_flip_up_down")
def random_flip_up_down(image, seed=None):
    """flip_up_down for every second image, at random."""
    return random_flip(image, 0, seed, "random_flip_up_down")
