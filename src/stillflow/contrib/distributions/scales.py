"""Scales of location-scale families of vectors, as linear operators."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, dimension_value
from stillflow.graph.shape_inference import constant_value
from stillflow.linear_operators.diag import LinearOperatorDiag
from stillflow.linear_operators.identity import LinearOperatorIdentity, LinearOperatorScaledIdentity
from stillflow.linear_operators.low_rank_update import LinearOperatorLowRankUpdate
from stillflow.linear_operators.lower_triangular import LinearOperatorLowerTriangular
from stillflow.ops.convert import convert_to_tensor


def _tensor(value, name, dtype=None):
    return None if value is None else convert_to_tensor(value, name=name, dtype=dtype)


def vector_size(tensor):
    """The size of the last dimension, an int if it is known."""
    known = dimension_value(tensor.shape.with_rank_at_least(1)[-1])
    return ops.shape(tensor)[-1] if known is None else known


def is_diagonal(scale):
    """Whether a linear operator is known to be diagonal."""
    return isinstance(scale, (LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorDiag))


def make_diag_scale(loc=None, scale_diag=None, scale_identity_multiplier=None, shape_hint=None, name=None):
    """A diagonal scale: scale_diag + scale_identity_multiplier I, or the identity if neither is given.

    The size is that of the diagonal, of `loc`, or `shape_hint`. Raises ValueError if it is not known.
    """
    with name_scope(name, "make_diag_scale", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = _tensor(loc, "loc")
        scale_diag = _tensor(scale_diag, "scale_diag")
        multiplier = _tensor(scale_identity_multiplier, "scale_identity_multiplier")
        if scale_diag is not None:
            if multiplier is not None:
                scale_diag += multiplier[..., None]
            return LinearOperatorDiag(diag=scale_diag, is_non_singular=True, is_self_adjoint=True)
        if loc is None and shape_hint is None:
            raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
        rows = vector_size(loc) if shape_hint is None else shape_hint
        if multiplier is None:
            return LinearOperatorIdentity(
                num_rows=rows, dtype=loc.dtype.base_dtype, is_self_adjoint=True, is_positive_definite=True
            )
        return LinearOperatorScaledIdentity(
            num_rows=rows, multiplier=multiplier, is_non_singular=True, is_self_adjoint=True
        )


def make_tril_scale(scale_tril=None, scale_diag=None, scale_identity_multiplier=None, name=None):
    """A lower triangular scale: scale_tril, whose upper part counts as 0, plus a diagonal and a multiple of I."""
    with name_scope(name, "make_tril_scale", values=[scale_tril, scale_diag, scale_identity_multiplier]):
        tril = ops.matrix_band_part(convert_to_tensor(scale_tril, name="scale_tril"), -1, 0)
        diagonal = ops.matrix_diag_part(tril)
        if scale_diag is not None:
            diagonal += convert_to_tensor(scale_diag, name="scale_diag")
        if scale_identity_multiplier is not None:
            diagonal += convert_to_tensor(scale_identity_multiplier, name="scale_identity_multiplier")[..., None]
        if scale_diag is not None or scale_identity_multiplier is not None:
            tril = ops.matrix_set_diag(tril, diagonal)
        return LinearOperatorLowerTriangular(
            tril=tril, is_non_singular=True, is_self_adjoint=False, is_positive_definite=False
        )


def make_affine_scale(shift, multiplier, diag, tril, perturb_factor, perturb_diag):
    """The scale of an Affine bijector, or None if it has none."""
    if perturb_diag is not None and perturb_factor is None:
        raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
    perturb_factor = _tensor(perturb_factor, "scale_perturb_factor")
    if tril is not None:
        base = make_tril_scale(tril, diag, multiplier)
    elif diag is not None or multiplier is not None or perturb_factor is not None:
        hint = None if perturb_factor is None else _rows(perturb_factor)
        likeness = perturb_factor[..., 0] if shift is None and perturb_factor is not None else shift
        base = make_diag_scale(likeness, diag, multiplier, shape_hint=hint)
    else:
        return None
    if perturb_factor is None:
        return base
    return LinearOperatorLowRankUpdate(
        base,
        u=perturb_factor,
        diag_update=_tensor(perturb_diag, "scale_perturb_diag"),
        is_diag_update_positive=perturb_diag is None,
        is_non_singular=True,
        is_self_adjoint=True if tril is None else None,
        is_positive_definite=True if tril is None else None,
        is_square=True,
    )


def _rows(matrix):
    known = dimension_value(matrix.shape.with_rank_at_least(2)[-2])
    return ops.shape(matrix)[-2] if known is None else known


def shapes_from_loc_and_scale(loc, scale, name="shapes_from_loc_and_scale"):
    """(batch shape, event shape) of a location-scale family of vectors: static values, or int32 tensors.

    Raises ValueError for a loc that is a scalar.
    """
    if loc is not None and loc.shape.ndims == 0:
        raise ValueError("loc cannot be a scalar")
    with name_scope(name, values=[loc, *scale.graph_parents]):
        event_size = scale.range_dimension_tensor()
        known = constant_value(event_size)
        loc_size = None if loc is None else dimension_value(loc.shape[-1])
        if known is not None and loc_size is not None and loc_size not in (1, int(known)):
            raise ValueError(
                f"Event size of 'scale' ({int(known)}) could not be broadcast up to that of 'loc' ({loc_size})."
            )
        event_shape = event_size[None] if known is None else ops.constant([int(known)], dtypes.int32)
        batch_shape = scale.batch_shape_tensor()
        if loc is not None:
            own = ops.shape(loc)[:-1] if not loc.shape.is_fully_defined() else loc.shape.as_list()[:-1]
            static = constant_value(batch_shape)
            if static is not None and isinstance(own, list):
                whole = ops.broadcast_static_shape(TensorShape([int(size) for size in static]), TensorShape(own))
                batch_shape = ops.constant(whole.as_list(), dtypes.int32)
            else:
                batch_shape = ops.broadcast_dynamic_shape(batch_shape, ops.shape(loc)[:-1])
        return batch_shape, event_shape
