"""Bijectors made of others: Chain, Invert, Inline, Ordered; and those that rearrange: Reshape, Permute."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.contrib.distributions.bijectors.base import Bijector, ConditionalBijector
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.graph.shape_inference import constant_value
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
        if shape.ndims is None or dimension_value(shape[-1]) is None:
            return shape if shape.ndims is None else shape[:-1].concatenate([None])
        return shape[:-1].concatenate([dimension_value(shape[-1]) + more])

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
