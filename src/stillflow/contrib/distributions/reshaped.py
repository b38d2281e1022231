"""BatchReshape: a batch of distributions in another shape."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.rank_checks import assert_rank
from stillflow.composites.statistics import count_nonzero
from stillflow.distributions.distribution import Distribution
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import partial_constant, value_as_dims
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _checked_static_shape(distribution, batch_shape):
    """What is known of a new batch shape. Raises ValueError for one that cannot be."""
    if batch_shape.shape.ndims not in (None, 1):
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {batch_shape.shape.ndims}).")
    static = TensorShape(value_as_dims(partial_constant(batch_shape)))
    size, own = static.num_elements(), distribution.batch_shape.num_elements()
    if size is not None and own is not None and size != own:
        raise ValueError(f"`batch_shape` size ({size}) must match `distribution.batch_shape` size ({own}).")
    if static.ndims is not None and any(dim is not None and dim < 1 for dim in static.as_list()):
        raise ValueError("`batch_shape` elements must be >=-1.")
    return static


def _filled_shape(original, shape, validate):
    """(a shape with its -1 replaced, the checks of it)."""
    with name_scope(None, "calculate_reshape", [original, shape]):
        size = ops.reduce_prod(original)
        is_open = ops.equal(shape, -1)
        rest = ops.floordiv(size, ops.maximum(1, -ops.reduce_prod(shape)))
        filled = ops.where_v2(is_open, ops.fill(ops.shape(shape), rest), shape)
        if not validate:
            return filled, []
        of_ranks = [
            assert_rank(original, 1, message="Original shape must be a vector."),
            assert_rank(shape, 1, message="New shape must be a vector."),
        ]
        open_count = count_nonzero(is_open, dtype=dtypes.int32)
        return filled, [
            *of_ranks,
            checks.assert_less_equal(open_count, 1, message="At most one dimension can be unknown."),
            checks.assert_positive(filled, message="Shape elements must be >=-1."),
            checks.assert_equal(ops.reduce_prod(filled), size, message="Shape sizes do not match."),
        ]


@public("contrib.distributions.BatchReshape")
class BatchReshape(Distribution):
    """The distributions of another one's batch, as a batch of another shape.

    Args:
      distribution: the other.
      batch_shape: a vector of as many in all; one size may be -1, for what is left.
      validate_args, allow_nan_stats, name: see Distribution.

    Raises ValueError for a shape that is no vector, has sizes below -1, or holds another number.
    """

    def __init__(self, distribution, batch_shape, validate_args=False, allow_nan_stats=True, name=None):
        parameters = dict(locals())
        name = name or "BatchReshape" + distribution.name
        with name_scope(name, values=[batch_shape]) as name:
            self._given_shape = convert_to_tensor(batch_shape, dtype=dtypes.int32, name="batch_shape")
            self._static_shape = _checked_static_shape(distribution, self._given_shape)
            self._distribution = distribution
            if self._static_shape.is_fully_defined():
                self._filled, self._conditions = np.int32(self._static_shape.as_list()), []
            else:
                self._filled, self._conditions = _filled_shape(
                    distribution.batch_shape_tensor(), self._given_shape, validate_args
                )
            super().__init__(
                distribution.dtype,
                distribution.reparameterization_type,
                validate_args,
                allow_nan_stats,
                parameters,
                [self._given_shape, *distribution._graph_parents],
                name,
            )

    @property
    def distribution(self):
        """The distribution whose batch this is."""
        return self._distribution

    def _batch_shape_tensor(self):
        with control_dependencies(self._conditions):
            return ops.identity(self._filled)

    def _batch_shape(self):
        return self._static_shape

    def _event_shape_tensor(self):
        with control_dependencies(self._conditions):
            return ops.identity(self.distribution.event_shape_tensor())

    def _event_shape(self):
        return self.distribution.event_shape

    def _sample_n(self, n, seed=None):
        with control_dependencies(self._conditions):
            x = self.distribution.sample(sample_shape=n, seed=seed)
            return ops.reshape(x, ops.concat([[n], self._given_shape, self.event_shape_tensor()], axis=0))

    def _log_prob(self, value):
        return self._of_values(self.distribution.log_prob, value)

    def _prob(self, value):
        return self._of_values(self.distribution.prob, value)

    def _log_cdf(self, value):
        return self._of_values(self.distribution.log_cdf, value)

    def _cdf(self, value):
        return self._of_values(self.distribution.cdf, value)

    def _log_survival_function(self, value):
        return self._of_values(self.distribution.log_survival_function, value)

    def _survival_function(self, value):
        return self._of_values(self.distribution.survival_function, value)

    def _entropy(self):
        return self._reshaped(self.distribution.entropy, 0)

    def _mean(self):
        return self._reshaped(self.distribution.mean, 1)

    def _mode(self):
        return self._reshaped(self.distribution.mode, 1)

    def _stddev(self):
        return self._reshaped(self.distribution.stddev, 1)

    def _variance(self):
        return self._reshaped(self.distribution.variance, 1)

    def _covariance(self):
        return self._reshaped(self.distribution.covariance, 2)

    def _reshaped(self, function, events):
        """What a function says of each distribution, which has so many times the shape of an event."""
        own = [self.event_shape_tensor()] * events if events > 1 else None
        with control_dependencies(self._conditions):
            if own is None:
                own = [self._event_shape_tensor()] if events else []
            shape = ops.concat([self._given_shape, *own], axis=0)
            found = ops.reshape(function(), shape)
            if self.batch_shape.ndims is not None and self.event_shape.ndims is not None:
                static = self.batch_shape
                for _ in range(events):
                    static = static.concatenate(self.event_shape)
                found.set_shape(found.shape.merge_with(static))
            return found

    def _ranks(self, x):
        """The ranks of x, of the batch and of an event: ints where they are known."""
        rank = ops.rank(x) if x.shape.ndims is None else x.shape.ndims
        batch = ops.size(self._given_shape) if self.batch_shape.ndims is None else self.batch_shape.ndims
        event = ops.size(self.event_shape_tensor()) if self.event_shape.ndims is None else self.event_shape.ndims
        return rank, batch, event

    def _of_values(self, function, x):
        """A function of values, whose batch dimensions are those of the other distribution meanwhile."""
        with control_dependencies([*self._conditions, *self._value_conditions(x)]):
            rank, batch, event = self._ranks(x)
            of_samples = rank - batch - event
            static = x.shape[:of_samples] if isinstance(of_samples, int) else TensorShape(None)
            if static.is_fully_defined():
                samples = np.int32(static.as_list())
            else:
                samples = ops.shape(x)[:of_samples]
            old = ops.concat([samples, self.distribution.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
            found = function(ops.reshape(x, old))
            found = ops.reshape(found, ops.concat([samples, self._given_shape], axis=0))
            if static.ndims is not None and self.batch_shape.ndims is not None:
                found.set_shape(found.shape.merge_with(static.concatenate(self.batch_shape)))
            return found

    def _value_conditions(self, x):
        """Checks that a value has the whole shape. Raises NotImplementedError if it is known not to."""
        told = "Broadcasting is not supported; {}"
        with name_scope("validate_sample_arg", values=[x]):
            rank, batch, event = self._ranks(x)
            least = batch + event
            of_rank = []
            if isinstance(rank, int) and isinstance(least, int):
                if rank < least:
                    few = f"too few batch and event dims (expected at least {least}, saw {rank})."
                    raise NotImplementedError(told.format(few))
            elif self.validate_args:
                message = told.format("too few batch and event dims.")
                name = "assert_batch_and_event_ndims_large_enough"
                of_rank = [checks.assert_greater_equal(rank, least, message=message, name=name)]
            static = self.batch_shape.concatenate(self.event_shape)
            if static.is_fully_defined():
                wanted = np.int32(static.as_list())
            else:
                wanted = ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
            first = rank - least
            first = max(first, 0) if isinstance(first, int) else first
            if isinstance(first, int) and x.shape[first:].is_fully_defined():
                seen = np.int32(x.shape[first:].as_list())
            else:
                seen = ops.shape(x)[ops.maximum(first, 0) :]
            if isinstance(wanted, np.ndarray) and isinstance(seen, np.ndarray):
                if any(wanted != seen):
                    shapes = f"unexpected batch and event shape (expected {wanted}, saw {seen})."
                    raise NotImplementedError(told.format(shapes))
                return of_rank
            if not self.validate_args:
                return []
            with control_dependencies(of_rank):
                name = "assert_batch_and_event_shape_same"
                message = told.format("unexpected batch and event shape.")
                return [checks.assert_equal(wanted, seen, message=message, name=name)]
