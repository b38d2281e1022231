"""Bijectors made of others: Chain, Invert, Inline, Ordered; and those that rearrange: Reshape, Permute."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.contrib.distributions.bijectors.base import Bijector, ConditionalBijector, static_number
from stillflow.distributions.static_values import pad
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value
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
        return self._total_determinant(y, "y", False, kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self._total_determinant(x, "x", True, kwargs)

    def _total_determinant(self, value, name, is_forward, kwargs):
        value = convert_to_tensor(value, name=name)
        total = ops.cast(0.0, dtype=value.dtype.base_dtype)
        if not self.bijectors:
            return total
        way = "forward" if is_forward else "inverse"
        rank = getattr(self, f"{way}_min_event_ndims")
        if _is_static(value, rank):
            shape = value.shape[value.shape.ndims - rank :]
        else:
            shape = ops.shape(value)[ops.rank(value) - rank :]
        for bijector in reversed(self.bijectors) if is_forward else self.bijectors:
            own = kwargs.get(bijector.name, {})
            total += getattr(bijector, f"{way}_log_det_jacobian")(value, event_ndims=rank, **own)
            if _is_static(value, rank) and isinstance(shape, TensorShape):
                shape = getattr(bijector, f"{way}_event_shape")(shape)
                rank = static_number(shape.ndims)
            else:
                shape = getattr(bijector, f"{way}_event_shape_tensor")(shape)
                rank = static_number(ops.size(shape))
            value = getattr(bijector, way)(value, **own)
        return total


def _is_static(value, rank):
    return value.shape.is_fully_defined() and isinstance(rank, int)


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
                ordered, _ = ops.top_k(-permutation, k=ops.shape(permutation)[-1], sorted=True)
                check = checks.assert_equal(
                    -ordered,
                    ops.range(ops.size(ordered)),
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

    def _forward_event_shape(self, input_shape):
        return _last_size(input_shape, 0)

    def _forward_event_shape_tensor(self, input_shape):
        return input_shape[-1][..., None]

    def _inverse_event_shape(self, output_shape):
        return _last_size(_checked_above_one(output_shape), 0)

    def _inverse_event_shape_tensor(self, output_shape):
        return _checked_sizes(self, output_shape)[-1][..., None]

    def _forward(self, x):
        x = self._checked(x)
        first = x[..., 0, None]
        others = ops.log(x[..., 1:] - x[..., :-1])
        return ops.concat([first, others], axis=-1)

    def _inverse(self, y):
        first = y[..., 0, None]
        others = ops.exp(y[..., 1:])
        return ops.cumsum(ops.concat([first, others], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return ops.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x):
        x = self._checked(x)
        return -ops.reduce_sum(ops.log(x[..., 1:] - x[..., :-1]), axis=-1)

    def _checked(self, x):
        if not self.validate_args:
            return x
        message = "Forward transformation input must be strictly increasing."
        return with_dependencies([checks.assert_positive(x[..., 1:] - x[..., :-1], message=message)], x)


def _last_size(shape, more):
    """The shape of vectors that have as many numbers as the last dimension, or more."""
    if shape.ndims is None:
        return shape
    size = dimension_value(shape[-1])
    return TensorShape([None if size is None else size + more])


def _checked_above_one(shape):
    size = None if shape.ndims is None else dimension_value(shape[-1])
    if size is not None and size <= 1:
        raise ValueError(f"output_shape[-1] = {size} <= 1")
    return shape


def _checked_sizes(bijector, shape):
    if not bijector.validate_args:
        return shape
    check = checks.assert_greater(shape[-1], 1, message="Need last dimension greater than 1.")
    return with_dependencies([check], shape)


@public("contrib.distributions.bijectors.SoftmaxCentered")
class SoftmaxCentered(Bijector):
    """y = softmax([x, 0]) for vectors: probabilities of one class more than x has numbers."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape):
        return _last_size(input_shape, 1)

    def _inverse_event_shape(self, output_shape):
        return _last_size(_checked_above_one(output_shape), -1)

    def _forward_event_shape_tensor(self, input_shape):
        return (input_shape[-1] + 1)[..., None]

    def _inverse_event_shape_tensor(self, output_shape):
        return (_checked_sizes(self, output_shape)[-1] - 1)[..., None]

    def _forward(self, x):
        y = pad(x, axis=-1, back=True)
        if x.shape.ndims is not None:
            y.set_shape(x.shape[:-1].concatenate(x.shape.dims[-1] + 1))
        return ops.softmax(y)

    def _inverse(self, y):
        x = ops.log(y)
        normalization = (-x[..., -1])[..., None]
        x = x[..., :-1] + normalization
        if y.shape.ndims is not None:
            x.set_shape(y.shape[:-1].concatenate(y.shape.dims[-1] - 1))
        return x

    def _inverse_log_det_jacobian(self, y):
        return -ops.reduce_sum(ops.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x):
        # log det = the sum of log softmax([x, 0]), whose normalization is log(1 + sum exp x).
        normalization = ops.softplus(reduce_logsumexp(x, axis=-1, keepdims=True))
        found = -normalization + ops.reduce_sum(x - normalization, axis=-1, keepdims=True)
        return ops.squeeze(found, axis=-1)
