"""Normal distributions of vectors: MultivariateNormalDiag, MultivariateNormalTriL and others."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.contrib.distributions.scaled_vectors import ScaledVectors
from stillflow.contrib.distributions.scales import is_diagonal, make_diag_scale, perturbed_scale
from stillflow.distributions.divergence import RegisterKL
from stillflow.distributions.normal import Normal
from stillflow.distributions.static_values import dimension_size
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.identity import LinearOperatorIdentity
from stillflow.linear_operators.lower_triangular import LinearOperatorLowerTriangular
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


class MultivariateNormalLinearOperator(ScaledVectors):
    """The normal distribution with mean loc and covariance scale scale^T, for a LinearOperator scale.

    Raises ValueError without a scale, TypeError for one that is not of floats.
    """

    _IS_BUILT_IN_SCOPE = False

    def __init__(
        self,
        loc=None,
        scale=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalLinearOperator",
    ):
        parameters = dict(locals())
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    @staticmethod
    def _of_coordinates(dtype, allow_nan_stats):
        return Normal(loc=ops.zeros([], dtype=dtype), scale=ops.ones([], dtype=dtype))


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _divergence(a, b, name=None):
    def squared_norm(x):
        return ops.reduce_sum(ops.square(x), axis=[-2, -1])

    with name_scope(name, "kl_mvn", values=[a.loc, b.loc, *a.scale.graph_parents, *b.scale.graph_parents]):
        if is_diagonal(a.scale) and is_diagonal(b.scale):
            ratio = (a.stddev() / b.stddev())[..., None]
        else:
            ratio = b.scale.solve(a.scale.to_dense())
        determinants = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
        parts = -ops.cast(a.scale.domain_dimension_tensor(), a.dtype) + squared_norm(ratio)
        distance = b.scale.solve((b.mean() - a.mean())[..., None])
        found = determinants + 0.5 * (parts + squared_norm(distance))
        found.set_shape(ops.broadcast_static_shape(a.batch_shape, b.batch_shape))
        return found


@public("contrib.distributions.MultivariateNormalDiag")
class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """Independent normal coordinates.

    Args:
      loc: the means; 0 if it is None.
      scale_diag: the standard deviations; 1 if neither these nor the next are given.
      scale_identity_multiplier: a number for each distribution that is added to the standard deviations.
      validate_args, allow_nan_stats, name: see Distribution.

    Raises ValueError if the size of events does not follow from the arguments.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiag",
    ):
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
            scale = make_diag_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(
            loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name
        )
        self._parameters = parameters


@public("contrib.distributions.MultivariateNormalDiagWithSoftplusScale")
class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """MultivariateNormalDiag with standard deviations softplus(scale_diag)."""

    def __init__(
        self,
        loc,
        scale_diag,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiagWithSoftplusScale",
    ):
        parameters = dict(locals())
        with name_scope(name, values=[scale_diag]) as name:
            super().__init__(
                loc=loc,
                scale_diag=ops.softplus(scale_diag),
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters


@public("contrib.distributions.MultivariateNormalDiagPlusLowRank")
class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """The normal distribution with the scale D + m I + V W V^T.

    Args:
      loc: the mean; 0 if it is None.
      scale_diag: the diagonals D.
      scale_identity_multiplier: the numbers m.
      scale_perturb_factor: the matrices V.
      scale_perturb_diag: the diagonals W; 1 if it is None.
    """

    def __init__(
        self,
        loc=None,
        scale_diag=None,
        scale_identity_multiplier=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalDiagPlusLowRank",
    ):
        parameters = dict(locals())
        values = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        is_perturbed = scale_perturb_factor is not None or scale_perturb_diag is not None
        with name_scope(name) as name, name_scope("init", values=values):
            scale = make_diag_scale(
                loc, scale_diag, scale_identity_multiplier, None, validate_args, assert_positive=is_perturbed
            )
            factor, diag = (
                None if value is None else convert_to_tensor(value, name=what)
                for value, what in (
                    (scale_perturb_factor, "scale_perturb_factor"),
                    (scale_perturb_diag, "scale_perturb_diag"),
                )
            )
            if is_perturbed:
                scale = perturbed_scale(scale, factor, diag)
        super().__init__(
            loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name
        )
        self._parameters = parameters


@public("contrib.distributions.MultivariateNormalTriL")
class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """The normal distribution with covariance L L^T.

    Args:
      loc: the mean; 0 if it is None.
      scale_tril: lower triangular matrices L with a diagonal without 0; the identity if it is None.

    Raises ValueError if both are None.
    """

    def __init__(
        self,
        loc=None,
        scale_tril=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalTriL",
    ):
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        with name_scope(name) as name, name_scope("init", values=[loc, scale_tril]):
            loc = None if loc is None else convert_to_tensor(loc, name="loc")
            scale_tril = None if scale_tril is None else convert_to_tensor(scale_tril, name="scale_tril")
            if scale_tril is None:
                scale: LinearOperator = LinearOperatorIdentity(
                    num_rows=dimension_size(loc, -1),
                    dtype=loc.dtype,
                    is_self_adjoint=True,
                    is_positive_definite=True,
                    assert_proper_shapes=validate_args,
                )
            else:
                scale = LinearOperatorLowerTriangular(
                    scale_tril,
                    is_non_singular=True,
                    is_self_adjoint=False,
                    is_positive_definite=False,
                )
        super().__init__(
            loc=loc, scale=scale, validate_args=validate_args, allow_nan_stats=allow_nan_stats, name=name
        )
        self._parameters = parameters


@public("contrib.distributions.MultivariateNormalFullCovariance")
class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """The normal distribution with a covariance matrix.

    Args:
      loc: the mean; 0 if it is None.
      covariance_matrix: symmetric and positive definite; the identity if it is None.
      validate_args: whether it is checked to be symmetric.
    """

    def __init__(
        self,
        loc=None,
        covariance_matrix=None,
        validate_args=False,
        allow_nan_stats=True,
        name="MultivariateNormalFullCovariance",
    ):
        parameters = dict(locals())
        with name_scope(name) as name, name_scope("init", values=[loc, covariance_matrix]):
            scale_tril = None
            if covariance_matrix is not None:
                covariance_matrix = convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    check = checks.assert_near(
                        covariance_matrix,
                        ops.matrix_transpose(covariance_matrix),
                        message="Matrix was not symmetric",
                    )
                    covariance_matrix = with_dependencies([check], covariance_matrix)
                scale_tril = ops.cholesky(covariance_matrix)
            super().__init__(
                loc=loc,
                scale_tril=scale_tril,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                name=name,
            )
        self._parameters = parameters
