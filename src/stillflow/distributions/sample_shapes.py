"""Shapes of samples: what the caller asked for, then the batch's, then the event's."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public(
    "python.ops.distributions.util.pick_vector",
    "contrib.distributions.python.ops.distribution_util.pick_vector",
)
def pick_vector(condition, true_vector, false_vector, name="pick_vector"):
    """One of two vectors, which may be of different sizes, by a bool scalar.

    Raises:
      TypeError: if the condition is no bool, or the vectors have different types.
    """
    with name_scope(name, values=(condition, true_vector, false_vector)):
        condition = convert_to_tensor(condition, name="cond")
        if condition.dtype != dtypes.bool_:
            raise TypeError(f"{condition}.dtype={condition.dtype} which is not {dtypes.bool_}")
        known = constant_value(condition)
        if known is not None:
            return true_vector if known else false_vector
        true_vector = convert_to_tensor(true_vector, name="true_vector")
        false_vector = convert_to_tensor(false_vector, name="false_vector")
        if true_vector.dtype != false_vector.dtype:
            raise TypeError(
                f"{true_vector}.dtype={true_vector.dtype} does not match {false_vector}.dtype={false_vector.dtype}"
            )
        size = ops.shape(true_vector)[0]
        both = ops.concat([true_vector, false_vector], 0)
        return ops.slice(both, [ops.where_v2(condition, 0, size)], [ops.where(condition, size, -1)])


def as_vector_with_product(shape, name):
    """(a sample shape, which may be a scalar, as a vector; the number of samples).

    Raises ValueError for a matrix or more.
    """
    known = constant_value(shape)
    if known is None:
        product = ops.reduce_prod(shape)
    else:
        product = np.prod(known, dtype=shape.dtype.as_numpy_dtype())
    rank = shape.shape.ndims
    if rank is None:
        is_scalar = ops.equal(ops.rank(shape), 0)
        return ops.reshape(shape, pick_vector(is_scalar, np.array([1], np.int32), ops.shape(shape))), product
    if rank == 0:
        if known is None:
            return ops.reshape(shape, [1]), product
        return convert_to_tensor(np.array([known], shape.dtype.as_numpy_dtype()), name=name), product
    if rank != 1:
        raise ValueError("Input is neither scalar nor vector.")
    return shape, product


def _unknown(rank):
    return TensorShape([None] * rank)


def set_static_shape(samples, sample_shape, batch_shape, event_shape):
    """Tells the tensor of samples what is known about the three parts of its shape."""
    sample_shape = TensorShape(constant_value(sample_shape))
    rank, sample_rank = samples.shape.ndims, sample_shape.ndims
    batch_rank, event_rank = batch_shape.ndims, event_shape.ndims
    if rank is None and None not in (sample_rank, batch_rank, event_rank):
        rank = sample_rank + batch_rank + event_rank
        samples.set_shape(_unknown(rank))
    if rank is None:
        return samples
    if sample_rank is not None:
        samples.set_shape(sample_shape.concatenate(_unknown(rank - sample_rank)))
    if event_rank is not None:
        samples.set_shape(_unknown(rank - event_rank).concatenate(event_shape))
    if batch_rank is not None:
        if sample_rank is None and event_rank is not None:
            sample_rank = rank - batch_rank - event_rank
        elif event_rank is None and sample_rank is not None:
            event_rank = rank - batch_rank - sample_rank
        if sample_rank is not None and event_rank is not None:
            samples.set_shape(_unknown(sample_rank).concatenate(batch_shape).concatenate(_unknown(event_rank)))
    return samples
