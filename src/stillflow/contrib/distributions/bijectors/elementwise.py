"""Bijectors of numbers: Exp, Sigmoid, Softplus, PowerTransform and others."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.contrib.distributions.bijectors.base import ElementwiseBijector, init_scope
from stillflow.contrib.distributions.numerics import softplus_inverse
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor


def checked_unit(bijector, y):
    """A y of a bijector onto [0, 1], checked if it validates its arguments."""
    if not bijector.validate_args:
        return y
    is_positive = checks.assert_non_negative(y, message="Inverse transformation input must be greater than 0.")
    is_below_one = checks.assert_less_equal(
        y, ops.constant(1.0, y.dtype), message="Inverse transformation input must be less than or equal to 1."
    )
    return with_dependencies([is_positive, is_below_one], y)


@public("contrib.distributions.bijectors.Identity")
class Identity(ElementwiseBijector):
    """y = x."""

    def __init__(self, validate_args=False, name="identity"):
        super().__init__(validate_args, name, is_constant_jacobian=True)

    def _forward(self, x):
        return x

    def _inverse(self, y):
        return y

    def _inverse_log_det_jacobian(self, y):
        return ops.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x):
        return ops.constant(0.0, dtype=x.dtype)


@public("contrib.distributions.bijectors.PowerTransform")
class PowerTransform(ElementwiseBijector):
    """y = (1 + power x)^(1 / power), which is exp(x) for power = 0. Raises ValueError for a negative power."""

    def __init__(self, power=0.0, validate_args=False, name="power_transform"):
        with init_scope(name, [power]):
            power = constant_value(convert_to_tensor(power, name="power"))
        if power is None or power < 0:
            raise ValueError("`power` must be a non-negative TF constant.")
        self._power = power
        super().__init__(validate_args, name)

    @property
    def power(self):
        """The c of (1 + c x)^(1 / c)."""
        return self._power

    def _forward(self, x):
        x = self._checked_x(x)
        return ops.exp(x) if self.power == 0.0 else ops.exp(ops.log1p(x * self.power) / self.power)

    def _inverse(self, y):
        y = self._checked_y(y)
        return ops.log(y) if self.power == 0.0 else ops.expm1(ops.log(y) * self.power) / self.power

    def _inverse_log_det_jacobian(self, y):
        return (self.power - 1.0) * ops.log(self._checked_y(y))

    def _forward_log_det_jacobian(self, x):
        x = self._checked_x(x)
        if self.power == 0.0:
            return x
        return (1.0 / self.power - 1.0) * ops.log1p(x * self.power)

    def _checked_x(self, x):
        if not self.validate_args or self.power == 0.0:
            return x
        message = f"Forward transformation input must be at least {-1.0 / self.power}."
        return with_dependencies([checks.assert_non_negative(1.0 + self.power * x, message=message)], x)

    def _checked_y(self, y):
        if not self.validate_args:
            return y
        message = "Inverse transformation input must be greater than 0."
        return with_dependencies([checks.assert_positive(y, message=message)], y)


@public("contrib.distributions.bijectors.Exp")
class Exp(PowerTransform):
    """y = exp(x)."""

    def __init__(self, validate_args=False, name="exp"):
        super().__init__(validate_args=validate_args, name=name)


@public("contrib.distributions.bijectors.Sigmoid")
class Sigmoid(ElementwiseBijector):
    """y = 1 / (1 + exp(-x))."""

    def __init__(self, validate_args=False, name="sigmoid"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return ops.sigmoid(x)

    def _inverse(self, y):
        return ops.log(y) - ops.log1p(-y)

    def _inverse_log_det_jacobian(self, y):
        return -ops.log(y) - ops.log1p(-y)

    def _forward_log_det_jacobian(self, x):
        return -ops.softplus(-x) - ops.softplus(x)


@public("contrib.distributions.bijectors.Softplus")
class Softplus(ElementwiseBijector):
    """y = c log(1 + exp(x / c)) for a hinge softness c, 1 if it is not given."""

    def __init__(self, hinge_softness=None, validate_args=False, name="softplus"):
        with name_scope(name, values=[hinge_softness]):
            self._hinge_softness = None
            if hinge_softness is not None:
                self._hinge_softness = convert_to_tensor(hinge_softness, name="hinge_softness")
                if validate_args:
                    check = checks.assert_none_equal(
                        convert_to_tensor(0, dtype=self._hinge_softness.dtype),
                        self._hinge_softness,
                        message="hinge_softness must be non-zero",
                    )
                    self._hinge_softness = with_dependencies([check], self._hinge_softness)
        super().__init__(validate_args, name)

    @property
    def hinge_softness(self):
        """The c of c log(1 + exp(x / c)), or None."""
        return self._hinge_softness

    def _softly(self, function, value):
        if self.hinge_softness is None:
            return function(value)
        softness = ops.cast(self.hinge_softness, value.dtype)
        return softness * function(value / softness)

    def _scaled(self, value):
        return value if self.hinge_softness is None else value / ops.cast(self.hinge_softness, value.dtype)

    def _forward(self, x):
        return self._softly(ops.softplus, x)

    def _inverse(self, y):
        return self._softly(softplus_inverse, y)

    def _inverse_log_det_jacobian(self, y):
        # The derivative of the inverse is 1 / (1 - exp(-y)); close to 0 it is about 1 / y.
        return -ops.log(-ops.expm1(-self._scaled(y)))

    def _forward_log_det_jacobian(self, x):
        return -ops.softplus(-self._scaled(x))


@public("contrib.distributions.bijectors.Softsign")
class Softsign(ElementwiseBijector):
    """y = x / (1 + |x|)."""

    def __init__(self, validate_args=False, name="softsign"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return x / (1.0 + ops.abs(x))

    def _inverse(self, y):
        y = self._checked(y)
        return y / (1.0 - ops.abs(y))

    def _forward_log_det_jacobian(self, x):
        return -2.0 * ops.log1p(ops.abs(x))

    def _inverse_log_det_jacobian(self, y):
        y = self._checked(y)
        return -2.0 * ops.log1p(-ops.abs(y))

    def _checked(self, y):
        if not self.validate_args:
            return y
        needed = [
            checks.assert_greater(
                y, ops.cast(-1.0, y.dtype.base_dtype), message="Inverse transformation input must be greater than -1."
            ),
            checks.assert_less(
                y, ops.cast(1.0, y.dtype.base_dtype), message="Inverse transformation input must be less than 1."
            ),
        ]
        return with_dependencies(needed, y)


@public("contrib.distributions.bijectors.Square")
class Square(ElementwiseBijector):
    """y = x^2 for x that are not negative."""

    def __init__(self, validate_args=False, name="square"):
        super().__init__(validate_args, name)

    def _forward(self, x):
        return ops.square(self._checked(x))

    def _inverse(self, y):
        return ops.sqrt(self._checked(y))

    def _forward_log_det_jacobian(self, x):
        x = self._checked(x)
        return np.log(2.0) + ops.log(x)

    def _checked(self, value):
        if not self.validate_args:
            return value
        return with_dependencies(
            [checks.assert_non_negative(value, message="All elements must be non-negative.")], value
        )


@public("contrib.distributions.bijectors.AbsoluteValue")
class AbsoluteValue(ElementwiseBijector):
    """y = |x|, which is not injective: the inverse is (-y, y)."""

    def __init__(self, validate_args=False, name="absolute_value"):
        with init_scope(name):
            super().__init__(validate_args, name, is_constant_jacobian=True)

    @property
    def _is_injective(self):
        return False

    def _forward(self, x):
        return ops.abs(x)

    def _inverse(self, y):
        if self.validate_args:
            y = with_dependencies([checks.assert_non_negative(y, message="Argument y was negative")], y)
        return -y, y

    def _inverse_log_det_jacobian(self, y):
        zero = ops.constant(0.0, dtype=y.dtype)
        if self.validate_args:
            zero = with_dependencies([checks.assert_non_negative(y, message="Argument y was negative")], zero)
        return zero, zero


@public("contrib.distributions.bijectors.Gumbel")
class Gumbel(ElementwiseBijector):
    """y = exp(-exp(-(x - loc) / scale)), the distribution function of Gumbel's distribution."""

    def __init__(self, loc=0.0, scale=1.0, validate_args=False, name="gumbel"):
        with init_scope(name, [loc, scale]):
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, name="scale")
            assert_same_float_dtype([self._loc, self._scale])
            if validate_args:
                check = checks.assert_positive(self._scale, message="Argument scale was not positive")
                self._scale = with_dependencies([check], self._scale)
        super().__init__(validate_args, name)

    @property
    def loc(self):
        """The l of exp(-exp(-(x - l) / s))."""
        return self._loc

    @property
    def scale(self):
        """The s of exp(-exp(-(x - l) / s))."""
        return self._scale

    def _forward(self, x):
        z = (x - self.loc) / self.scale
        return ops.exp(-ops.exp(-z))

    def _inverse(self, y):
        y = checked_unit(self, y)
        return self.loc - self.scale * ops.log(-ops.log(y))

    def _inverse_log_det_jacobian(self, y):
        y = checked_unit(self, y)
        return ops.log(self.scale / (-ops.log(y) * y))

    def _forward_log_det_jacobian(self, x):
        z = (x - self.loc) / self.scale
        return -z - ops.exp(-z) - ops.log(self.scale)


