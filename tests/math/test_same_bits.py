"""Every elementary function has the same bits in every instruction set and for every number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from stillflow import ops
from stillflow.testing import assert_same_bits

ONE_ARGUMENT = (
    "exp expm1 log log1p sigmoid softplus tanh sinh cosh asinh acosh atanh sin cos tan asin acos atan erf erfc "
    "lgamma digamma bessel_i0e bessel_i1e sqrt rsqrt elu selu softsign"
).split()
TWO_ARGUMENTS = ("pow", "atan2", "xlogy", "zeta", "polygamma", "igamma", "igammac", "igamma_grad_a")
# Longer than a chunk, and not a multiple of any vector.
COUNT = 16384 + 4096 + 13


def any_numbers(dtype, seed):
    """Random bits, moderate numbers, and every special number beside others."""
    rng = np.random.RandomState(seed)
    size = np.dtype(dtype).itemsize
    bits = np.frombuffer(rng.bytes(COUNT // 2 * size), dtype)
    moderate = rng.standard_normal(COUNT - len(bits)) * 10.0 ** rng.uniform(-4, 3, COUNT - len(bits))
    x = rng.permutation(np.concatenate([bits, moderate.astype(dtype)]))
    limits = np.finfo(np.float32 if size == 2 else dtype)
    special = [
        0.0,
        -0.0,
        1,
        -1,
        0.5,
        -0.5,
        2,
        3,
        -3,
        np.inf,
        -np.inf,
        np.nan,
        limits.max,
        limits.tiny,
        limits.tiny / 4,
    ]
    with np.errstate(all="ignore"):
        x[rng.permutation(COUNT)[: 20 * len(special)]] = np.array(special * 20, dtype)
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_one_argument(name, dtype):
    assert_same_bits(getattr(ops, name), any_numbers(dtype, 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", TWO_ARGUMENTS)
def test_two_arguments(name, dtype):
    assert_same_bits(getattr(ops, name), any_numbers(dtype, 2), any_numbers(dtype, 3))


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_element_does_not_depend_on_its_neighbours(count, dtype):
    """Vector lanes and scalar tails do the same."""
    from stillflow.testing import evaluate

    x = any_numbers(dtype, 4)[:65]
    for name in ("exp", "log", "tanh", "sin", "erf", "lgamma"):
        together = evaluate(getattr(ops, name), x)
        assert evaluate(getattr(ops, name), x[:count]).tobytes() == together[:count].tobytes(), name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_power_does_not_depend_on_special_ones_beside_it(dtype):
    """Blocks of plain numbers are worked on without the special cases."""
    from stillflow.testing import evaluate

    rng = np.random.RandomState(5)
    x, y = (rng.standard_normal((2, 1000)) * 3).astype(dtype)
    x = np.abs(x)
    plain = evaluate(ops.pow, x, y)
    for position in (0, 255, 256, 999):
        mixed = x.copy()
        mixed[position] = -1.5
        others = np.arange(1000) != position
        assert evaluate(ops.pow, mixed, y)[others].tobytes() == plain[others].tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tan"])
def test_a_value_does_not_depend_on_special_ones_beside_it(name, dtype):
    """Nor on whether the result takes the place of the argument."""
    from stillflow.testing import evaluate

    function = getattr(ops, name)
    x = np.random.RandomState(6).uniform(0.1, 80, 3000).astype(dtype)
    specials = np.array([0.0, -0.0, -1, np.inf, -np.inf, np.nan, 1e30, -1e30, 720, -720, 1e-39, 88.75, -87.4], dtype)
    positions = [0, 5, 1023, 1024, 1500, 1501, 1502, 2047, 2048, 2500, 2900, 2998, 2999]
    expected = evaluate(function, x)
    x[positions] = specials
    expected[positions] = [evaluate(function, special[None])[0] for special in specials]
    assert evaluate(function, x).tobytes() == expected.tobytes()
    assert evaluate(lambda a: function(a * 1), x).tobytes() == expected.tobytes()
