"""Scales of location-scale families of vectors, as linear operators."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.distributions.static_values import (
    prefer_static_broadcast_shape,
    prefer_static_value,
)
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.linear_operators.addition import add_operators
from stillflow.linear_operators.base import LinearOperator
from stillflow.linear_operators.diag import LinearOperatorDiag
from stillflow.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from stillflow.linear_operators.low_rank_update import LinearOperatorLowRankUpdate
from stillflow.linear_operators.lower_triangular import LinearOperatorLowerTriangular
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def _tensor(value, name, dtype=None):
    return None if value is None else convert_to_tensor(value, name=name, dtype=dtype)


@public("contrib.distributions.python.ops.distribution_util.is_diagonal_scale")
def is_diagonal(scale):
    """Whether a linear operator is known to be diagonal. Raises TypeError for anything else."""
    if not isinstance(scale, LinearOperator):
        raise TypeError(f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}")
    return isinstance(scale, (LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorDiag))


def _checked_diagonal(x, diagonal, validate_args, assert_positive):
    """x, after checking the diagonal, if arguments are validated: all of it must be positive, or at least not 0."""
    if not validate_args:
        return x
    if assert_positive:
        needed = checks.assert_positive(diagonal(x), message="diagonal part must be positive")
    else:
        part, zero = diagonal(x), ops.zeros([], x.dtype)
        needed = checks.assert_none_equal(part, zero, message="diagonal part must be non-zero")
    return with_dependencies([needed], x)


@public("contrib.distributions.python.ops.distribution_util.make_diag_scale")
def make_diag_scale(
    loc=None, scale_diag=None, scale_identity_multiplier=None, shape_hint=None, validate_args=False,
    assert_positive=False, name=None,
):  # fmt: skip
    """A diagonal scale: scale_diag + scale_identity_multiplier I, or the identity if neither is given.

    The size is that of the diagonal, of `loc`, or `shape_hint`. If arguments are validated, the diagonal is checked:
    it must be positive if so said, else not 0. Raises ValueError if the size is not known.
    """

    def checked(x):
        return _checked_diagonal(x, lambda diagonal: diagonal, validate_args, assert_positive)

    with name_scope(name, "make_diag_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = _tensor(loc, "loc")
        scale_diag = _tensor(scale_diag, "scale_diag")
        multiplier = _tensor(scale_identity_multiplier, "scale_identity_multiplier")
        if scale_diag is not None:
            if multiplier is not None:
                scale_diag += multiplier[..., None]
            return LinearOperatorDiag(
                diag=checked(scale_diag), is_non_singular=True, is_self_adjoint=True,
                is_positive_definite=assert_positive,
            )  # fmt: skip
        if loc is None and shape_hint is None:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        rows = loc.shape[-1] if shape_hint is None else shape_hint
        if multiplier is None:
            return LinearOperatorIdentity(
                num_rows=rows, dtype=loc.dtype.base_dtype, is_self_adjoint=True, is_positive_definite=True,
                assert_proper_shapes=validate_args,
            )  # fmt: skip
        return LinearOperatorScaledIdentity(
            num_rows=rows, multiplier=checked(multiplier), is_non_singular=True, is_self_adjoint=True,
            is_positive_definite=assert_positive, assert_proper_shapes=validate_args,
        )  # fmt: skip


@public("contrib.distributions.python.ops.distribution_util.make_tril_scale")
def make_tril_scale(
    loc=None, scale_tril=None, scale_diag=None, scale_identity_multiplier=None, shape_hint=None, validate_args=False,
    assert_positive=False, name=None,
):  # fmt: skip
    """A lower triangular scale: scale_tril, whose upper part counts as 0, plus a diagonal and a multiple of I.

    Without `scale_tril` it is what make_diag_scale makes of the other arguments.
    """
    with name_scope(name, "make_tril_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = _tensor(loc, "loc")
        scale_tril = _tensor(scale_tril, "scale_tril")
        scale_diag = _tensor(scale_diag, "scale_diag")
        multiplier = _tensor(scale_identity_multiplier, "scale_identity_multiplier")
    if scale_tril is None:
        return make_diag_scale(loc, scale_diag, multiplier, shape_hint, validate_args, assert_positive, name)
    tril = ops.matrix_band_part(scale_tril, -1, 0)
    diagonal = ops.matrix_diag_part(tril)
    if scale_diag is not None:
        diagonal += scale_diag
    if multiplier is not None:
        diagonal += multiplier[..., None]
    tril = ops.matrix_set_diag(tril, diagonal)
    return LinearOperatorLowerTriangular(
        tril=_checked_diagonal(tril, ops.matrix_diag_part, validate_args, assert_positive),
        is_non_singular=True, is_self_adjoint=False, is_positive_definite=assert_positive,
    )  # fmt: skip


@public("contrib.distributions.python.ops.distribution_util.shapes_from_loc_and_scale")
def shapes_from_loc_and_scale(loc, scale, name="shapes_from_loc_and_scale"):
    """(batch shape, event shape) of a location-scale family of vectors: what is known, or int32 tensors.

    Raises ValueError for a loc that is a scalar, and for one of another size.
    """
    if loc is not None and loc.shape.ndims == 0:
        raise ValueError("loc cannot be a scalar")
    with name_scope(name, values=[loc, *scale.graph_parents]):
        event_size = scale.range_dimension_tensor()
        known = constant_value(event_size)
        event_shape = event_size[None] if known is None else known.reshape([1])
        loc_size = None if loc is None or loc.shape.ndims is None else dimension_value(loc.shape[-1])
        if known is not None and loc_size is not None and loc_size not in (1, int(known)):
            raise ValueError(
                f"Event size of 'scale' ({int(known)}) could not be broadcast up to that of 'loc' ({loc_size})."
            )
        batch_shape = scale.batch_shape_tensor()
        if loc is None:
            return prefer_static_value(batch_shape), event_shape
        own = loc.shape.with_rank_at_least(1)[:-1]
        if loc.shape.ndims is None or not own.is_fully_defined():
            own = ops.shape(loc)[:-1]
        else:
            own = convert_to_tensor(own, name="loc_batch_shape")
        return prefer_static_broadcast_shape(batch_shape, own), event_shape


@public("contrib.distributions.python.ops.vector_diffeomixture.interpolate_scale")
def interpolate_scale(grid, scale):
    """The scales of all points of a grid of weights [..., 2, size], between two scales.

    Raises:
      NotImplementedError: for more than two scales, and for those of another kind.
      ValueError: if the number of points is not known.
    """
    if len(scale) != 2:
        raise NotImplementedError(f"Currently only bimixtures are supported; len(scale)={len(scale)} is not 2.")
    size = dimension_value(grid.shape.with_rank_at_least(1)[-1])
    if size is None:
        raise ValueError("Num quadrature grid points must be known prior to graph execution.")
    with name_scope("interpolate_scale", values=[grid]):
        return [
            add_operators([linop_scale(grid[..., k, point], each) for k, each in enumerate(scale)])[0]
            for point in range(size)
        ]


@public("contrib.distributions.python.ops.vector_diffeomixture.linop_scale")
def linop_scale(w, op):
    """A linear operator times numbers [...]: a multiple of the identity, a diagonal or lower triangular one.

    Raises NotImplementedError for another kind.
    """
    with name_scope("linop_scale", values=[w]):
        known = {
            "is_non_singular": op.is_non_singular,
            "is_self_adjoint": op.is_self_adjoint,
            "is_positive_definite": op.is_positive_definite,
        }
        if isinstance(op, (LinearOperatorIdentity, LinearOperatorScaledIdentity)):
            multiplier = w * op.multiplier if isinstance(op, LinearOperatorScaledIdentity) else w
            return LinearOperatorScaledIdentity(op.range_dimension_tensor(), multiplier=multiplier, **known)
        if isinstance(op, LinearOperatorDiag):
            return LinearOperatorDiag(diag=w[..., None] * op.diag_part(), **known)
        if isinstance(op, LinearOperatorLowerTriangular):
            return LinearOperatorLowerTriangular(tril=w[..., None, None] * op.to_dense(), **known)
        raise NotImplementedError(f"Unsupported Linop type ({type(op).__name__})")


def perturbed_scale(scale, factor, diag):
    """scale + factor diag factor', of which `diag` is None for the identity."""
    return LinearOperatorLowRankUpdate(
        scale,
        u=factor,
        diag_update=diag,
        is_diag_update_positive=diag is None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
    )
