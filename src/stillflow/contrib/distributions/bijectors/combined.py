"""Bijectors made of others: Chain, Invert, Inline, Ordered; and those that rearrange: Reshape, Permute."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.contrib.distributions.bijectors.base import Bijector, ConditionalBijector
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.graph.shape_inference import constant_value, partial_constant, value_as_dims
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.bijectors.Invert")
class Invert(ConditionalBijector):
    """The inverse of a bijector. Raises NotImplementedError for one that is not injective."""

    def __init__(self, bijector, validate_args=False, name=None):
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or f"invert_{bijector.name}",
        )

    @property
    def bijector(self):
        """What this is the inverse of."""
        return self._bijector

    def _forward_event_shape(self, input_shape):
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape):
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape):
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x, **kwargs):
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y, **kwargs):
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


def _least_rank(bijectors, is_forward):
    """The rank that a value has to have for all bijectors, applied in that order."""
    least = rank = 0
    for bijector in bijectors:
        ranks = bijector.forward_min_event_ndims, bijector.inverse_min_event_ndims
        before, after = ranks if is_forward else ranks[::-1]
        least += max(before - rank, 0)
        rank = max(before, rank) + after - before
    return least


@public("contrib.distributions.bijectors.Chain")
class Chain(Bijector):
    """Bijectors one after the other, of which the last in the list comes first.

    Raises NotImplementedError for one that is not injective, ValueError for types that differ.
    """

    def __init__(self, bijectors=None, validate_args=False, name=None):
        self._bijectors = [] if bijectors is None else list(bijectors)
        for bijector in self._bijectors:
            if not bijector._is_injective:
                raise NotImplementedError(f"Invert is not implemented for non-injective bijector ({bijector.name})")
        kinds = {bijector.dtype for bijector in self._bijectors} - {None}
        if len(kinds) > 1:
            raise ValueError(f"incompatible dtypes: {[bijector.dtype for bijector in self._bijectors]}")
        super().__init__(
            graph_parents=[parent for bijector in self._bijectors for parent in bijector.graph_parents],
            forward_min_event_ndims=_least_rank(self._bijectors[::-1], is_forward=True),
            inverse_min_event_ndims=_least_rank(self._bijectors, is_forward=False),
            is_constant_jacobian=all(bijector.is_constant_jacobian for bijector in self._bijectors),
            validate_args=validate_args,
            dtype=kinds.pop() if kinds else None,
            name=name
            or (
                "_of_".join(["chain", *(bijector.name for bijector in self._bijectors)])
                if self._bijectors
                else "identity"
            ),
        )

    @property
    def bijectors(self):
        """The bijectors; the last one is applied first."""
        return self._bijectors

    def _forward_event_shape_tensor(self, input_shape):
        for bijector in reversed(self.bijectors):
            input_shape = bijector.forward_event_shape_tensor(input_shape)
        return input_shape

    def _forward_event_shape(self, input_shape):
        for bijector in reversed(self.bijectors):
            input_shape = bijector.forward_event_shape(input_shape)
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape):
        for bijector in self.bijectors:
            output_shape = bijector.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _inverse_event_shape(self, output_shape):
        for bijector in self.bijectors:
            output_shape = bijector.inverse_event_shape(output_shape)
        return output_shape

    def _forward(self, x, **kwargs):
        for bijector in reversed(self.bijectors):
            x = bijector.forward(x, **kwargs.get(bijector.name, {}))
        return x

    def _inverse(self, y, **kwargs):
        for bijector in self.bijectors:
            y = bijector.inverse(y, **kwargs.get(bijector.name, {}))
        return y

    def _inverse_log_det_jacobian(self, y, **kwargs):
        total = ops.constant(0.0, dtype=y.dtype, name="inverse_log_det_jacobian")
        rank = self.inverse_min_event_ndims
        for bijector in self.bijectors:
            own = kwargs.get(bijector.name, {})
            total += bijector.inverse_log_det_jacobian(y, event_ndims=rank, **own)
            rank += bijector.forward_min_event_ndims - bijector.inverse_min_event_ndims
            y = bijector.inverse(y, **own)
        return total

    def _forward_log_det_jacobian(self, x, **kwargs):
        x = convert_to_tensor(x, name="x")
        total = ops.constant(0.0, dtype=x.dtype, name="forward_log_det_jacobian")
        rank = self.forward_min_event_ndims
        for bijector in reversed(self.bijectors):
            own = kwargs.get(bijector.name, {})
            total += bijector.forward_log_det_jacobian(x, event_ndims=rank, **own)
            rank += bijector.inverse_min_event_ndims - bijector.forward_min_event_ndims
            x = bijector.forward(x, **own)
        return total


@public("contrib.distributions.bijectors.Inline")
class Inline(Bijector):
    """A bijector of functions that are given; a method whose function is missing raises NotImplementedError."""

    def __init__(
        self,
        forward_fn=None,
        inverse_fn=None,
        inverse_log_det_jacobian_fn=None,
        forward_log_det_jacobian_fn=None,
        forward_event_shape_fn=None,
        forward_event_shape_tensor_fn=None,
        inverse_event_shape_fn=None,
        inverse_event_shape_tensor_fn=None,
        is_constant_jacobian=False,
        validate_args=False,
        forward_min_event_ndims=None,
        inverse_min_event_ndims=None,
        name="inline",
    ):
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        for method, function in (
            ("_forward", forward_fn),
            ("_inverse", inverse_fn),
            ("_inverse_log_det_jacobian", inverse_log_det_jacobian_fn),
            ("_forward_log_det_jacobian", forward_log_det_jacobian_fn),
            ("_forward_event_shape", forward_event_shape_fn),
            ("_forward_event_shape_tensor", forward_event_shape_tensor_fn),
            ("_inverse_event_shape", inverse_event_shape_fn),
            ("_inverse_event_shape_tensor", inverse_event_shape_tensor_fn),
        ):
            if function is not None:
                setattr(self, method, function)


@public("contrib.distributions.bijectors.Permute")
class Permute(Bijector):
    """y[..., i] = x[..., permutation[i]].

    Raises TypeError for one that is not of integers, ValueError for one that does not hold each number once.
    """

    def __init__(self, permutation, validate_args=False, name=None):
        with name_scope(name, "permute", values=[permutation]):
            permutation = convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError(f"permutation.dtype ({permutation.dtype.name}) should be `int`-like.")
            known = constant_value(permutation)
            if known is not None:
                if not np.array_equal(np.sort(known), np.arange(known.size)):
                    raise ValueError("Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`.")
            elif validate_args:
                ordered = -ops.top_k(-permutation, k=ops.shape(permutation)[-1], sorted=True)[0]
                check = checks.assert_equal(
                    ordered,
                    ops.range(0, ops.shape(ordered)[0]),
                    message="Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`.",
                )
                permutation = with_dependencies([check], permutation)
            self._permutation = permutation
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "permute",
        )

    @property
    def permutation(self):
        """The permutation, a vector."""
        return self._permutation

    def _forward(self, x):
        return ops.gather(x, self.permutation, axis=-1)

    def _inverse(self, y):
        return ops.gather(y, ops.invert_permutation(self.permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return ops.constant(0.0, dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x):
        return ops.constant(0.0, dtype=x.dtype.base_dtype)


def _shape_of(tensor):
    return TensorShape(value_as_dims(partial_constant(tensor)))


@public("contrib.distributions.bijectors.Reshape")
class Reshape(Bijector):
    """Events of one shape as events of another; one size of each may be -1, which follows from the other shape.

    Raises TypeError for shapes that are not of integers, ValueError for those that are no vectors, or have sizes that
    do not do.
    """

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        with name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            self._out = convert_to_tensor(event_shape_out, dtype=dtypes.int32, name="event_shape_out")
            self._in = convert_to_tensor(event_shape_in, dtype=dtypes.int32, name="event_shape_in")
            for shape in (self._out, self._in):
                if shape.shape.ndims != 1:
                    raise ValueError(f"Expected {shape.op.name} to be a vector shape, got rank {shape.shape.ndims}")
                known = constant_value(shape)
                if known is not None and ((known == -1).sum() > 1 or (known < -1).any()):
                    raise ValueError(
                        f"Input shape {shape.op.name} must have at most one -1 and no other negative sizes: {known}"
                    )
        ranks = [dimension_value(shape.shape[0]) for shape in (self._in, self._out)]
        super().__init__(
            forward_min_event_ndims=ranks[0],
            inverse_min_event_ndims=ranks[1],
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "reshape",
        )

    def _reshaped(self, value, before, after):
        rank = dimension_value(before.shape[0])
        batch = value.shape[: value.shape.ndims - rank] if value.shape.ndims is not None else None
        if batch is not None and batch.is_fully_defined():
            batch_shape = ops.constant(batch.as_list(), dtypes.int32)
        else:
            batch_shape = ops.shape(value)[: ops.rank(value) - rank]
        found = ops.reshape(
            value, ops.concat([batch_shape, self._event_tensor(value, batch_shape, rank, after)], axis=0)
        )
        if batch is not None:
            found.set_shape(batch.concatenate(self._static(value.shape[value.shape.ndims - rank :], after)))
        return found

    @staticmethod
    def _event_tensor(value, batch_shape, rank, after):
        """The new shape without -1, as the batch may be empty."""
        known = constant_value(after)
        if known is not None and -1 not in known:
            return after
        size = ops.reduce_prod(ops.shape(value)[ops.rank(value) - rank :])
        return _filled(after, size)

    @staticmethod
    def _static(event, after):
        found = _shape_of(after).as_list()
        known = constant_value(after)
        if known is not None and -1 in known and event.is_fully_defined():
            rest = int(np.prod([size for size in known if size != -1]))
            found = [event.num_elements() // max(rest, 1) if size == -1 else int(size) for size in known]
        elif known is not None:
            found = [None if size == -1 else int(size) for size in known]
        return TensorShape(found)

    def _forward(self, x):
        return self._reshaped(x, self._in, self._out)

    def _inverse(self, y):
        return self._reshaped(y, self._out, self._in)

    def _inverse_log_det_jacobian(self, y):
        return ops.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x):
        return ops.constant(0.0, dtype=x.dtype)

    def _forward_event_shape(self, input_shape):
        return self._event(input_shape, self._in, self._out)

    def _inverse_event_shape(self, output_shape):
        return self._event(output_shape, self._out, self._in)

    def _event(self, shape, before, after):
        if shape.ndims is None:
            return TensorShape([None] * dimension_value(after.shape[0]))
        rank = dimension_value(before.shape[0])
        return shape[: shape.ndims - rank].concatenate(self._static(shape[shape.ndims - rank :], after))

    def _forward_event_shape_tensor(self, input_shape):
        return self._event_shape_of(input_shape, self._in, self._out)

    def _inverse_event_shape_tensor(self, output_shape):
        return self._event_shape_of(output_shape, self._out, self._in)

    @staticmethod
    def _event_shape_of(shape, before, after):
        rank = dimension_value(before.shape[0])
        first = ops.size(shape) - rank
        return ops.concat([shape[:first], _filled(after, ops.reduce_prod(shape[first:]))], axis=0)


def _filled(shape, size):
    """A shape in which -1 is what makes it one of `size` elements."""
    is_open = ops.equal(shape, -1)
    rest = ops.reduce_prod(ops.where(is_open, ops.ones_like(shape), shape))
    return ops.where(is_open, ops.ones_like(shape) * (size // rest), shape)


@public("contrib.distributions.bijectors.Ordered")
class Ordered(Bijector):
    """Ascending vectors as any vectors: y[0] = x[0], y[i] = log(x[i] - x[i - 1])."""

    def __init__(self, validate_args=False, name="ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward(self, x):
        if self.validate_args:
            check = checks.assert_positive(
                x[..., 1:] - x[..., :-1], message="Forward transformation input must be strictly increasing."
            )
            x = with_dependencies([check], x)
        return ops.concat([x[..., :1], ops.log(x[..., 1:] - x[..., :-1])], axis=-1)

    def _inverse(self, y):
        return ops.cumsum(ops.concat([y[..., :1], ops.exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return ops.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x):
        return -ops.reduce_sum(ops.log(x[..., 1:] - x[..., :-1]), axis=-1)


@public("contrib.distributions.bijectors.SoftmaxCentered")
class SoftmaxCentered(Bijector):
    """y = softmax([x, 0]) for vectors: probabilities of one class more than x has numbers."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape):
        return self._resized(input_shape, 1)

    def _inverse_event_shape(self, output_shape):
        return self._resized(output_shape, -1)

    @staticmethod
    def _resized(shape, more):
        if shape.ndims is None or shape[-1].value is None:
            return shape if shape.ndims is None else shape[:-1].concatenate([None])
        return shape[:-1].concatenate([shape[-1].value + more])

    def _forward_event_shape_tensor(self, input_shape):
        return ops.concat([input_shape[:-1], input_shape[-1:] + 1], axis=0)

    def _inverse_event_shape_tensor(self, output_shape):
        return ops.concat([output_shape[:-1], output_shape[-1:] - 1], axis=0)

    def _forward(self, x):
        return ops.softmax(ops.concat([x, ops.zeros_like(x[..., :1])], axis=-1))

    def _inverse(self, y):
        logs = ops.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y):
        return -ops.reduce_sum(ops.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x):
        # log det = sum of log softmax([x, 0]).
        size = ops.cast(ops.shape(x)[-1] + 1, x.dtype)
        whole = ops.concat([x, ops.zeros_like(x[..., :1])], axis=-1)
        return ops.reduce_sum(x, axis=-1) - size * reduce_logsumexp(whole, axis=-1)
