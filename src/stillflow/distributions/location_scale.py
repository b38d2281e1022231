"""The base of location-scale families: Normal and Laplace."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_positive
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED
from stillflow.distributions.scalar import ScalarDistribution
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope


class LocationScale(ScalarDistribution):
    """The distribution of loc + scale X, for an X that a descendant knows."""

    PARAMETERS = ("loc", "scale")

    def __init__(self, loc, scale, validate_args, allow_nan_stats, name):
        parameters = dict(locals())
        with (
            name_scope(name, values=[loc, scale]) as name,
            control_dependencies([assert_positive(scale)] if validate_args else []),
        ):
            self._loc = ops.identity(loc, name="loc")
            self._scale = ops.identity(scale, name="scale")
            assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
            [self._loc, self._scale], name,
        )  # fmt: skip

    @property
    def loc(self):
        """The location, which is the mean."""
        return self._loc

    @property
    def scale(self):
        """The scale."""
        return self._scale

    def _mode(self):
        return self._mean()
