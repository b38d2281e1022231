"""Weights of losses and metrics: a scalar, or of the rank of the values, with sizes that are theirs or 1."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse.sets import set_difference

_ERROR = "weights can not be broadcast to values."


@public("python.ops.weights_broadcast_ops.assert_broadcastable")
def assert_broadcastable(weights, values):
    """An operation that fails unless `weights` fit `values`; it does nothing if that is known already.

    Raises:
      ValueError: if they are known not to fit.
      At run time: tf.errors.InvalidArgumentError if they do not fit.
    """
    with name_scope(None, "assert_broadcastable", (weights, values)) as scope:
        weights, weights_shape, weights_rank = _with_shape(weights, "weights")
        values, values_shape, values_rank = _with_shape(values, "values")
        fits = _known_to_fit(weights, values)
        if fits is not None:
            return ops.no_op(name=fits)
        is_scalar = ops.equal(0, weights_rank, name="is_scalar")
        data = (
            _ERROR, "weights.shape=", weights.name, weights_shape, "values.shape=", values.name, values_shape,
            "is_scalar=", is_scalar,
        )  # fmt: skip
        is_valid = cond(
            is_scalar,
            lambda: is_scalar,
            lambda: _has_valid_shape(weights_rank, weights_shape, values_rank, values_shape),
            name="is_valid_shape",
        )
        return assert_that(is_valid, data, name=scope)


def _with_shape(value, name):
    with name_scope(None, name, (value,)) as scope:
        value = convert_to_tensor(value, name=scope)
        return value, ops.shape(value, name="shape"), ops.rank(value, name="rank")


def _known_to_fit(weights, values):
    """The name of the operation that says so, or None if it is not known."""
    if weights.shape.rank is None or values.shape.rank is None:
        return None
    if weights.shape.rank == 0:
        return "static_scalar_check_success"
    if weights.shape.rank != values.shape.rank:
        raise ValueError(
            f"{_ERROR} values.rank={values.shape.rank}. weights.rank={weights.shape.rank}. "
            f"values.shape={values.shape}. weights.shape={weights.shape}."
        )
    if not (weights.shape.is_fully_defined() and values.shape.is_fully_defined()):
        return None
    sizes, wanted = np.array(weights.shape.as_list()), np.array(values.shape.as_list())
    for axis, (size, size_of_values) in enumerate(zip(sizes, wanted, strict=True)):
        if size not in (1, size_of_values):
            raise ValueError(f"{_ERROR} Mismatch at dim {axis}. values.shape={wanted} weights.shape={sizes}.")
    return "static_dims_check_success"


def _has_valid_shape(weights_rank, weights_shape, values_rank, values_shape):
    given = (weights_rank, weights_shape, values_rank, values_shape)
    with name_scope(None, "has_valid_nonscalar_shape", given) as scope:
        is_same_rank = ops.equal(values_rank, weights_rank, name="is_same_rank")
        return cond(
            is_same_rank, lambda: _has_valid_sizes(weights_shape, values_shape), lambda: is_same_rank, name=scope
        )


def _has_valid_sizes(weights_shape, values_shape):
    """Whether each size is in the set of 1 and the values' size."""
    with name_scope(None, "has_invalid_dims", (weights_shape, values_shape)) as scope:
        column = ops.expand_dims(values_shape, -1)
        valid = ops.concat((column, ops.ones_like(column)), axis=1)
        invalid = set_difference(ops.expand_dims(weights_shape, -1), valid)
        count = ops.size(invalid.values, name="num_invalid_dims")
        return ops.equal(0, count, name=scope)


@public("python.ops.weights_broadcast_ops.broadcast_weights")
def broadcast_weights(weights, values):
    """`weights` in the shape of `values`, as `assert_broadcastable` allows."""
    with name_scope(None, "broadcast_weights", (weights, values)) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, values.dtype.base_dtype, name="weights")
        if (
            weights.shape.is_fully_defined()
            and values.shape.is_fully_defined()
            and weights.shape.is_compatible_with(values.shape)
        ):
            return weights
        with control_dependencies((assert_broadcastable(weights, values),)):
            return ops.mul(weights, ops.ones_like(values), name=scope)
