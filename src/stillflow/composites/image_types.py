"""convert_image_dtype, and checks of the ranks and shapes of images."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("image.convert_image_dtype")
def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Pixels of another type: floats from 0 to 1 stand for integers from 0 to the largest.

    With `saturate`, what does not fit becomes the nearest that does. Raises AttributeError for types that are neither
    floats nor integers.
    """
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return ops.identity(image, name=name)
    cast = ops.saturate_cast if saturate else ops.cast
    with name_scope(name, "convert_image", [image]) as scope:
        if image.dtype.is_integer and dtype.is_integer:
            return _between_integers(image, dtype, cast, scope)
        if image.dtype.is_integer:
            return ops.mul(ops.cast(image, dtype), 1.0 / image.dtype.max, name=scope)
        if dtype.is_floating:
            return ops.cast(image, dtype, name=scope)
        # Half a step more, so that each integer has an equal share of the floats.
        return cast(ops.mul(image, dtype.max + 0.5), dtype, name=scope)


def _between_integers(image, dtype, cast, scope):
    largest_in, largest_out = image.dtype.max, dtype.max
    if largest_in > largest_out:
        return cast(ops.div(image, (largest_in + 1) // (largest_out + 1)), dtype, name=scope)
    return ops.mul(cast(image, dtype), (largest_out + 1) // (largest_in + 1), name=scope)


def as_float(image):
    """An image of float16 or float32 as it is, others as float32."""
    if image.dtype in (dtypes.float16, dtypes.float32):
        return image
    return convert_image_dtype(image, dtypes.float32)


# ---- Checks -----------------------------------------------------------------------------------------------------

_SIZE_MESSAGE = ["all dims of 'image.shape' must be > 0."]


def at_least_3d_checks(image):
    """Operations that fail unless an image has three dimensions or more and none is 0, as far as it is not known.

    Raises ValueError if it is known not to be so.
    """
    try:
        shape = image.shape.with_rank(3) if image.shape.rank is None else image.shape.with_rank_at_least(3)
    except ValueError as error:
        raise ValueError("'image' must be at least three-dimensional.") from error
    if any(size == 0 for size in shape):
        raise ValueError(f"all dims of 'image.shape' must be > 0: {shape}")
    if shape.is_fully_defined():
        return []
    return [
        checks.assert_sign("assert_positive", ops.shape(image), _SIZE_MESSAGE),
        checks.assert_comparison(
            "assert_greater_equal", ops.rank(image), 3, message="'image' must be at least three-dimensional."
        ),
    ]


def checked_image(image):
    """The image, after at_least_3d_checks."""
    return with_dependencies(at_least_3d_checks(image), image)


def checked_grayscale(image):
    """The image, after a check that its last dimension is 1. Raises ValueError if it is known not to be."""
    try:
        shape = image.shape.with_rank(2) if image.shape.rank is None else image.shape.with_rank_at_least(2)
    except ValueError as error:
        raise ValueError("A grayscale image must be at least two-dimensional.") from error
    found = []
    if shape.is_fully_defined():
        if shape[-1] != 1:
            raise ValueError("Last dimension of a grayscale image should be size 1.")
    else:
        message = "Last dimension of a grayscale image should be size 1."
        found.append(checks.assert_comparison("assert_equal", ops.shape(image)[-1], 1, message=message))
        message = "A grayscale image must be at least two-dimensional."
        found.append(checks.assert_comparison("assert_greater_equal", ops.rank(image), 3, message=message))
    return with_dependencies(found, image)


def checks_of_same_size(a, b):
    """The shapes of images and operations that fail unless they fit. Raises ValueError if they are known not to."""
    first, second = a.shape.with_rank_at_least(3), b.shape.with_rank_at_least(3)
    first[-3:].assert_is_compatible_with(second[-3:])
    if first.rank is not None and second.rank is not None:
        for x, y in zip(reversed(first.dims[:-3]), reversed(second.dims[:-3]), strict=False):
            if not (x == 1 or y == 1 or x.is_compatible_with(y)):
                raise ValueError(f"Two images are not compatible: {first} and {second}")
    first, second = ops.shape_n([a, b])
    return [first, second], [
        checks.assert_that(ops.greater_equal(ops.size(first), 3), [first, second], summarize=10),
        checks.assert_that(ops.reduce_all(ops.equal(first[-3:], second[-3:])), [first, second], summarize=10),
    ]


def check_that(condition, message):
    """[an operation that fails] for a tensor, [] for True. Raises ValueError for False."""
    if is_tensor(condition):
        return [checks.assert_that(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def is_tensor(value):
    """Whether a value is only known when the graph runs: a tensor or a variable."""
    return isinstance(value, Tensor) or hasattr(value, "_as_graph_element")
