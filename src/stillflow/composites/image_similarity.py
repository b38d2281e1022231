"""sobel_edges, ssim and ssim_multiscale: edges of images, and how alike two images are."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.image_types import checks_of_same_size, convert_image_dtype
from stillflow.composites.separable_convolution import depthwise_conv2d
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor

# Of the scales, from the finest on: Wang, Simoncelli and Bovik, Multiscale structural similarity (2003).
_SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


@public("image.sobel_edges")
def sobel_edges(image):
    """How much images change downwards and to the right, by Sobel's filters.

    Args:
      image: [batch, height, width, depth], floats; height and width at least 2.

    Returns:
      [batch, height, width, depth, 2]
    """
    known_shape = image.shape
    shape = ops.shape(image)
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    filters = ops.constant(np.stack([down, down.T], -1)[:, :, None], image.dtype)
    filters = ops.tile(filters, [1, 1, shape[-1], 1], name="sobel_filters")
    padded = ops.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    result = ops.reshape(edges, ops.concat([shape, [2]], 0))
    result.set_shape(known_shape.concatenate([2]))
    return result


def _gaussian(size, sigma):
    """A filter [size, size, 1, 1] whose weights add up to 1."""
    size, sigma = convert_to_tensor(size, dtypes.int32), convert_to_tensor(sigma)
    places = ops.cast(ops.range(size), sigma.dtype)
    places -= ops.cast(size - 1, sigma.dtype) / 2.0
    exponents = ops.square(places)
    exponents *= -0.5 / ops.square(sigma)
    exponents = ops.reshape(exponents, [1, -1]) + ops.reshape(exponents, [-1, 1])
    weights = ops.softmax(ops.reshape(exponents, [1, -1]))
    return ops.reshape(weights, [size, size, 1, 1])


def _measures(x, y, mean_of, max_val, k1, k2):
    """How alike luminance is, and contrast and structure, at each place."""
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    x_mean, y_mean = mean_of(x), mean_of(y)
    product = x_mean * y_mean * 2.0
    squares = ops.square(x_mean) + ops.square(y_mean)
    luminance = (product + c1) / (squares + c1)
    mean_product = mean_of(x * y) * 2.0
    mean_squares = mean_of(ops.square(x) + ops.square(y))
    c2 *= 1.0
    return luminance, (mean_product - product + c2) / (mean_squares - squares + c2)


def _ssim_per_channel(x, y, max_val, filter_size, filter_sigma, k1, k2):
    """The similarity, and that of contrast and structure alone, of each channel."""
    filter_size = ops.constant(filter_size, dtypes.int32)
    filter_sigma = ops.constant(filter_sigma, x.dtype)
    shapes = ops.shape_n([x, y])
    are_large = [
        checks.assert_that(
            ops.reduce_all(ops.greater_equal(shape[-3:-1], filter_size)), [shape, filter_size], summarize=8
        )
        for shape in shapes
    ]
    with get_default_graph().control_dependencies(are_large):
        x = ops.identity(x)
    weights = ops.tile(_gaussian(filter_size, filter_sigma), [1, 1, shapes[0][-1], 1])

    def mean_of(images):
        shape = ops.shape(images)
        flat = ops.reshape(images, ops.concat([[-1], shape[-3:]], 0))
        means = depthwise_conv2d(flat, weights, [1, 1, 1, 1], "VALID")
        return ops.reshape(means, ops.concat([shape[:-3], ops.shape(means)[1:]], 0))

    luminance, structure = _measures(x, y, mean_of, max_val, k1, k2)
    axes = ops.constant([-3, -2], dtypes.int32)
    similarity = ops.reduce_mean(luminance * structure, axes)
    return similarity, ops.reduce_mean(structure, axes)


def _as_floats(x, y, max_val):
    max_val = ops.cast(max_val, x.dtype)
    max_val = convert_image_dtype(max_val, dtypes.float32)
    x = convert_image_dtype(x, dtypes.float32)
    return x, convert_image_dtype(y, dtypes.float32), max_val


@public("image.ssim")
def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03):
    """How alike images are, from -1 to 1 for those that are equal (Wang et al., 2004).

    Args:
      img1, img2: [..., height, width, channels], whose leading dimensions broadcast.
      max_val: the largest value of an element, as of the type of the images.
      filter_size, filter_sigma: the size and the width of the Gaussian window.
      k1, k2: the constants of the formula.

    Returns:
      float32 of the leading dimensions.

    Raises:
      ValueError: if the shapes do not fit; InvalidArgumentError at run time, if that is not known before, or if
        images are smaller than the window.
    """
    _, found = checks_of_same_size(img1, img2)
    with get_default_graph().control_dependencies(found):
        img1 = ops.identity(img1)
    img1, img2, max_val = _as_floats(img1, img2, max_val)
    similarity, _ = _ssim_per_channel(img1, img2, max_val, filter_size, filter_sigma, k1, k2)
    return ops.reduce_mean(similarity, [-1])


_HALVING = [1, 2, 2, 1]


def _halve(images, heads, tails, divisor):
    """Images of half the size, padded before if that is odd, and their sizes."""
    flat = [ops.reshape(x, ops.concat([[-1], tail], 0)) for x, tail in zip(images, tails, strict=True)]
    remainder = tails[0] % divisor

    def pad():
        paddings = ops.expand_dims(remainder, -1)
        paddings = ops.pad(paddings, [[1, 0], [1, 0]])
        return [ops.pad(x, paddings, mode="SYMMETRIC") for x in flat]

    is_odd = ops.reduce_any(ops.not_equal(remainder, 0))
    padded = cond(is_odd, pad, lambda: flat)
    smaller = [ops.avg_pool(x, ksize=_HALVING, strides=_HALVING, padding="VALID") for x in padded]
    tails = [shape[1:] for shape in ops.shape_n(smaller)]
    images = [
        ops.reshape(x, ops.concat([head, tail], 0)) for x, head, tail in zip(smaller, heads, tails, strict=True)
    ]
    return images, tails


@public("image.ssim_multiscale")
def ssim_multiscale(
    img1, img2, max_val, power_factors=_SCALE_WEIGHTS, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03
):
    """`ssim` at several scales, each half as fine as the one before, multiplied as powers.

    Args:
      power_factors: the exponent of each scale; of all but the last only contrast and structure count.
      img1, img2, max_val, filter_size, filter_sigma, k1, k2, and what is returned and raised: see `ssim`. The
        smallest scale has to be as large as the window.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        shapes, found = checks_of_same_size(img1, img2)
        with get_default_graph().control_dependencies(found):
            img1 = ops.identity(img1)
        *images, max_val = _as_floats(img1, img2, max_val)
        heads = [shape[:-3] for shape in shapes]
        tails = [shape[-3:] for shape in shapes]
        divisor = ops.constant(_HALVING[1:], dtypes.int32)
        structures = []
        for scale in range(len(power_factors)):
            with name_scope(None, f"Scale{scale}", images):
                if scale > 0:
                    images, tails = _halve(images, heads, tails, divisor)
                similarity, structure = _ssim_per_channel(
                    images[0], images[1], max_val, filter_size, filter_sigma, k1, k2
                )
                structures.append(ops.relu(structure))
        factors = ops.stack([*structures[:-1], ops.relu(similarity)], axis=-1)
        product = ops.reduce_prod(ops.pow(factors, power_factors), [-1])
        return ops.reduce_mean(product, [-1])
