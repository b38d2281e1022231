"""SinhArcsinh and VectorSinhArcsinhDiag: distributions with heavier tails, or a longer one, than another.

M. C. Jones and A. Pewsey, "Sinh-arcsinh distributions", Biometrika 96, 2009.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.contrib.distributions.bijectors.affine import Affine, AffineScalar
from stillflow.contrib.distributions.bijectors.combined import Chain
from stillflow.contrib.distributions.bijectors.elementwise import SinhArcsinh as SinhArcsinhBijector
from stillflow.contrib.distributions.scales import make_diag_scale, shapes_from_loc_and_scale
from stillflow.contrib.distributions.transformed import TransformedDistribution
from stillflow.distributions.distribution import FULLY_REPARAMETERIZED
from stillflow.distributions.normal import Normal
from stillflow.distributions.static_values import get_broadcast_shape
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def _scalar_conditions(distribution, dtype, validate_args):
    """Checks that a distribution is a single one of scalars.

    Raises TypeError for another type of samples; ValueError for one that is known not to be, and for one that is not
    reparameterized if arguments are to be validated.
    """
    if distribution.dtype != dtype:
        kinds = f'distribution.dtype="{distribution.dtype.name}" is not "{dtype.name}"'
        raise TypeError(f"dtype mismatch; {kinds}")
    kind = distribution.reparameterization_type
    if validate_args and kind != FULLY_REPARAMETERIZED:
        raise ValueError(
            "Base distribution should be reparameterized or be a function of non-trainable variables; "
            f'distribution.reparameterization_type = "{kind}" != "FULLY_REPARAMETERIZED".'
        )
    conditions = []
    with name_scope("check_distribution"):
        for what in ("is_scalar_event", "is_scalar_batch"):
            is_scalar = getattr(distribution, what)()
            known = constant_value(is_scalar)
            message = f"distribution must be scalar; distribution.{what}=False is not True"
            if known is not None and not known:
                raise ValueError(message)
            if known is None and validate_args:
                conditions.append(checks.assert_equal(is_scalar, True, message=message))
    return conditions


class _Skewed(TransformedDistribution):
    """What the two have in common: y = loc + scale F(z) 2 / F0(2), with F(z) = sinh((arcsinh z + skew) tail)."""

    @property
    def loc(self):
        """What is added."""
        return self._loc

    @property
    def scale(self):
        """The scale; a LinearOperator of vectors."""
        return self._scale

    @property
    def tailweight(self):
        """How heavy the tails are: above 1, heavier than the other distribution's."""
        return self._tailweight

    @property
    def skewness(self):
        """Which tail is longer: the right one above 0."""
        return self._skewness

    def _set(self, loc, scale, skewness, tailweight, is_symmetric):
        """Keeps the parameters. Returns F, and a function that makes F at 2 without skewness."""
        self._loc, self._scale = loc, scale
        self._skewness, self._tailweight = skewness, tailweight
        f = SinhArcsinhBijector(skewness=skewness, tailweight=tailweight)
        plain = f
        if not is_symmetric:
            zero = skewness.dtype.as_numpy_dtype(0.0)
            plain = SinhArcsinhBijector(skewness=zero, tailweight=tailweight)
        return f, lambda: plain.forward(convert_to_tensor(2, dtype=tailweight.dtype))


@public("contrib.distributions.SinhArcsinh")
class SinhArcsinh(_Skewed):
    """The distribution of loc + scale F(z) 2 / F0(2), where F(z) = sinh((arcsinh z + skewness) tailweight).

    F0 is F without skewness, so that as much of it is beyond two scales as of the other distribution.

    Args:
      loc, scale: floats, of the batch's shape or broadcast to it.
      skewness: 0 by default.
      tailweight: 1 by default.
      distribution: a single one of scalars z; Normal(0, 1) by default.
      validate_args, allow_nan_stats, name: see Distribution.

    Raises TypeError for a distribution of another type, ValueError for one that is not of scalars.
    """

    def __init__(
        self,
        loc,
        scale,
        skewness=None,
        tailweight=None,
        distribution=None,
        validate_args=False,
        allow_nan_stats=True,
        name="SinhArcsinh",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            loc = convert_to_tensor(loc, name="loc")
            dtype = loc.dtype
            scale = convert_to_tensor(scale, name="scale", dtype=dtype)
            weight = convert_to_tensor(1.0 if tailweight is None else tailweight, name="tailweight", dtype=dtype)
            skew = convert_to_tensor(0.0 if skewness is None else skewness, name="skewness", dtype=dtype)
            batch_shape = get_broadcast_shape(loc, scale, weight, skew)
            if distribution is None:
                zero, one = ops.zeros([], dtype=dtype), ops.ones([], dtype=dtype)
                distribution = Normal(loc=zero, scale=one, allow_nan_stats=allow_nan_stats)
            else:
                conditions = _scalar_conditions(distribution, dtype, validate_args)
                loc = with_dependencies(conditions, loc) if conditions else loc
            f, at_two = self._set(loc, scale, skew, weight, skewness is None)
            affine = AffineScalar(shift=loc, scale=2 * scale / at_two(), validate_args=validate_args)
            super().__init__(
                distribution=distribution,
                bijector=Chain([affine, f]),
                batch_shape=batch_shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters


@public("contrib.distributions.VectorSinhArcsinhDiag")
class VectorSinhArcsinhDiag(_Skewed):
    """The distribution of vectors whose coordinates are as SinhArcsinh has them.

    Args:
      loc: what is added, of shape [..., k], or None for 0.
      scale_diag: the scales, of shape [..., k].
      scale_identity_multiplier: what is added to the scales, of shape [...].
      skewness, tailweight: of shape [..., k], or broadcast to it; 0 and 1 by default.
      distribution: a single one of scalars; Normal(0, 1) by default.
      validate_args, allow_nan_stats, name: see Distribution.

    Raises: see SinhArcsinh; ValueError if neither loc nor scale_diag says how long the vectors are.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        skewness=None,
        tailweight=None,
        distribution=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalLinearOperator",
    ):
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, skewness, tailweight]
        with name_scope(name, values=given) as name:
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            operator = make_diag_scale(loc, scale_diag, scale_identity_multiplier)
            batch_shape, event_shape = shapes_from_loc_and_scale(loc, operator)
            scale = operator.diag_part()
            dtype = scale.dtype
            if distribution is None:
                zero, one = ops.zeros([], dtype=dtype), ops.ones([], dtype=dtype)
                distribution = Normal(loc=zero, scale=one, allow_nan_stats=allow_nan_stats)
            else:
                conditions = _scalar_conditions(distribution, dtype, validate_args)
                scale = with_dependencies(conditions, scale) if conditions else scale
            skew = convert_to_tensor(0.0 if skewness is None else skewness, dtype=dtype, name="skewness")
            weight = convert_to_tensor(1.0 if tailweight is None else tailweight, dtype=dtype, name="tailweight")
            f, at_two = self._set(loc, operator, skew, weight, skewness is None)
            affine = Affine(shift=loc, scale_diag=2 * scale / at_two(), validate_args=validate_args)
            super().__init__(
                distribution=distribution,
                bijector=Chain([affine, f]),
                batch_shape=batch_shape,
                event_shape=event_shape,
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters
