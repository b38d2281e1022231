"""Writes csrc/arithmetic/math/approximations.h: the polynomials that the elementary functions are made of.

Each is fitted in 60 digits, by interpolation at Chebyshev's nodes, whose error stays within a small factor of the
best one's. The number of terms is the least whose error is below the one that is asked for. Those of emit_weighted
are the best ones for a weight. Those of emit_float are fitted in double with weights, and rounded one after the
other: each makes up for the rounding of those before.

    python tools/fit_approximations.py > csrc/arithmetic/math/approximations.h
"""

from __future__ import annotations

import sys
import textwrap

import mpmath
import numpy as np
from mpmath import mpf
from polynomial_fits import fit, fit_float, fit_weighted

mpmath.mp.dps = 60
COLUMNS = 118


def hexadecimal(value, precision):
    text = value.hex()
    mantissa, exponent = text.split("p")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{mantissa}p{exponent}" + ("f" if precision == "float" else "")


def emit_weighted(name, argument, what, function, low, high, terms, weight, weighted):
    """Writes one function of doubles; `weighted` says what the error is multiplied by."""
    coefficients, error = fit_weighted(function, low, high, terms, weight)
    note = f"to 2^{float(mpmath.log(error, 2)):.1f}{weighted}"
    write(name, argument, what, [float(value) for value in coefficients], low, high, note, "double")


def emit_float(name, argument, what, function, low, high, terms, weight=lambda x: 1, weighted="", fixed=()):
    """Writes one function of floats; `weighted` says what the error is multiplied by."""
    coefficients, error = fit_float(function, low, high, terms, weight, fixed)
    note = f"to 2^{np.log2(error):.1f}{weighted}"
    write(name, argument, what, coefficients, low, high, note, "float")


def emit(name, argument, what, function, low, high, bits, precision="double"):
    """Writes one function; `bits` is the absolute error asked for, as a power of two."""
    coefficients, error = fit(function, low, high, mpf(2) ** -bits, precision)
    write(name, argument, what, coefficients, low, high, f"to 2^{float(mpmath.log(error, 2)):.1f}", precision)


def write(name, argument, what, coefficients, low, high, note, precision):
    print(f"// {what} for {mpmath.nstr(mpf(low), 4)} <= {argument} <= {mpmath.nstr(mpf(high), 4)}, {note}.")
    head = f"STILLFLOW_INLINE {precision} {name}({precision} {argument}) {{"
    arguments = ", ".join([argument, *(hexadecimal(value, precision) for value in coefficients)])
    call = f"  return Polynomial({arguments});"
    if len(head + call) + 1 <= COLUMNS:
        print(f"{head}{call[1:]} }}\n")
    else:
        print(head)
        print(textwrap.fill(call, COLUMNS, subsequent_indent=" " * len("  return Polynomial(")))
        print("}\n")
    print(name, precision, len(coefficients), file=sys.stderr)


def at_limit(function, limit):
    """`function`, which is 0 / 0 at 0, with its limit there; near 0 more digits make up for cancellation."""

    def value(x):
        if abs(x) < mpf(10) ** -40:
            return mpf(limit)
        with mpmath.workdps(120):
            return function(x)

    return value


def of_square(function, limit):
    """(function(x) - x) / x^3 as a function of x^2."""
    return at_limit(lambda z: (function(mpmath.sqrt(z)) - mpmath.sqrt(z)) / mpmath.sqrt(z) ** 3, limit)


def of_exp(r):
    """What an error of ExpTail is multiplied by."""
    return r * r * mpmath.exp(-r)


LN2 = mpmath.log(2)
EXP_TAIL = at_limit(lambda r: (mpmath.exp(r) - 1 - r) / r**2, 0.5)
LOG_TAIL = at_limit(lambda z: 2 * (mpmath.atanh(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z, mpf(2) / 3)
LOG_TAIL_OF_FLOAT = at_limit(lambda f: (mpmath.log1p(f) - f + f**2 / 2) / f**3, mpf(1) / 3)
TWELFTH = mpf(1 / 12)  # the double
TWO_PART_LOG_TAIL = at_limit(
    lambda z: ((LOG_TAIL(z / 4) / 8) - (TWELFTH if z > 1e-3 else mpf(1) / 12)) / z, mpf(1) / 80
)
POWER_TAIL = at_limit(lambda z: (LOG_TAIL(z) - mpf(2) / 3) / z, mpf(2) / 5)
LARGEST_S = (mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1) * mpf("1.0001")
LARGEST_R = LN2 * mpf("0.6505")
SINH_TAIL = of_square(mpmath.sinh, mpf(1) / 6)
COSH_TAIL = at_limit(lambda z: (mpmath.cosh(mpmath.sqrt(z)) - 1) / z, 0.5)
SIN_TAIL = of_square(mpmath.sin, -mpf(1) / 6)
COS_TAIL = at_limit(lambda z: (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2, mpf(1) / 24)
ANGLE = (mpmath.pi / 4 * mpf("1.001")) ** 2
ERFCX_CENTER = mpf(4)


def erfcx_shape(q):
    """exp(x^2) erfc(x) (1 + 2 x) for x = 4 (1 + q) / (1 - q)."""
    if q == 1:
        return 2 / mpmath.sqrt(mpmath.pi)
    x = ERFCX_CENTER * (1 + q) / (1 - q)
    if x > 1e4:
        return (1 + 2 * x) / (x * mpmath.sqrt(mpmath.pi)) * (1 - 1 / (2 * x**2) + 3 / (4 * x**4) - 15 / (8 * x**6))
    with mpmath.workdps(80):
        return mpmath.exp(x * x) * mpmath.erfc(x) * (1 + 2 * x)


OVER_V_CENTER = mpf("3.5")


def erfcx_over_v(q):
    """exp(x^2) erfc(x) / v for v = c / (x + c), q = 2 v - 1 and c = 3.5."""
    v = (1 + q) / 2
    x = OVER_V_CENTER * (1 - v) / v
    with mpmath.workdps(80):
        return mpmath.exp(x * x) * mpmath.erfc(x) / v


ERFC_SHAPE_AT_ONE = mpf(float.fromhex("0x1.48625ap-1"))  # nearly what S below is


def erfc_shape(t):
    """S = exp(x^2) erfc(x) / v for v = 2 / (x + 2) and t = 2 - 3 v, which is 0 for x = 1."""
    v = (2 - t) / 3
    x = 2 * (1 - v) / v
    with mpmath.workdps(120):
        return mpmath.exp(x * x) * mpmath.erfc(x) / v


def stirling(w):
    if w < mpf(10) ** -12:
        return mpf(1) / 12 - w / 360
    x = 1 / mpmath.sqrt(w)
    with mpmath.workdps(90):
        main = (x - 0.5) * mpmath.log(x) - x + mpmath.log(2 * mpmath.pi) / 2
        return (mpmath.loggamma(x) - main) * x


def digamma_tail(w):
    if w < mpf(10) ** -12:
        return mpf(1) / 12 - w / 120
    x = 1 / mpmath.sqrt(w)
    with mpmath.workdps(90):
        return (mpmath.log(x) - 1 / (2 * x) - mpmath.digamma(x)) / w


with mpmath.workdps(80):
    DIGAMMA_ROOT = mpmath.findroot(mpmath.digamma, mpf("1.46163214496836"))


def digamma_over_root(t):
    with mpmath.workdps(90):
        return mpmath.digamma(1.5 + t) / (1.5 + t - DIGAMMA_ROOT)


def bessel_of_square(order):
    """I0(x) resp. I1(x) / x without its first term, over z = x^2."""
    first = mpf(1) if order == 0 else mpf(0.5)
    limit = mpf(1) / 4 if order == 0 else mpf(1) / 16
    return at_limit(lambda z: (mpmath.besseli(order, mpmath.sqrt(z)) / mpmath.sqrt(z) ** order - first) / z, limit)


def bessel_at_infinity(order):
    """sqrt(x) e^-x I(x) for x = 16 / (1 + q)."""

    def value(q):
        if q < -1 + mpf(10) ** -25:
            return 1 / mpmath.sqrt(2 * mpmath.pi)
        x = 16 / (1 + q)
        return mpmath.sqrt(x) * mpmath.exp(-x) * mpmath.besseli(order, x)

    return value


def temme_rows(orders, count=60):
    """The coefficients of eta^n in C_k(eta) of Temme's expansion of the incomplete gamma functions (DLMF 8.12)."""
    # lambda - 1 = eta + eta^2 / 3 + ..., from (lambda - 1) lambda' = eta lambda.
    alpha = [mpf(0), mpf(1)]
    for n in range(2, count):
        known = sum((n + 1 - m) * alpha[n + 1 - m] * alpha[m] for m in range(2, n))
        alpha.append((alpha[n - 1] - known) / (n + 1))
    # gamma(a) over Stirling's formula, in powers of 1 / a: the exponential of its logarithm's series.
    log_series = [mpf(0)] * (orders + 1)
    for j in range(1, orders // 2 + 2):
        if 2 * j - 1 <= orders:
            log_series[2 * j - 1] = mpmath.bernoulli(2 * j) / (2 * j * (2 * j - 1))
    stirling_series = [mpf(1)]
    for k in range(1, orders + 1):
        stirling_series.append(sum(j * log_series[j] * stirling_series[k - j] for j in range(1, k + 1)) / k)
    rows = [[-mpf(1) / 3] + [(n + 2) * alpha[n + 2] for n in range(1, count - 2)]]
    for k in range(1, orders):
        above = rows[-1]
        sign = (-1) ** k
        rows.append([sign * stirling_series[k] * rows[0][n] + (n + 2) * above[n + 2] for n in range(len(above) - 2)])
    return rows


def emit_temme(orders, least_a, largest_eta, bits):
    """Writes C_k and its derivative, each with the terms that count for a >= least_a."""
    terms = []
    for k, row in enumerate(temme_rows(orders)):
        weights = [abs(value) * mpf(largest_eta) ** n / mpf(least_a) ** k for n, value in enumerate(row)]
        kept = max([n for n, weight in enumerate(weights) if weight > mpf(2) ** -bits] or [0]) + 1
        terms.append(row[:kept])
    width = max(map(len, terms))
    print(f"// The coefficients of eta^n in C_k(eta), for a >= {least_a} and |eta| <= {largest_eta}.")
    print(f"constexpr int kTemmeOrders = {orders};\nconstexpr int kTemmeTerms = {width};")
    print("constexpr double kTemme[kTemmeOrders][kTemmeTerms] = {")
    for row in terms:
        values = ", ".join(hexadecimal(float(value), "double") for value in row)
        print(textwrap.fill(f"{{{values}}},", COLUMNS, initial_indent="    ", subsequent_indent="     "))
    print("};\n")


def emit_double_angles():
    """Writes what sine and tangent of doubles are made of."""
    square = (mpmath.pi / 2 * mpf("1.0001")) ** 2
    tail = at_limit(
        lambda z: (mpmath.sqrt(z) - mpmath.sin(mpmath.sqrt(z))) / mpmath.sqrt(z) ** 3 - 0.125, mpf(1) / 24
    )
    what = "(x - sin(x)) / x^3 - 1/8, z = x^2,"
    weight = at_limit(lambda z: mpmath.sqrt(z) ** 3 / mpmath.sin(mpmath.sqrt(z)), 0)
    emit_weighted("SinTailToHalfPi", "z", what, tail, 0, square, 8, weight, ", times x^3 / sin(x)")
    dividend, divisor, error = fit_tangent(3, 3)
    note = f"with the divisor to 2^{float(mpmath.log(error, 2)):.1f} of tan(x)"
    write("TanDividend", "z", "(tan(x) - x) / x^3 TanDivisor(z), z = x^2,", dividend, 0, ANGLE, note, "double")
    write("TanDivisor", "z", "What TanDividend is divided by", divisor, 0, ANGLE, "1 at 0", "double")


def fit_tangent(dividend_terms, divisor_powers):
    """P and Q = 1 + ... with tan(x) = x + x z P / Q, z = x^2: its largest relative error is least (Lawson)."""
    count = 150
    z = [ANGLE / 2 * (1 - mpmath.cos(mpmath.pi * (i + mpf(0.5)) / count)) for i in range(count)]
    ratios = [mpmath.tan(mpmath.sqrt(v)) / mpmath.sqrt(v) for v in z]
    shares, divisors, least = [mpf(1)] * count, [mpf(1)] * count, mpmath.inf
    for _ in range(15):
        # z P + (1 - ratio) (Q - 1) = ratio - 1, each row by its weight.
        scales = [
            mpmath.sqrt(share) / (divisor * ratio)
            for share, divisor, ratio in zip(shares, divisors, ratios, strict=True)
        ]
        rows = [
            [scale * v ** (k + 1) for k in range(dividend_terms)]
            + [scale * (1 - ratio) * v ** (k + 1) for k in range(divisor_powers)]
            for scale, v, ratio in zip(scales, z, ratios, strict=True)
        ]
        wanted = [scale * (ratio - 1) for scale, ratio in zip(scales, ratios, strict=True)]
        with mpmath.workdps(100):
            solution = list(mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix(wanted)))
        dividend, divisor = solution[:dividend_terms], [mpf(1), *solution[dividend_terms:]]
        divisors = [mpmath.polyval(divisor[::-1], v) for v in z]
        errors = [
            abs((v * mpmath.polyval(dividend[::-1], v) / d + 1) / ratio - 1)
            for v, d, ratio in zip(z, divisors, ratios, strict=True)
        ]
        largest = max(errors)
        if largest < least:
            least, best = largest, ([float(v) for v in dividend], [float(v) for v in divisor])
        shares = [share * (error / largest + mpf("0.001")) for share, error in zip(shares, errors, strict=True)]
        total = sum(shares)
        shares = [share / total for share in shares]
    return *best, least


def of_tanh(r):
    """What tanh(a) = h / (h + 1) makes of an error of HalfExpm1OfTwiceTail, for a = r + n log(2) / 2 > 0."""
    if r == 0:
        return mpf(0)
    halves = [(mpf(2) ** n, mpmath.expm1(2 * r + n * LN2) / 2) for n in range(3)]
    return max(r * r * power / abs(half * (half + 1)) for power, half in halves if half > 0)


def emit_hyperbolic_floats():
    """Writes what sinh, cosh and the inverses of the hyperbolic functions are made of."""
    of_x = ", times z"
    largest = LARGEST_R**2
    emit_float("SinhTail", "z", "(sinh(x) - x) / x^3, z = x^2,", SINH_TAIL, 0, largest, 3, lambda z: z, of_x)
    emit_float("CoshTail", "z", "(cosh(x) - 1) / z, z = x^2,", COSH_TAIL, 0, largest, 3, lambda z: z, of_x)
    asinh_tail = of_square(mpmath.asinh, -mpf(1) / 6)
    emit_float("AsinhTail", "z", "(asinh(x) - x) / x^3, z = x^2,", asinh_tail, 0, 1, 8, lambda z: z, of_x)
    inverse = ", w = 1 / x^2,"
    above = at_limit(lambda w: (mpmath.asinh(1 / mpmath.sqrt(w)) - mpmath.log(2 / mpmath.sqrt(w))) / w, 0.25)
    emit_float("AsinhBeyondLog", "w", f"(asinh(x) - log(2 x)) / w{inverse}", above, 0, 1, 8, lambda w: w, ", times w")
    acosh_tail = at_limit(lambda t: (mpmath.acosh(1 + t) / mpmath.sqrt(2 * t) - 1) / t, -mpf(1) / 12)
    what = "(acosh(1 + t) / sqrt(2 t) - 1) / t"
    emit_float("AcoshTail", "t", what, acosh_tail, 0, 1, 6, lambda t: t, ", times t")
    below = at_limit(lambda w: (mpmath.acosh(1 / mpmath.sqrt(w)) - mpmath.log(2 / mpmath.sqrt(w))) / w, -0.25)
    what = f"(acosh(x) - log(2 x)) / w{inverse}"
    emit_float("AcoshBeyondLog", "w", what, below, 0, 0.25, 5, lambda w: w, ", times w")
    atanh_tail = of_square(mpmath.atanh, mpf(1) / 3)
    emit_float("AtanhTail", "z", "(atanh(x) - x) / x^3, z = x^2,", atanh_tail, 0, 0.25, 6, lambda z: z, of_x)
    emit_float("Log1pOfUpperHalf", "x", "log(1 + x)", mpmath.log1p, 0.5, 1, 7)


def emit_floats():
    """Writes what functions of floats have of their own."""
    of_x = ", times z"
    emit_float("SinTail", "z", "(sin(x) - x) / x^3, z = x^2,", SIN_TAIL, 0, ANGLE, 3, lambda z: z, of_x)
    emit_float("CosTail", "z", "(cos(x) - 1 + z / 2) / z^2, z = x^2,", COS_TAIL, 0, ANGLE, 3, lambda z: z, of_x)
    tan_tail = of_square(mpmath.tan, mpf(1) / 3)
    emit_float("TanTail", "z", "(tan(x) - x) / x^3, z = x^2,", tan_tail, 0, ANGLE, 7, lambda z: z, of_x)
    half = LN2 / 2 * mpf("1.0005")
    weight = ", times r^2"
    emit_float("ShortExpTail", "r", "(e^r - 1 - r) / r^2", EXP_TAIL, -half, half, 5, lambda r: r * r, weight)
    erf = at_limit(lambda z: mpmath.erf(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1, 2 / mpmath.sqrt(mpmath.pi) - 1)
    emit_float("ErfTail", "z", "erf(x) / x - 1, z = x^2,", erf, 0, 0.8836, 7)
    tail, weight = lambda t: (erfc_shape(t) - ERFC_SHAPE_AT_ONE) / t, lambda t: abs(t) / erfc_shape(t)
    what = "(S - S(0)) / t, S = e^(x^2) erfc(x) / v, t = 2 - 3 v,"
    emit_float("ErfcTail", "t", what, tail, -1, 2 - 6 / mpf("11.3"), 10, weight, ", times t / S")
    log2_erfc = at_limit(lambda x: mpmath.log(mpmath.erfc(x), 2) / x, 0)
    weight, weighted = lambda x: mpmath.erfc(x) * x, ", times x erfc(x)"
    emit_float("Log2ErfcOverX", "x", "log2(erfc(x)) / x", log2_erfc, 0.94, 3.95, 6, weight, weighted)
    emit_hyperbolic_floats()
    asin_tail = of_square(mpmath.asin, mpf(1) / 6)
    emit_float("AsinTail", "z", "(asin(x) - x) / x^3, z = x^2,", asin_tail, 0, 0.25, 5, lambda z: z, of_x)
    atan_tail = of_square(mpmath.atan, -mpf(1) / 3)
    emit_float("AtanTail", "z", "(atan(x) - x) / x^3, z = x^2,", atan_tail, 0, 1, 8, lambda z: z, of_x)
    quarter = LN2 / 4 * mpf("1.001")
    twice_tail = at_limit(lambda r: (mpmath.expm1(2 * r) / 2 - r) / r**2, 1)
    what = "((e^2r - 1) / 2 - r) / r^2"
    emit_float("HalfExpm1OfTwiceTail", "r", what, twice_tail, -quarter, quarter, 5, of_tanh, ", of tanh")
    log2_tail = at_limit(lambda f: (mpmath.log1p(f) - f + f**2 / 2 - f**3 / 3 + f**4 / 4) / f**5 / LN2, 1 / (5 * LN2))
    what, weight = "(log2(1 + f) - its series to f^4) / f^5", lambda f: f**4
    emit_float("Log2Tail", "f", what, log2_tail, -mpf(1) / 3, mpf(1) / 3, 9, weight, ", times f^4")
    power = at_limit(lambda r: (2**r - 1) / r, LN2)
    emit_float("Exp2Tail", "r", "(2^r - 1) / r", power, -0.5, 0.5, 6)


HEAD = """\
// approximations.h: the polynomials that elementary functions are made of, written by tools/fit_approximations.py.
//
// Errors are absolute, of the polynomial itself; what rounding adds is told where they are used.
#pragma once

#include "math/polynomial.h"

namespace stillflow {
"""


def main():
    print(HEAD)
    half = LN2 / 2 * mpf("1.0001")
    emit("ExpTail", "r", "(e^r - 1 - r) / r^2", EXP_TAIL, -half, half, 56)
    emit_weighted("ShortExpTail", "r", "(e^r - 1 - r) / r^2", EXP_TAIL, -half, half, 10, of_exp, ", times r^2 / e^r")
    square = LARGEST_S**2
    third = mpf(1) / 3 * mpf("1.0001")
    emit("LogTail", "f", "(log(1 + f) - f + f^2 / 2) / f^3", LOG_TAIL_OF_FLOAT, -third, third, 24, "float")
    emit("LogTail", "z", "(2 atanh(s) - 2 s) / s^3, z = s^2,", LOG_TAIL, 0, square, 52)
    what = "(2 atanh(s) - 2 s) / s^3, z = s^2,"
    emit("WideLogTail", "z", what, LOG_TAIL, 0, mpf("0.0403"), 54)
    emit("PowerTail", "z", "((2 atanh(s) - 2 s) / s^3 - 2/3) / z, z = s^2,", POWER_TAIL, 0, square, 55)
    what = "((log(m) - s) / s^3 - 1/12) / z, s = 2 (m - 1) / (m + 1), z = s^2,"
    emit_weighted("TwoPartLogTail", "z", what, TWO_PART_LOG_TAIL, 0, 4 * square, 7, lambda z: z**2, ", times z^2")
    emit("SinhTail", "z", "(sinh(x) - x) / x^3, z = x^2,", SINH_TAIL, 0, LARGEST_R**2, 55)
    emit("CoshTail", "z", "(cosh(x) - 1) / z, z = x^2,", COSH_TAIL, 0, LARGEST_R**2, 55)
    emit("SinTail", "z", "(sin(x) - x) / x^3, z = x^2,", SIN_TAIL, 0, ANGLE, 56)
    emit("CosTail", "z", "(cos(x) - 1 + z / 2) / z^2, z = x^2,", COS_TAIL, 0, ANGLE, 56)
    emit_double_angles()
    emit("AsinTail", "z", "(asin(x) - x) / x^3, z = x^2,", of_square(mpmath.asin, mpf(1) / 6), 0, 0.25, 55)
    emit("AtanTail", "z", "(atan(x) - x) / x^3, z = x^2,", of_square(mpmath.atan, -mpf(1) / 3), 0, 1, 60)
    emit("ErfcxShape", "q", "e^(x^2) erfc(x) (1 + 2 x), q = (x - 4) / (x + 4),", erfcx_shape, -1, 1, 55)
    lowest = 2 * OVER_V_CENTER / (mpf("26.7") + OVER_V_CENTER) - 1
    what = "e^(x^2) erfc(x) / v, v = 3.5 / (x + 3.5), q = 2 v - 1,"
    emit_weighted("ErfcxOverV", "q", what, erfcx_over_v, lowest, 1, 22, lambda q: 1 / erfcx_over_v(q), ", of 1")
    gamma = at_limit(lambda t: mpmath.loggamma(2 + t) / t, 1 - mpmath.euler)
    emit("LgammaNearTwo", "t", "lgamma(2 + t) / t", gamma, -0.5, 0.5, 56)
    emit("LgammaTail", "w", "(lgamma(x) - Stirling's formula) x, w = 1 / x^2,", stirling, 0, 1 / mpf(8.5) ** 2, 57)
    third = mpf(1) / 3 * mpf("1.0001")
    what = "(log(1 + f) - f + f^2 / 2) / f^3"
    emit("RoughLogTail", "f", what, LOG_TAIL_OF_FLOAT, -third, third, 32)
    emit("RoughLgammaNearTwo", "t", "lgamma(2 + t) / t", gamma, -0.5, 0.5, 34)
    what = "(lgamma(x) - Stirling's formula) x, w = 1 / x^2,"
    emit("RoughLgammaTail", "w", what, stirling, 0, 1 / mpf(3.5) ** 2, 32)
    emit("DigammaNearRoot", "t", "digamma(x) / (x - its root), t = x - 1.5,", digamma_over_root, -0.5, 0.5, 54)
    emit(
        "DigammaTail",
        "w",
        "(log(x) - 1 / (2 x) - digamma(x)) x^2, w = 1 / x^2,",
        digamma_tail,
        0,
        1 / mpf(8.5) ** 2,
        52,
    )
    sin_pi = at_limit(lambda z: mpmath.sin(mpmath.pi * mpmath.sqrt(z)) / mpmath.sqrt(z), mpmath.pi)
    emit("SinPiOverX", "z", "sin(pi x) / x, z = x^2,", sin_pi, 0, 0.25, 54)
    emit("RoughSinPiOverX", "z", "sin(pi x) / x, z = x^2,", sin_pi, 0, 0.25, 34)
    for order in (0, 1):
        what = "(I0(x) - 1) / z" if order == 0 else "(I1(x) / x - 1/2) / z"
        emit(f"BesselI{order}Tail", "z", f"{what}, z = x^2,", bessel_of_square(order), 0, 64, 57)
        what = f"sqrt(x) e^-x I{order}(x), q = 16 / x - 1,"
        emit(f"BesselI{order}AtInfinity", "q", what, bessel_at_infinity(order), -1, 1, 55)
    emit_floats()
    emit_temme(8, 200, 0.4, 58)
    print("}  // namespace stillflow")
    print("root", [float(DIGAMMA_ROOT).hex(), float(DIGAMMA_ROOT - mpf(float(DIGAMMA_ROOT))).hex()], file=sys.stderr)


if __name__ == "__main__":
    main()
