"""Reshape: a bijector that gives events another shape."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.contrib.distributions.bijectors.base import Bijector
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.bijectors.Reshape")
class Reshape(Bijector):
    """Events of one shape as events of another; one size of each may be -1, which follows from the other shape.

    Args:
      event_shape_out, event_shape_in: the shapes, integer vectors.
      validate_args: whether shapes that are known only later are checked then.
      name: a name.

    Raises TypeError for shapes that are not of integers, ValueError for those that are no vectors, have sizes below
    -1 or more than one -1, and for events of another shape.
    """

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        with name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            self._out = convert_to_tensor(event_shape_out, name="event_shape_out", preferred_dtype=dtypes.int32)
            self._in = convert_to_tensor(event_shape_in, name="event_shape_in", preferred_dtype=dtypes.int32)
            shapes = (self._out, self._in)
            self._conditions = [check for shape in shapes for check in _shape_checks(shape, validate_args)]
            super().__init__(
                forward_min_event_ndims=0,
                is_constant_jacobian=True,
                validate_args=validate_args,
                name=name or "reshape",
            )

    def _reshaped(self, x, before, after):
        with control_dependencies(self._conditions):
            event_rank, rank = dimension_value(before.shape.with_rank_at_least(1)[0]), x.shape.ndims
            event_rank_tensor = ops.shape(before)[0]
            x = self._checked(x, before, event_rank, event_rank_tensor)
            batch = ops.shape(x)
            batch = batch[: (ops.rank(x) if rank is None else rank) - ops.abs(event_rank_tensor)]
            if event_rank is not None and event_rank == rank:
                return ops.reshape(x, after)
            return ops.reshape(x, ops.concat([batch, after], axis=0))

    def _checked(self, x, before, event_rank, event_rank_tensor):
        """x, whose events must have the shape before."""
        rank, rank_tensor = x.shape.ndims, ops.rank(x)
        is_known = event_rank is not None and rank is not None
        event = x.shape.with_rank_at_least(event_rank)[rank - event_rank :] if is_known else None
        if event is None or not event.is_fully_defined():
            event, sizes = None, ops.shape(x)[rank_tensor - event_rank_tensor :]
        else:
            sizes = np.array(event.as_list(), np.int32)
        known = constant_value(before)
        if event is not None and known is not None:
            if not np.array_equal(sizes[known >= 0], known[known >= 0]):
                raise ValueError(f"Input `event_shape` does not match `event_shape_in` ({sizes} vs {known}).")
        elif self.validate_args:
            mask = ops.reshape(before >= 0, [-1])
            seen, wanted = ops.boolean_mask(sizes, mask), ops.boolean_mask(before, mask)
            message = "Input `event_shape` does not match `event_shape_in`."
            x = with_dependencies([checks.assert_equal(seen, wanted, message=message)], x)
        return x

    def _forward(self, x):
        return self._reshaped(x, self._in, self._out)

    def _inverse(self, y):
        return self._reshaped(y, self._out, self._in)

    def _inverse_log_det_jacobian(self, y):
        with control_dependencies(self._conditions):
            return ops.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x):
        with control_dependencies(self._conditions):
            return ops.constant(0.0, dtype=x.dtype)

    def _of_zeros(self, function, shape):
        return function(ops.zeros(dtype=dtypes.float32, shape=shape))

    def _forward_event_shape(self, input_shape):
        with control_dependencies(self._conditions):
            return self._of_zeros(self.forward, input_shape).shape

    def _inverse_event_shape(self, output_shape):
        with control_dependencies(self._conditions):
            return self._of_zeros(self.inverse, output_shape).shape

    def _forward_event_shape_tensor(self, input_shape):
        with control_dependencies(self._conditions):
            return ops.shape(self._of_zeros(self.forward, input_shape))

    def _inverse_event_shape_tensor(self, output_shape):
        with control_dependencies(self._conditions):
            return ops.shape(self._of_zeros(self.inverse, output_shape))


def _shape_checks(shape, validate_args):
    """Checks of a shape that are left for later. Raises an error for one that is known not to do."""
    if not shape.dtype.is_integer:
        raise TypeError(f"{shape} dtype ({shape.dtype.name}) should be `int`-like.")
    later = []
    rank = ops.rank(shape)
    if shape.shape.ndims is not None and shape.shape.ndims > 1:
        raise ValueError(f"`{shape}` rank ({shape.shape.ndims}) should be <= 1.")
    if validate_args:
        later = [checks.assert_less_equal(rank, 1, message=f"`{shape}` rank should be <= 1.")]
    sizes = constant_value(shape)
    if sizes is not None:
        if np.sum(sizes == -1) > 1:
            raise ValueError(f"`{shape}` must have at most one `-1` (given {sizes})")
        if np.any(sizes < -1):
            raise ValueError(f"`{shape}` elements must be either positive integers or `-1`(given {sizes}).")
    if validate_args and (sizes is None or (sizes == -1).any()):
        open_sizes = ops.reduce_sum(ops.cast(ops.equal(shape, -1), dtypes.int32))
        later += [
            checks.assert_less_equal(open_sizes, 1, message=f"`{shape}` elements must have at most one `-1`."),
            checks.assert_greater_equal(
                shape, -1, message=f"`{shape}` elements must be either positive integers or `-1`."
            ),
        ]
    return later
