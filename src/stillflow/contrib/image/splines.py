"""Polyharmonic splines through values at scattered points, and images warped by them."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.contrib.image.warps import dense_image_warp
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_SMALLEST = 1e-10


@public("contrib.image.interpolate_spline")
def interpolate_spline(
    train_points, train_values, query_points, order, regularization_weight=0.0, name="interpolate_spline"
):
    """Values at query points of the polyharmonic spline through values at other points.

    The spline is a linear function and, around each of the n train points, a multiple of r^order for an odd
    order, of r^order log r for an even one (1: linear, 2: thin plate); the multiples solve a linear system, so
    this costs O(n^3).

    Args:
      train_points: a floating-point tensor [batch, n, d], d known.
      train_values: a tensor [batch, n, k], k known.
      query_points: a tensor [batch, m, d].
      order: of the spline.
      regularization_weight: how much smoothness counts against the values, 0 or more.

    Returns:
      A tensor [batch, m, k].

    Raises:
      ValueError: if d or k are not known.
    """
    with name_scope(name):
        train_points = convert_to_tensor(train_points)
        train_values = convert_to_tensor(train_values)
        query_points = convert_to_tensor(query_points)
        with name_scope("solve"):
            weights, linear = _fit(train_points, train_values, order, regularization_weight)
        with name_scope("predict"):
            by_distance = ops.matmul(_basis(_distances_between(query_points, train_points), order), weights)
            ones = ops.ones_like(query_points[..., :1], train_points.dtype)
            return by_distance + ops.matmul(ops.concat([query_points, ones], 2), linear)


@public("contrib.image.sparse_image_warp")
def sparse_image_warp(
    image,
    source_control_point_locations,
    dest_control_point_locations,
    interpolation_order=2,
    regularization_weight=0.0,
    num_boundary_points=0,
    name="sparse_image_warp",
):
    """Images warped so that given points move to given places, and the others between them by a spline.

    Args:
      image: a floating-point tensor [batch, height, width, channels] of known sizes.
      source_control_point_locations: a tensor [batch, n, 2], rows and columns of points.
      dest_control_point_locations: where they go to, of the same shape.
      interpolation_order: see `interpolate_spline`.
      regularization_weight: see `interpolate_spline`.
      num_boundary_points: how many points along each edge of the image stay where they are, 0 for none.

    Returns:
      The images and the flow [batch, height, width, 2] that made them; see `dense_image_warp`.
    """
    image = convert_to_tensor(image)
    sources = convert_to_tensor(source_control_point_locations)
    places = convert_to_tensor(dest_control_point_locations)
    flows = places - sources
    with name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
        grid = np.stack([rows.ravel(), columns.ravel()], axis=-1)
        grid = ops.constant(_for_each(grid, batch), image.dtype)
        if num_boundary_points > 0:
            places, flows = _with_still_boundary(places, flows, height, width, num_boundary_points - 1)
        flat = interpolate_spline(places, flows, grid, interpolation_order, regularization_weight)
        dense = ops.reshape(flat, [batch, height, width, 2])
        return dense_image_warp(image, dense), dense


def _fit(points, values, order, regularization_weight):
    """The multiples of the basis functions [batch, n, k] and the linear function [batch, d + 1, k]."""
    batch, count, _ = ops.unstack(ops.shape(points), num=3)
    dimensions, width = points.shape.as_list()[-1], values.shape.as_list()[-1]
    for size, what in ((dimensions, "input points (d)"), (width, "output values (k)")):
        if size is None:
            raise ValueError(f"The dimensionality of the {what} must be statically-inferrable.")
    with name_scope("construct_linear_system"):
        by_distance = _basis(_distances_within(points), order)
        if regularization_weight > 0:
            identity = ops.expand_dims(ops.eye(count, dtype=points.dtype), 0)
            by_distance = by_distance + regularization_weight * identity
        ones = ops.ones_like(points[..., :1], dtype=points.dtype)
        places = ops.concat([points, ones], 2)
        left = ops.concat([by_distance, ops.transpose(places, [0, 2, 1])], 1)
        corner = ops.zeros([batch, dimensions + 1, dimensions + 1], points.dtype)
        right = ops.concat([places, corner], 1)
        matrix = ops.concat([left, right], 2)
        wanted = ops.concat([values, ops.zeros([batch, dimensions + 1, width], points.dtype)], 1)
    with name_scope("solve_linear_system"):
        solution = ops.matrix_solve(matrix, wanted)
        return solution[:, :count, :], solution[:, count:, :]


def _distances_within(points):
    """Squares of the distances between all points of a batch [batch, n, d]: [batch, n, n]."""
    products = ops.matmul(points, points, adjoint_b=True)
    norms = ops.expand_dims(ops.matrix_diag_part(products), 2)
    return norms - 2 * products + ops.transpose(norms, [0, 2, 1])


def _distances_between(x, y):
    """Squares of the distances between points [batch, n, d] and [batch, m, d]: [batch, n, m]."""
    x_norms = ops.reduce_sum(ops.square(x), 2)
    y_norms = ops.reduce_sum(ops.square(y), 2)
    x_norms, y_norms = ops.expand_dims(x_norms, 2), ops.expand_dims(y_norms, 1)
    return x_norms - 2 * ops.matmul(x, y, adjoint_b=True) + y_norms


def _basis(squares, order):
    """The basis function of that order, of squares of distances."""
    with name_scope("phi"):
        if order == 1:
            return ops.sqrt(ops.maximum(squares, _SMALLEST))
        if order == 2:
            return 0.5 * squares * ops.log(ops.maximum(squares, _SMALLEST))
        if order == 4:
            return 0.5 * ops.square(squares) * ops.log(ops.maximum(squares, _SMALLEST))
        squares = ops.maximum(squares, _SMALLEST)
        if order % 2 == 0:
            return 0.5 * ops.pow(squares, 0.5 * order) * ops.log(squares)
        return ops.pow(squares, 0.5 * order)


def _with_still_boundary(places, flows, height, width, points_per_edge):
    """The points and their flows, and points at the image's edges that do not move."""
    batch = places.shape.as_list()[0]
    ys = np.linspace(0, height - 1, points_per_edge + 2)
    xs = np.linspace(0, width - 1, points_per_edge + 2)
    ys, xs = np.meshgrid(ys, xs, indexing="ij")
    is_edge = (xs == 0) | (xs == width - 1) | (ys == 0) | (ys == height - 1)
    edge = np.stack([ys[is_edge], xs[is_edge]], axis=-1)
    still = ops.constant(_for_each(edge, batch), places.dtype), ops.constant(_for_each(0 * edge, batch), places.dtype)
    return ops.concat([places, still[0]], 1), ops.concat([flows, still[1]], 1)


def _for_each(array, batch):
    return np.tile(array[None], [batch, 1, 1])