@public("contrib.distributions.bijectors.Kumaraswamy")
class Kumaraswamy(ElementwiseBijector):
    """y = (1 - (1 - x)^(1 / b))^(1 / a), the inverse of the distribution function of Kumaraswamy's distribution."""

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, name="kumaraswamy"):
        with init_scope(name, [concentration1, concentration0]):
            concentrations = []
            for name_, value in (("concentration1", concentration1), ("concentration0", concentration0)):
                tensor = convert_to_tensor(value, name=name_)
                if validate_args:
                    check = checks.assert_positive(tensor, message="Concentration parameter must be positive.")
                    tensor = with_dependencies([check], tensor)
                concentrations.append(tensor)
        self._concentration1, self._concentration0 = concentrations
        super().__init__(validate_args, name)

    @property
    def concentration1(self):
        """The a of (1 - (1 - x)^(1 / b))^(1 / a)."""
        return self._concentration1

    @property
    def concentration0(self):
        """The b of (1 - (1 - x)^(1 / b))^(1 / a)."""
        return self._concentration0

    def _forward(self, x):
        x = self._checked(x)
        return ops.exp(ops.log1p(-ops.exp(ops.log1p(-x) / self.concentration0)) / self.concentration1)

    def _inverse(self, y):
        y = self._checked(y)
        return ops.exp(ops.log1p(-((1 - y**self.concentration1) ** self.concentration0)))

    def _inverse_log_det_jacobian(self, y):
        a, b = self.concentration1, self.concentration0
        y = self._checked(y)
        return ops.log(a) + ops.log(b) + (a - 1) * ops.log(y) + (b - 1) * ops.log1p(-(y**a))

    def _checked(self, x):
        if not self.validate_args:
            return x
        is_positive = checks.assert_non_negative(x, message="sample must be non-negative")
        one = ops.ones([], self.concentration0.dtype)
        is_below_one = checks.assert_less_equal(x, one, message="sample must be no larger than `1`.")
        return with_dependencies([is_positive, is_below_one], x)


