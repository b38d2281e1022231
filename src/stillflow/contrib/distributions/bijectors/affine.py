"""Bijectors x -> scale x + shift: AffineScalar, AffineLinearOperator, Affine."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.contrib.distributions.bijectors.base import Bijector, ElementwiseBijector, init_scope
from stillflow.contrib.distributions.scales import make_tril_scale, perturbed_scale
from stillflow.contrib.distributions.shapes import DistributionShape
from stillflow.distributions.static_values import dimension_size
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.linear_operators.base import LinearOperator
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.bijectors.AffineScalar")
class AffineScalar(ElementwiseBijector):
    """y = scale x + shift for numbers, of which either may be left out."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        with init_scope(name, [scale, shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else convert_to_tensor(scale, name="scale")
            if validate_args and scale is not None:
                check = checks.assert_none_equal(self._scale, ops.zeros([], dtype=self.scale.dtype))
                self._scale = with_dependencies([check], self._scale)
            super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def shift(self):
        """What is added, or None."""
        return self._shift

    @property
    def scale(self):
        """What is multiplied with, or None."""
        return self._scale

    def _forward(self, x):
        y = ops.identity(x)
        if self.scale is not None:
            y *= self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = ops.identity(y)
        if self.shift is not None:
            x -= self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return ops.constant(0.0, dtype=x.dtype.base_dtype)
        return ops.log(ops.abs(self.scale))


@public("contrib.distributions.bijectors.AffineLinearOperator")
class AffineLinearOperator(Bijector):
    """y = scale x + shift for vectors and a tf.linalg.LinearOperator, of which either may be left out.

    Raises:
      TypeError: for a scale that is no LinearOperator, and for types that differ.
      ValueError: for a scale that may be singular, if arguments are validated.
    """

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_linear_operator"):
        dtype, parents = dtypes.float32, []
        with init_scope(name, [shift]):
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                parents, dtype = [shift], shift.dtype.base_dtype
            self._shift = shift
            if scale is not None:
                _check_types(shift, scale)
                if not isinstance(scale, LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                parents += scale.graph_parents
                dtype = scale.dtype.base_dtype if scale.dtype is not None else dtype
            self._set(scale, parents, dtype, validate_args, name)

    def _set(self, scale, parents, dtype, validate_args, name):
        """What both kinds begin with, once they have a scale: a linear operator, a tensor, or None."""
        self._scale = scale
        batch_ndims = 0
        if isinstance(scale, LinearOperator):
            is_known = scale.tensor_rank is not None
            batch_ndims = (scale.tensor_rank if is_known else scale.tensor_rank_tensor()) - 2
            if not is_known:
                parents = [*parents, batch_ndims]
        self._shaper = DistributionShape(batch_ndims=batch_ndims, event_ndims=1, validate_args=validate_args)
        Bijector.__init__(
            self,
            forward_min_event_ndims=1,
            graph_parents=parents,
            is_constant_jacobian=True,
            dtype=dtype,
            validate_args=validate_args,
            name=name,
        )

    @property
    def shift(self):
        """The vectors that are added, or None."""
        return self._shift

    @property
    def scale(self):
        """The LinearOperator, or None."""
        return self._scale

    def _forward(self, x):
        y = x if self.scale is None else self._of_matrices(x, self.scale.matmul, self._conditions)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else self._of_matrices(x, self.scale.solve)

    def _of_matrices(self, x, function, conditions=list):
        """What a function of matrices makes of vectors, those of one member of a batch in one matrix."""
        x, sample_shape = self._shaper.make_batch_of_event_sample_matrices(x, expand_batch_dim=False)
        with control_dependencies(conditions()):
            x = function(x)
        return self._shaper.undo_make_batch_of_event_sample_matrices(x, sample_shape, expand_batch_dim=False)

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return ops.constant(0.0, dtype=x.dtype.base_dtype)
        with control_dependencies(self._conditions()):
            return self.scale.log_abs_determinant()

    def _conditions(self):
        if not self.validate_args:
            return []
        try:
            return [self.scale.assert_non_singular()]
        except NotImplementedError:
            return []


def _check_types(shift, scale):
    if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
        raise TypeError(f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype}).")


@public("contrib.distributions.bijectors.Affine")
class Affine(AffineLinearOperator):
    """y = scale x + shift for vectors, where the scale is the sum of

    Args:
      shift: vectors to add, or None.
      scale_identity_multiplier: numbers times the identity,
      scale_diag: diagonals,
      scale_tril: lower triangular matrices, and
      scale_perturb_factor, scale_perturb_diag: V D V^T, which these are the V and D of.
      validate_args: whether the scale is checked not to be singular.

    Raises:
      ValueError: for a scale_perturb_diag without a scale_perturb_factor.
      TypeError: for types that differ.
    """

    def __init__(
        self,
        shift=None,
        scale_identity_multiplier=None,
        scale_diag=None,
        scale_tril=None,
        scale_perturb_factor=None,
        scale_perturb_diag=None,
        validate_args=False,
        name="affine",
    ):
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        values = [shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag, scale_perturb_factor]
        # Numbers are multiplied with as such: events may have any size.
        self._is_number = scale_tril is None and scale_diag is None and scale_perturb_factor is None
        with init_scope(name, values):
            dtype = dtypes.float32
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                dtype = shift.dtype.base_dtype
            self._shift = shift
            if self._is_number and scale_identity_multiplier is None:
                scale_identity_multiplier = convert_to_tensor(1.0, dtype=dtype)
            parts = _parts_of_scale(
                scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag, scale_perturb_factor
            )
            if self._is_number:
                scale = _checked_number(parts[0], validate_args)
                parents = [scale]
            else:
                scale = _operator(shift, parts, validate_args)
                _check_types(shift, scale)
                parents = [] if shift is None else [*scale.graph_parents, shift]
            self._set(scale, parents, scale.dtype.base_dtype, validate_args, name)

    def _forward(self, x):
        if not self._is_number:
            return super()._forward(x)
        y = x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        if not self._is_number:
            return super()._inverse(y)
        x = y if self.shift is None else y - self.shift
        return x / self.scale

    def _forward_log_det_jacobian(self, x):
        if not self._is_number:
            return self.scale.log_abs_determinant()
        size = ops.cast(ops.shape(x)[-1], self.scale.dtype)
        return ops.log(ops.abs(self.scale)) * size


def _parts_of_scale(multiplier, diag, tril, perturb_diag, perturb_factor):
    names = ("identity_multiplier", "diag", "tril", "perturb_diag", "perturb_factor")
    given = (multiplier, diag, tril, perturb_diag, perturb_factor)
    pairs = zip(given, names, strict=True)
    return [None if value is None else convert_to_tensor(value, name=name) for value, name in pairs]


def _checked_number(multiplier, validate_args):
    if not validate_args:
        return multiplier
    zero = ops.zeros([], multiplier.dtype)
    check = checks.assert_none_equal(multiplier, zero, ["identity_multiplier should be non-zero."])
    return with_dependencies([check], multiplier)


def _operator(shift, parts, validate_args):
    """The linear operator of a scale that is more than numbers."""
    multiplier, diag, tril, perturb_diag, perturb_factor = parts
    hint = None if perturb_factor is None else dimension_size(perturb_factor, -2)
    scale = make_tril_scale(shift, tril, diag, multiplier, hint, validate_args)
    if perturb_factor is None:
        return scale
    return perturbed_scale(scale, perturb_factor, perturb_diag)
