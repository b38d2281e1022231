"""Tensors whose ranks, shapes and sizes are checked when they are computed, and known from then on."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value


def check_multiple(value, unit):
    """`value`, an int32 scalar, if it is a multiple of `unit` and not 0."""
    is_multiple = ops.logical_and(ops.equal(ops.floor_mod(value, unit), 0), ops.not_equal(value, 0))
    message = [
        f"Tensor {value.name} should be a multiple of: ", ops.as_string(unit), ", but saw value: ",
        ops.as_string(value), ". Consider setting pad=True.",
    ]  # fmt: skip
    with control_dependencies([assert_that(is_multiple, [ops.string_join(message)])]):
        return ops.identity(value, name="multiple_of_checked")


def check_rank(value, rank):
    """`value` if it has so many dimensions, a number or an int32 scalar. Raises ValueError if it surely has not."""
    is_rank = ops.equal(rank, ops.rank(value))
    message = [f"Rank of tensor {value.name} should be: ", ops.as_string(rank), ", shape received:"]
    check = assert_that(is_rank, [ops.string_join(message), ops.shape(value)])
    with control_dependencies([check]):
        checked = ops.identity(value, name="rank_checked")
    known = constant_value(rank) if isinstance(rank, Tensor) else rank
    if known is not None:
        try:
            checked.set_shape(checked.shape.with_rank(int(known)))
        except ValueError as error:
            raise ValueError(f"Rank check failed for {value.name}: {error}") from error
    return checked


def check_shape(value, shape):
    """`value` if it has this shape: a TensorShape, a list or a vector. Raises ValueError if it surely has not."""
    if isinstance(shape, TensorShape):
        shape = shape.as_list()
    if isinstance(shape, Tensor):
        known = constant_value(shape)
        if known is not None:
            shape = [int(size) for size in known]
    value = check_rank(value, ops.size(shape) if isinstance(shape, Tensor) else len(shape))
    is_shape = ops.reduce_all(ops.equal(shape, ops.shape(value)))
    message = [
        f"Shape of tensor {value.name} should be: ", ops.as_string(shape), ", shape received: ",
        ops.as_string(ops.shape(value)),
    ]  # fmt: skip
    check = assert_that(is_shape, [ops.string_join(message)])
    with control_dependencies([check]):
        checked = ops.identity(value, name="shape_checked")
    if not isinstance(shape, Tensor):
        try:
            checked.set_shape(checked.shape.merge_with(shape))
        except ValueError as error:
            raise ValueError(f"Shape check failed for {value.name}: {error}") from error
    return checked


def check_dimensions(value, dimensions, sizes, label):
    """`value` if its dimensions have these sizes.

    Args:
      value: a tensor; where sizes are known, it is told them.
      dimensions: which dimensions, numbers without repetition.
      sizes: numbers and int32 scalars, one for each.
      label: what messages and the node call it.

    Raises:
      ValueError: if it is known that sizes differ, or that there are no such dimensions.
    """
    if value.shape.ndims is not None:
        if value.shape.ndims <= max(dimensions):
            raise ValueError(
                f"{label}: rank of input is not greater than max(dimensions): {value.shape.ndims} vs. "
                f"{max(dimensions)}"
            )
        known = value.shape.as_list()
        for dimension, size in zip(dimensions, sizes, strict=True):
            if not isinstance(size, Tensor):
                known[dimension] = size
        try:
            value.set_shape(value.shape.merge_with(known))
        except ValueError as error:
            raise ValueError(f"Dimensions check failed for {label}: {error}") from error
    checks = [_size_check(value, *each, label) for each in zip(dimensions, sizes, strict=True)]
    with control_dependencies(checks):
        return ops.identity(value, name=f"dims_checked_{label}")


def _size_check(value, dimension, size, label):
    is_size = ops.equal(size, ops.shape(value)[dimension])
    message = [
        f"Dimension {dimension} of tensor labeled {label} should be: ", ops.as_string(size), ", shape received: ",
        ops.as_string(ops.shape(value)),
    ]  # fmt: skip
    return assert_that(is_size, [ops.string_join(message)])