@public("contrib.distributions.python.ops.bijectors.weibull.Weibull")
class Weibull(ElementwiseBijector):
    """y = 1 - exp(-(x / scale)^concentration), the distribution function of Weibull's distribution."""

    def __init__(self, scale=1.0, concentration=1.0, validate_args=False, name="weibull"):
        with init_scope(name, [scale, concentration]):
            self._scale = convert_to_tensor(scale, name="scale")
            self._concentration = convert_to_tensor(concentration, name="concentration")
            assert_same_float_dtype([self._scale, self._concentration])
            if validate_args:
                check = checks.assert_positive(self._scale, message="Argument scale was not positive")
                self._scale = with_dependencies([check], self._scale)
                check = checks.assert_positive(self._concentration, message="Argument concentration was not positive")
                self._concentration = with_dependencies([check], self._concentration)
        super().__init__(validate_args, name)

    @property
    def scale(self):
        """The l of 1 - exp(-(x / l)^k)."""
        return self._scale

    @property
    def concentration(self):
        """The k of 1 - exp(-(x / l)^k)."""
        return self._concentration

    def _forward(self, x):
        x = self._checked_x(x)
        return -ops.expm1(-((x / self.scale) ** self.concentration))

    def _inverse(self, y):
        y = checked_unit(self, y)
        return self.scale * (-ops.log1p(-y)) ** (1 / self.concentration)

    def _inverse_log_det_jacobian(self, y):
        y = checked_unit(self, y)
        k = self.concentration
        return -ops.log1p(-y) + (1 / k - 1) * ops.log(-ops.log1p(-y)) + ops.log(self.scale / k)

    def _forward_log_det_jacobian(self, x):
        x = self._checked_x(x)
        k = self.concentration
        return -((x / self.scale) ** k) + (k - 1) * ops.log(x) + ops.log(k) + -k * ops.log(self.scale)

    def _checked_x(self, x):
        if not self.validate_args:
            return x
        check = checks.assert_non_negative(x, message="Forward transformation input must be at least 0.")
        return with_dependencies([check], x)


