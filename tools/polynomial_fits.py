"""Fits of polynomials to functions, in the precision of mpmath that is set."""

from __future__ import annotations

import mpmath
import numpy as np
from mpmath import mpf


def interpolate(function, low, high, terms):
    """Coefficients, lowest first, of the polynomial that equals `function` at Chebyshev's nodes."""
    nodes = [
        (low + high) / 2 + (high - low) / 2 * mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * terms)) for i in range(terms)
    ]
    divided = [function(node) for node in nodes]
    for order in range(1, terms):
        for i in range(terms - 1, order - 1, -1):
            divided[i] = (divided[i] - divided[i - 1]) / (nodes[i] - nodes[i - order])
    coefficients = [divided[-1]]
    for i in range(terms - 2, -1, -1):
        shifted = [mpf(0), *coefficients]
        for power, value in enumerate(coefficients):
            shifted[power] -= nodes[i] * value
        shifted[0] += divided[i]
        coefficients = shifted
    return coefficients


def rounded(value, precision):
    if precision == "float":
        mpmath_bits = mpmath.mp.prec
        mpmath.mp.prec = 24
        value = +value
        mpmath.mp.prec = mpmath_bits
    return float(value)


def largest_error(function, coefficients, low, high):
    """The largest difference on a grid, not counting rounding while it is evaluated."""
    points = [low + (high - low) * (1 - mpmath.cos(mpmath.pi * i / 300)) / 2 for i in range(301)]
    exact = [mpf(value) for value in reversed(coefficients)]
    return max(abs(mpmath.polyval(exact, point) - function(point)) for point in points)


def fit(function, low, high, error, precision):
    low, high = mpf(low), mpf(high)
    for terms in range(2, 40):
        coefficients = interpolate(function, low, high, terms)
        if largest_error(function, coefficients, low, high) < error:
            break
    coefficients = [rounded(value, precision) for value in coefficients]
    return coefficients, largest_error(function, coefficients, low, high)


def fit_float(function, low, high, terms, weight, fixed):
    """The polynomial of floats, `fixed` at its begin, whose largest weighted error is least (Lawson's algorithm)."""
    low, high, count = float(low), float(high), 400
    nodes = np.cos(np.pi * (np.arange(count) + 0.5) / count)
    middle, half = (low + high) / 2, (high - low) / 2
    x = middle + half * nodes
    values = np.array([float(function(mpf(v))) for v in x.tolist()])
    weights = np.array([float(weight(mpf(v))) for v in x.tolist()])
    coefficients = list(fixed)
    while len(coefficients) < terms:
        rest = values - np.polyval(coefficients[::-1] or [0.0], x)
        basis = np.polynomial.chebyshev.chebvander(nodes, terms - len(coefficients) - 1)
        basis *= (x ** len(coefficients))[:, None]
        shares, least = np.full(count, 1 / count), np.inf
        for _ in range(40):
            scale = np.sqrt(shares) * weights
            solution = np.linalg.lstsq(basis * scale[:, None], rest * scale, rcond=None)[0]
            errors = np.abs((basis @ solution - rest) * weights)
            if errors.max() < least:
                least, best = errors.max(), solution
            shares *= errors / errors.max() + 1e-3
            shares /= shares.sum()
        powers = np.polynomial.Polynomial(np.polynomial.chebyshev.cheb2poly(best))
        lowest = powers(np.polynomial.Polynomial([-middle / half, 1 / half])).coef[0]
        coefficients.append(float(np.float32(lowest)))
    return coefficients, np.abs((np.polyval(coefficients[::-1], x) - values) * weights).max()


def chebyshev_sum(coefficients, x):
    next_one = after_next = mpf(0)
    for value in reversed(coefficients[1:]):
        next_one, after_next = 2 * x * next_one - after_next + value, next_one
    return x * next_one - after_next + coefficients[0]


def powers_of_chebyshev(coefficients, middle, half):
    """The same polynomial by powers of x, where Chebyshev's are over (x - middle) / half."""
    result = [mpf(0)] * len(coefficients)
    before, current = [], [mpf(1)]
    for order, value in enumerate(coefficients):
        for power, term in enumerate(current):
            result[power] += value * term
        factor = 1 if order == 0 else 2
        above = [mpf(0)] * (len(current) + 1)
        for power, term in enumerate(current):
            above[power] -= factor * term * middle / half
            above[power + 1] += factor * term / half
        for power, term in enumerate(before):
            above[power] -= term
        before, current = current, above
    return result


def alternating_extremes(errors, count):
    """Where the errors are largest between changes of sign, `count` in a row; fewer if there are fewer."""
    found = []
    for i, error in enumerate(errors):
        if found and (errors[found[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = i
        else:
            found.append(i)
    while len(found) > count:
        pairs = range(len(found) - 1)
        least = min(pairs, key=lambda j: max(abs(errors[found[j]]), abs(errors[found[j + 1]])))
        if len(found) > count + 1:
            del found[least : least + 2]
        else:
            del found[0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1]
    return found


def fit_weighted(function, low, high, terms, weight):
    """The polynomial whose largest weighted error is least, by Remez's exchange on a grid."""
    count = 40 * (terms + 1)
    middle, half = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    nodes = [-mpmath.cos(mpmath.pi * i / count) for i in range(count + 1)]
    values = [function(middle + half * node) for node in nodes]
    weights = [weight(middle + half * node) for node in nodes]
    least_weight = max(weights) * mpf(10) ** -5
    weights = [max(value, least_weight) for value in weights]
    extremes = [round(count * i / terms) for i in range(terms + 1)]
    least = mpmath.inf
    for _ in range(25):
        rows = [
            [mpmath.chebyt(order, nodes[i]) for order in range(terms)] + [(-1) ** row / weights[i]]
            for row, i in enumerate(extremes)
        ]
        *coefficients, level = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix([values[i] for i in extremes]))
        errors = [
            (chebyshev_sum(coefficients, node) - value) * scale
            for node, value, scale in zip(nodes, values, weights, strict=True)
        ]
        largest = max(map(abs, errors))
        if largest < least:
            least, best = largest, coefficients
        extremes = alternating_extremes(errors, terms + 1)
        if largest < abs(level) * mpf("1.01") or len(extremes) <= terms:
            break
    return powers_of_chebyshev(best, middle, half), least
