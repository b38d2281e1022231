"""ndtr, log_ndtr and ndtri: the standard normal's cumulative distribution function, its logarithm and inverse."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

# Between these bounds log_ndtr is the logarithm of ndtr. Below it is an asymptotic series, above -ndtr(-x).
LOGNDTR_FLOAT64_LOWER = public("python.ops.distributions.special_math.LOGNDTR_FLOAT64_LOWER")(
    np.array(-20, np.float64)
)
LOGNDTR_FLOAT32_LOWER = public("python.ops.distributions.special_math.LOGNDTR_FLOAT32_LOWER")(
    np.array(-10, np.float32)
)
LOGNDTR_FLOAT64_UPPER = public("python.ops.distributions.special_math.LOGNDTR_FLOAT64_UPPER")(np.array(8, np.float64))
LOGNDTR_FLOAT32_UPPER = public("python.ops.distributions.special_math.LOGNDTR_FLOAT32_UPPER")(np.array(5, np.float32))
_LOG_BOUNDS = {
    dtypes.float64: (LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT64_UPPER),
    dtypes.float32: (LOGNDTR_FLOAT32_LOWER, LOGNDTR_FLOAT32_UPPER),
}

# Rational approximations of ndtri by S. L. Moshier (Cephes): numerators and denominators, highest power first.
_MIDDLE = (
    (-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1,
     -1.23916583867381258016e0),
    (1.0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1, -2.25462687854119370527e2,
     2.00260212380060660359e2, -8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0),
)  # fmt: skip
_TAIL = (
    (4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1,
     1.46849561928858024014e1, 2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2,
     -8.57456785154685413611e-4),
    (1.0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1, 1.50425385692907503408e1,
     2.50464946208309415979e0, -1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4),
)  # fmt: skip
_FAR_TAIL = (
    (3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0, 1.33303460815807542389e0,
     2.01485389549179081538e-1, 1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6,
     6.23974539184983293730e-9),
    (1.0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0, 2.16236993594496635890e-1,
     1.34204006088543189037e-2, 3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9),
)  # fmt: skip


def _checked(x, name):
    tensor = convert_to_tensor(x, name=name)
    if tensor.dtype.base_dtype not in _LOG_BOUNDS:
        raise TypeError(f"{name}.dtype={tensor.dtype} is not handled, see docstring for supported types.")
    return tensor


@public("python.ops.distributions.special_math.ndtr")
def ndtr(x, name="ndtr"):
    """The probability that a standard normal number is at most x. Raises TypeError unless x is float32 or float64."""
    with name_scope(name, values=[x]):
        return _ndtr(_checked(x, "x"))


def _ndtr(x):
    half_sqrt_2 = ops.constant(0.5 * np.sqrt(2.0), x.dtype, name="half_sqrt_2")
    w = x * half_sqrt_2
    z = ops.abs(w)
    twice = ops.where_v2(
        ops.less(z, half_sqrt_2), 1.0 + ops.erf(w),
        ops.where_v2(ops.greater(w, 0.0), 2.0 - ops.erfc(z), ops.erfc(z)),
    )  # fmt: skip
    return 0.5 * twice


@public("python.ops.distributions.special_math.log_ndtr")
def log_ndtr(x, series_order=3, name="log_ndtr"):
    """log(ndtr(x)), far down too, where ndtr(x) is 0: there an asymptotic series of that order.

    Raises:
      TypeError: unless x is float32 or float64 and series_order an int.
      ValueError: unless series_order is from 0 to 30.
    """
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > 30:
        raise ValueError("series_order must be <= 30.")
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.base_dtype not in _LOG_BOUNDS:
            raise TypeError(f"x.dtype={x.dtype} is not supported.")
        lower, upper = _LOG_BOUNDS[x.dtype.base_dtype]
        # The branch that is not taken must have a finite gradient too: where() multiplies it by 0.
        return ops.where_v2(
            ops.greater(x, upper), -_ndtr(-x),
            ops.where_v2(
                ops.greater(x, lower), ops.log(_ndtr(ops.maximum(x, lower))),
                _log_of_lower_tail(ops.minimum(x, lower), series_order),
            ),
        )  # fmt: skip


def _log_of_lower_tail(x, series_order):
    """log(phi(x) / -x) + log(1 - 1 / x^2 + 3 / x^4 - 15 / x^6 ...)."""
    log_scale = -0.5 * ops.square(x) - ops.log(-x) - 0.5 * np.log(2.0 * np.pi)
    return log_scale + ops.log(_asymptotic_series(x, series_order))


def _asymptotic_series(x, order):
    dtype = x.dtype.as_numpy_dtype
    if order <= 0:
        return np.array(1, dtype)
    square = ops.square(x)
    even_sum, odd_sum = ops.zeros_like(x), ops.zeros_like(x)
    power = square
    for n in range(1, order + 1):
        term = np.array(np.prod(np.arange(2 * n - 1, 1, -2)), dtype) / power
        if n % 2:
            odd_sum += term
        else:
            even_sum += term
        power *= square
    return 1.0 + even_sum - odd_sum


@public("python.ops.distributions.special_math.ndtri")
def ndtri(p, name="ndtri"):
    """The x for which ndtr(x) is p. Raises TypeError unless p is float32 or float64."""
    with name_scope(name, values=[p]):
        return _ndtri(_checked(p, "p"))


def _polynomial(x, coefficients):
    value = ops.zeros_like(x)
    for coefficient in coefficients:
        value = x.dtype.as_numpy_dtype(coefficient) + value * x
    return value


def _ndtri(p):
    reflected = ops.where_v2(p > -np.expm1(-2.0), 1.0 - p, p)
    # 0 gives NaN below. What comes of it is not taken, but its gradient is multiplied by 0: any number will do.
    any_number = np.array(0.5, p.dtype.as_numpy_dtype)
    q = ops.where_v2(reflected <= 0.0, ops.fill(ops.shape(p), any_number), reflected)
    w = q - 0.5
    square = w**2
    middle = w + w * square * (_polynomial(square, _MIDDLE[0]) / _polynomial(square, _MIDDLE[1]))
    middle *= -np.sqrt(2.0 * np.pi)
    z = ops.sqrt(-2.0 * ops.log(q))
    first = z - ops.log(z) / z
    far_second = _polynomial(1.0 / z, _FAR_TAIL[0]) / _polynomial(1.0 / z, _FAR_TAIL[1]) / z
    second = _polynomial(1.0 / z, _TAIL[0]) / _polynomial(1.0 / z, _TAIL[1]) / z
    far_tail, tail = first - far_second, first - second
    x = ops.where_v2(q > np.exp(-2.0), middle, ops.where_v2(z >= 8.0, far_tail, tail))
    x = ops.where_v2(p > 1.0 - np.exp(-2.0), x, -x)
    infinity = ops.constant(np.inf, p.dtype)
    infinity = ops.fill(ops.shape(p), infinity)
    return ops.where_v2(p <= 0.0, -infinity, ops.where_v2(p >= 1.0, infinity, x))


@public("python.ops.distributions.special_math.erfinv")
def erfinv(x, name="erfinv"):
    """The y for which erf(y) is x. Raises TypeError unless x is float32 or float64."""
    with name_scope(name, values=[x]):
        x = _checked(x, "x")
        return ndtri((x + 1.0) / 2.0) / np.sqrt(2)
