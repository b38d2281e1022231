"""Images warped by a flow, and values between the points of a grid."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_equal, assert_greater_equal, assert_less_equal
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

# As TensorFlow has it in its graphs, with the indentation of its source.
_TOO_LARGE = ("\n" + 23 * " ").join(
    (
        "The image size or batch size is sufficiently large",
        "that the linearized addresses used by array_ops.gather",
        "may exceed the int32 limit.",
    )
)


@public("contrib.image.dense_image_warp")
def dense_image_warp(image, flow, name="dense_image_warp"):
    """Images warped by a flow: pixel (j, i) of a result is the image's at (j - flow[j, i, 0], i - flow[j, i, 1]).

    Between pixels it is interpolated, outside of the image it is the nearest pixel of its edge.

    Args:
      image: a floating-point tensor [batch, height, width, channels] of 2 pixels at least in both directions.
      flow: a floating-point tensor [batch, height, width, 2].

    Returns:
      A tensor of the images' type and shape.
    """
    with name_scope(name):
        batch, height, width, channels = (ops.shape(image)[i] for i in range(4))
        columns, rows = ops.meshgrid(ops.range(width), ops.range(height))
        grid = ops.cast(ops.stack([rows, columns], axis=2), flow.dtype)
        places = ops.expand_dims(grid, axis=0) - flow
        places = ops.reshape(places, [batch, height * width, 2])
        values = interpolate_bilinear(image, places)
        return ops.reshape(values, [batch, height, width, channels])


def interpolate_bilinear(grid, query_points, name="interpolate_bilinear"):
    """Values at points between those of a grid: bilinear between four, at the nearest edge outside.

    Args:
      grid: a floating-point tensor [batch, height, width, channels].
      query_points: a floating-point tensor [batch, n, 2] of rows and columns.

    Returns:
      A tensor [batch, n, channels].

    Raises:
      ValueError: if the grid has another rank, or a size is known to be wrong.
    """
    with name_scope(name):
        grid = convert_to_tensor(grid)
        query_points = convert_to_tensor(query_points)
        if grid.shape.ndims != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        batch, height, width, channels = (ops.shape(grid)[i] for i in range(4))
        rank = assert_equal(len(query_points.shape), 3, message="Query points must be 3 dimensional.")
        size = assert_equal(ops.shape(query_points)[2], 2, message="Query points must be size 2 in dim 2.")
        with control_dependencies([rank, size]):
            count = ops.shape(query_points)[1]
        tall = assert_greater_equal(height, 2, message="Grid height must be at least 2.")
        wide = assert_greater_equal(width, 2, message="Grid width must be at least 2.")
        with control_dependencies([tall, wide]):
            queries = ops.unstack(query_points, axis=2)
        (top, bottom, down), (left, right, across) = (
            _between(queries[axis], size, grid.dtype, axis) for axis, size in enumerate((height, width))
        )
        with control_dependencies([_assert_small(batch * height * width)]):
            flat = ops.reshape(grid, [batch * height * width, channels])
            offsets = ops.reshape(ops.range(batch) * height * width, [batch, 1])

        def pixels(rows, columns, name):
            with name_scope(f"gather-{name}"):
                values = ops.gather(flat, offsets + rows * width + columns)
                return ops.reshape(values, [batch, count, channels])

        top_left, top_right = pixels(top, left, "top_left"), pixels(top, right, "top_right")
        bottom_left, bottom_right = pixels(bottom, left, "bottom_left"), pixels(bottom, right, "bottom_right")
        with name_scope("interpolate"):
            above = across * (top_right - top_left) + top_left
            below = across * (bottom_right - bottom_left) + bottom_left
            return down * (below - above) + above


def _between(queries, size, dtype, axis):
    """The indices below and above places of an axis, and the parts of the way between them, [..., 1]."""
    with name_scope(f"dim-{axis}"):
        highest = ops.cast(size - 2, queries.dtype)
        lowest = ops.constant(0.0, dtype=queries.dtype)
        floor = ops.minimum(ops.maximum(lowest, ops.floor(queries)), highest)
        below = ops.cast(floor, dtypes.int32)
        above = below + 1
        part = ops.cast(queries - floor, dtype)
        none, whole = ops.constant(0.0, dtype=dtype), ops.constant(1.0, dtype=dtype)
        part = ops.minimum(ops.maximum(none, part), whole)
        return below, above, ops.expand_dims(part, 2)


def _assert_small(pixels):
    return assert_less_equal(
        ops.cast(pixels, dtype=dtypes.float32),
        np.iinfo(np.int32).max / 8,
        message=_TOO_LARGE,
    )