def _root(x):
    """sqrt(x^2 + 1), and |x| where the square would overflow."""
    is_small = ops.abs(x) * np.sqrt(np.finfo(x.dtype.as_numpy_dtype).eps) <= 1.0
    return ops.where_v2(is_small, ops.sqrt(x**2.0 + 1.0), ops.abs(x))


@public("contrib.distributions.bijectors.SinhArcsinh")
class SinhArcsinh(ElementwiseBijector):
    """y = sinh((arcsinh(x) + skewness) tailweight)."""

    def __init__(self, skewness=None, tailweight=None, validate_args=False, name="SinhArcsinh"):
        with init_scope(name, [skewness, tailweight]):
            tailweight = 1.0 if tailweight is None else tailweight
            skewness = 0.0 if skewness is None else skewness
            self._skewness = convert_to_tensor(skewness, name="skewness")
            self._tailweight = convert_to_tensor(tailweight, name="tailweight", dtype=self._skewness.dtype)
            assert_same_float_dtype([self._skewness, self._tailweight])
            if validate_args:
                check = checks.assert_positive(self._tailweight, message="Argument tailweight was not positive")
                self._tailweight = with_dependencies([check], self._tailweight)
        super().__init__(validate_args, name)

    @property
    def skewness(self):
        """The s of sinh((arcsinh(x) + s) t)."""
        return self._skewness

    @property
    def tailweight(self):
        """The t of sinh((arcsinh(x) + s) t)."""
        return self._tailweight

    def _forward(self, x):
        return ops.sinh((ops.asinh(x) + self.skewness) * self.tailweight)

    def _inverse(self, y):
        return ops.sinh(ops.asinh(y) / self.tailweight - self.skewness)

    def _inverse_log_det_jacobian(self, y):
        t, s = self.tailweight, self.skewness
        return ops.log(ops.cosh(ops.asinh(y) / t - s) / _root(y)) - ops.log(t)

    def _forward_log_det_jacobian(self, x):
        t, s = self.tailweight, self.skewness
        return ops.log(ops.cosh((ops.asinh(x) + s) * t) / _root(x)) + ops.log(t)
