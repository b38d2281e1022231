"""Distributions of vectors loc + scale x, of an x whose coordinates are independent and of one distribution."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.contrib.distributions.bijectors.affine import AffineLinearOperator
from stillflow.contrib.distributions.scales import is_diagonal, make_diag_scale, shapes_from_loc_and_scale
from stillflow.contrib.distributions.transformed import TransformedDistribution
from stillflow.distributions.gamma import Exponential
from stillflow.distributions.laplace import Laplace
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators.low_rank_update import LinearOperatorLowRankUpdate
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


class ScaledVectors(TransformedDistribution):
    """The distribution of loc + scale x, for a LinearOperator scale. Descendants name the coordinates' distribution.

    Raises ValueError without a scale, TypeError for one that is not of floats.
    """

    _COORDINATE_VARIANCE = 1.0
    # Whether what else is made is made in the scope of the constructor, and its name is the scope's.
    _IS_BUILT_IN_SCOPE = True
    _IS_SCOPE_KEPT = True

    def __init__(self, loc, scale, validate_args, allow_nan_stats, name):
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with name_scope(name, values=[loc, *scale.graph_parents]) as scope:
            name = scope if self._IS_SCOPE_KEPT else name
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            shapes = shapes_from_loc_and_scale(loc, scale)
            if self._IS_BUILT_IN_SCOPE:
                self._build(loc, scale, shapes, validate_args, allow_nan_stats, name)
        if not self._IS_BUILT_IN_SCOPE:
            self._build(loc, scale, shapes, validate_args, allow_nan_stats, name)

    def _build(self, loc, scale, shapes, validate_args, allow_nan_stats, name):
        batch_shape, event_shape = shapes
        super().__init__(
            distribution=self._of_coordinates(scale.dtype, allow_nan_stats),
            bijector=AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
            batch_shape=batch_shape,
            event_shape=event_shape,
            validate_args=validate_args,
            name=name,
        )

    @staticmethod
    def _of_coordinates(dtype, allow_nan_stats):
        """The distribution of each coordinate of x."""
        raise NotImplementedError

    @property
    def loc(self):
        """What is added, or None for 0."""
        return self.bijector.shift

    @property
    def scale(self):
        """The LinearOperator."""
        return self.bijector.scale

    def _whole_shape(self):
        """The shape of one sample of the batch: static if it is known."""
        shape = self.batch_shape.concatenate(self.event_shape)
        if shape.is_fully_defined():
            return shape
        return ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)

    def _times(self, factor, value):
        return value if factor == 1 else factor * value

    def _mean(self):
        shape = self._whole_shape()
        if self.loc is None:
            return ops.zeros(shape, self.dtype)
        if shape is not None and self.loc.shape.is_fully_defined() and shape == self.loc.shape:
            return ops.identity(self.loc)
        return ops.identity(self.loc) + ops.zeros(shape, self.dtype)

    def _gram(self):
        return self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _square(self):
        """scale scale^T, of which the diagonal matters."""
        if isinstance(self.scale, LinearOperatorLowRankUpdate) and self.scale.is_self_adjoint:
            return self.scale.matmul(self.scale.to_dense())
        return self._gram()

    def _covariance(self):
        if is_diagonal(self.scale):
            found = ops.matrix_diag(ops.square(self.scale.diag_part()))
        else:
            found = self._gram()
        return self._times(self._COORDINATE_VARIANCE, found)

    def _variance(self):
        if is_diagonal(self.scale):
            found = ops.square(self.scale.diag_part())
        else:
            found = ops.matrix_diag_part(self._square())
        return self._times(self._COORDINATE_VARIANCE, found)

    def _stddev(self):
        if is_diagonal(self.scale):
            found = ops.abs(self.scale.diag_part())
        else:
            found = ops.sqrt(ops.matrix_diag_part(self._square()))
        return self._times(math.sqrt(self._COORDINATE_VARIANCE), found)

    def _mode(self):
        return self._mean()


@public("contrib.distributions.python.ops.vector_exponential_linear_operator.VectorExponentialLinearOperator")
class VectorExponentialLinearOperator(ScaledVectors):
    """The distribution of loc + scale x, for an x of coordinates that are exponential with rate 1.

    Args:
      loc: what is added, of shape [..., k]; None for 0.
      scale: a LinearOperator of shape [..., k, k].
      validate_args, allow_nan_stats, name: see Distribution.
    """

    def __init__(
        self,
        loc=None,
        scale=None,
        validate_args=False,
        allow_nan_stats=True,
        name="VectorExponentialLinearOperator",
    ):
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    @staticmethod
    def _of_coordinates(dtype, allow_nan_stats):
        return Exponential(rate=ops.ones([], dtype=dtype), allow_nan_stats=allow_nan_stats)

    def _moved(self, x):
        moved = self.scale.matvec(x)
        return moved if self.loc is None else ops.identity(self.loc) + moved

    def _mean(self):
        return self._moved(ops.ones(self._whole_shape(), self.dtype))

    def _mode(self):
        return self._moved(ops.zeros(self._whole_shape(), self.dtype))


@public("contrib.distributions.python.ops.vector_laplace_linear_operator.VectorLaplaceLinearOperator")
class VectorLaplaceLinearOperator(ScaledVectors):
    """The distribution of loc + scale x, for an x of coordinates of Laplace's distribution, of variance 2.

    Args:
      loc: the mean, of shape [..., k]; None for 0.
      scale: a LinearOperator of shape [..., k, k].
      validate_args, allow_nan_stats, name: see Distribution.
    """

    _COORDINATE_VARIANCE = 2.0
    _IS_SCOPE_KEPT = False

    def __init__(
        self, loc=None, scale=None, validate_args=False, allow_nan_stats=True, name="VectorLaplaceLinearOperator"
    ):
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    @staticmethod
    def _of_coordinates(dtype, allow_nan_stats):
        return Laplace(loc=ops.zeros([], dtype=dtype), scale=ops.ones([], dtype=dtype))


def _diagonal(name, loc, scale_diag, scale_identity_multiplier):
    """(the name scope, a diagonal scale made in it)."""
    with name_scope(name) as scope, name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
        return scope, make_diag_scale(loc, scale_diag, scale_identity_multiplier)


@public("contrib.distributions.VectorExponentialDiag")
class VectorExponentialDiag(VectorExponentialLinearOperator):
    """The distribution of loc + scale x, for a diagonal scale and an x of exponential coordinates with rate 1.

    Args:
      loc: what is added, of shape [..., k]; None for 0.
      scale_diag: the diagonal, of shape [..., k].
      scale_identity_multiplier: what is added to the diagonal, of shape [...].
      validate_args, allow_nan_stats, name: see Distribution.

    Raises ValueError if neither loc nor scale_diag says how long the vectors are.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        validate_args=False,
        allow_nan_stats=True,
        name="VectorExponentialDiag",
    ):
        parameters = dict(locals())
        name, scale = _diagonal(name, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@public("contrib.distributions.VectorLaplaceDiag")
class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """The distribution of loc + scale x, for a diagonal scale and an x of coordinates of Laplace's distribution.

    Args and errors: see VectorExponentialDiag.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        validate_args=False,
        allow_nan_stats=True,
        name="VectorLaplaceDiag",
    ):
        parameters = dict(locals())
        _, scale = _diagonal(name, loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters
