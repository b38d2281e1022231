"""Kullback-Leibler divergences: a table of functions for pairs of classes of distributions."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public

_DIVERGENCES: dict[tuple[type, type], object] = {}


def _registered(type_a, type_b):
    """The function of the nearest pair of base classes, counted in steps of both orders of resolution; or None."""
    found = [
        (steps_a + steps_b, steps_a, _DIVERGENCES[base_a, base_b])
        for steps_a, base_a in enumerate(type_a.__mro__)
        for steps_b, base_b in enumerate(type_b.__mro__)
        if (base_a, base_b) in _DIVERGENCES
    ]
    return min(found, key=lambda entry: entry[:2])[2] if found else None


@public("distributions.kl_divergence", "contrib.distributions.kl_divergence")
def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """KL(a || b), the expectation under a of log a(x) - log b(x), for each element of the batch.

    Args:
      distribution_a, distribution_b: distributions for whose classes, or base classes, a function is registered.
      allow_nan_stats: if false, running it fails if there is a NaN in the result.
      name: of the operations.

    Raises:
      NotImplementedError: if no function is registered for them.
    """
    function = _registered(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        divergence = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return divergence
        divergence = ops.identity(divergence, name="kl")
        message = (
            f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN values "
            "(and was called with allow_nan_stats=False). Values:"
        )
        is_number = ops.logical_not(ops.reduce_any(ops.is_nan(divergence)))
        with control_dependencies([assert_that(is_number, [message, divergence])]):
            return ops.identity(divergence, name="checked_kl")


@public("python.ops.distributions.kullback_leibler.cross_entropy")
def cross_entropy(ref, other, allow_nan_stats=True, name=None):
    """The entropy of `ref` plus KL(ref || other); see kl_divergence."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)


@public("distributions.RegisterKL", "contrib.distributions.RegisterKL")
class RegisterKL:
    """A decorator of the function (a, b, name=None) that kl_divergence is to use for two classes.

    Raises, when it is applied:
      TypeError: for what is no function.
      ValueError: if there is one for them.
    """

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            raise ValueError(
                f"KL({self._key[0].__name__} || {self._key[1].__name__}) has already been registered to: "
                f"{_DIVERGENCES[self._key]}"
            )
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn
