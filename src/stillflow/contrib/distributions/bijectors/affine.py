"""Bijectors x -> scale x + shift: AffineScalar, AffineLinearOperator, Affine."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.contrib.distributions.bijectors.base import Bijector, ElementwiseBijector
from stillflow.contrib.distributions.scales import make_affine_scale
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.linear_operators.base import LinearOperator
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


@public("contrib.distributions.bijectors.AffineScalar")
class AffineScalar(ElementwiseBijector):
    """y = scale x + shift for numbers, of which either may be left out."""

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_scalar"):
        with name_scope(name, values=[scale, shift]):
            self._shift = None if shift is None else convert_to_tensor(shift, name="shift")
            self._scale = None if scale is None else convert_to_tensor(scale, name="scale")
            if validate_args and scale is not None:
                check = checks.assert_none_equal(self._scale, ops.zeros_like(self._scale))
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
        y = x if self.scale is None else x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = y if self.shift is None else y - self.shift
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
        dtype, parents = None, []
        with name_scope(name, values=[shift]):
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
                parents, dtype = [shift], shift.dtype.base_dtype
            self._shift = shift
            if scale is not None:
                if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
                    raise TypeError(
                        f"shift.dtype({shift.dtype.base_dtype}) is incompatible with "
                        f"scale.dtype({scale.dtype.base_dtype})."
                    )
                if not isinstance(scale, LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                parents += scale.graph_parents
                dtype = scale.dtype.base_dtype if scale.dtype is not None else dtype
            self._scale = scale
        super().__init__(
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
        y = x
        if self.scale is not None:
            with _asserting(self.scale, self.validate_args):
                y = self.scale.matvec(y)
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        x = y if self.shift is None else y - self.shift
        if self.scale is not None:
            with _asserting(self.scale, self.validate_args):
                x = self.scale.solvevec(x)
        return x

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return ops.constant(0.0, dtype=x.dtype.base_dtype)
        with _asserting(self.scale, self.validate_args):
            return self.scale.log_abs_determinant()


def _asserting(scale, validates):
    return control_dependencies([scale.assert_non_singular()] if validates else [])


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
        values = [shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag, scale_perturb_factor]
        with name_scope(name, values=values):
            if shift is not None:
                shift = convert_to_tensor(shift, name="shift")
            others = (scale_diag, scale_tril, scale_perturb_factor, scale_perturb_diag)
            # A number is multiplied with as such: events may have any size.
            self._multiplier = None
            if scale_identity_multiplier is not None and all(other is None for other in others):
                self._multiplier = convert_to_tensor(scale_identity_multiplier, name="scale_identity_multiplier")
                scale = None
            else:
                scale = make_affine_scale(shift, scale_identity_multiplier, *others, validate_args=validate_args)
        super().__init__(shift=shift, scale=scale, validate_args=False, name=name)
        self._validate_args = validate_args

    @property
    def scale(self):
        """The LinearOperator, the numbers that are multiplied with, or None."""
        return super().scale if self._multiplier is None else self._multiplier

    def _forward(self, x):
        if self._multiplier is None:
            return super()._forward(x)
        y = x * self._multiplier[..., None]
        return y if self.shift is None else y + self.shift

    def _inverse(self, y):
        if self._multiplier is None:
            return super()._inverse(y)
        x = y if self.shift is None else y - self.shift
        return x / self._multiplier[..., None]

    def _forward_log_det_jacobian(self, x):
        if self._multiplier is None:
            return super()._forward_log_det_jacobian(x)
        size = ops.cast(ops.shape(x)[-1], x.dtype.base_dtype)
        return ops.log(ops.abs(self._multiplier)) * size
