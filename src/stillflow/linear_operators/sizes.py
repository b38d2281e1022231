"""Sizes that operators without a tensor are given: numbers of rows and columns, shapes of batches."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.rank_checks import assert_rank
from stillflow.linear_operators.arguments import count_and_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies


def checked_count(count, value, name, is_checked_later):
    """A number of rows or columns, with checks that run before it is used if they are wanted.

    Raises TypeError unless it is of integers, ValueError unless it is a scalar and not negative.
    """
    if is_checked_later:
        count = _checked_when_run(count, 0, name)
    _check(count, value, name, 0)
    return count


def checked_batch_shape(batch_shape, is_checked_later):
    """(tensor, known value) of the shape of a batch, or None for both."""
    if batch_shape is None:
        return None, None
    tensor, value = count_and_value(batch_shape, "batch_shape_arg")
    if is_checked_later:
        tensor = _checked_when_run(tensor, 1, "batch_shape")
    _check(tensor, value, "batch_shape", 1)
    return tensor, value


def _checked_when_run(tensor, rank, name):
    checked = [
        assert_rank(tensor, rank, message=f"Argument {name} must be a {rank}-D Tensor."),
        checks.assert_sign("assert_non_negative", tensor, message=f"Argument {name} must be non-negative."),
    ]
    return with_dependencies(checked, tensor)


def _check(tensor, value, name, rank):
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {tensor}")
    if value is None:
        return
    if value.ndim != rank:
        raise ValueError(f"Argument {name} must be a {rank}-D Tensor.  Found: {value}")
    if np.any(value < 0):
        raise ValueError(f"Argument {name} must be non-negative.  Found: {value}")


def smallest_size(operator):
    """min(m, n), or None if it is not known."""
    sizes = operator.domain_dimension.value, operator.range_dimension.value
    return None if None in sizes else min(sizes)


def batch_like(operator, fill):
    """ops.ones or ops.zeros of the shape of an operator's batch."""
    if operator.batch_shape.is_fully_defined():
        return fill(operator.batch_shape, operator.dtype)
    return fill(operator.batch_shape_tensor(), operator.dtype)


def with_fitting_rows(operator, x):
    """`x`, after a check that it has as many rows as the operator has columns."""
    return with_dependencies([assert_fitting_rows(operator, x)], x)


@public("python.ops.linalg.linear_operator_util.assert_compatible_matrix_dimensions")
def assert_fitting_rows(operator, x):
    """An operation that fails if `x` has not as many rows as the operator has columns."""
    return checks.assert_comparison(
        "assert_equal",
        ops.shape(x)[-2],
        operator.domain_dimension_tensor(),
        message="Dimensions are not compatible.  shape[-2] of argument to be the same as this operator",
    )


def with_batch(operator, x):
    """`x` broadcast to the batch of an operator that was given a batch's shape."""
    if operator._batch_shape_arg is None:
        return x
    shape = operator.batch_shape.concatenate([1, 1])
    broadcast = ops.broadcast_static_shape(x.shape, shape)
    if shape.is_fully_defined():
        if broadcast == x.shape:
            return x
        return x + ops.zeros(shape, operator.dtype)
    return x + ops.zeros(ops.concat((operator.batch_shape_tensor(), [1, 1]), 0), operator.dtype)
