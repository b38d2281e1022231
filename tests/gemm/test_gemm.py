"""Matrix products: every element is one chain of fused multiply-adds over k, in every instruction set."""

import itertools
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from fused_arithmetic import fused

from stillflow import ops
from stillflow.testing import COMBINATIONS, ISAS, assert_same_bits, run_kernel

TRANSPOSES = list(itertools.product((False, True), repeat=2))
EDGES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 15, 16, 17, 28, 29, 31, 32, 33, 47, 63, 64, 65, 100, 129)
FLOAT_NAN = np.array(0x7FC00000, np.uint32).view(np.float32)


def chain(a, b):
    """The product of two float32 matrices as the rule says, NaN canonical."""
    with np.errstate(all="ignore"):
        total = np.zeros((a.shape[0], b.shape[1]), np.float32)
        for k in range(a.shape[1]):
            total = fused(a[:, k : k + 1], b[k : k + 1], total)
    return np.where(np.isnan(total), FLOAT_NAN, total)


def multiply(a, b, transposes=(False, False), **how):
    """a b by the kernel, each factor handed over as it is or transposed."""
    laid_out = [
        np.ascontiguousarray(x.T if is_turned else x) for x, is_turned in zip((a, b), transposes, strict=True)
    ]
    return run_kernel("matmul", *laid_out, attrs=tuple(map(int, transposes)), **how)


def assert_equal_bits(actual, expected, what):
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype
    assert actual.tobytes() == expected.tobytes(), what


def factors(rng, m, k, n, dtype=np.float32):
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return tuple(rng.integers(limits.min, limits.max, shape, dtype, endpoint=True) for shape in ((m, k), (k, n)))
    return rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)


def test_the_reference_rounds_once(rng):
    """Against rational arithmetic, where two roundings would often differ."""
    a, b, c = (rng.standard_normal(2000).astype(np.float32) for _ in range(3))
    c *= np.exp2(rng.integers(-30, 30, 2000)).astype(np.float32)
    for x, y, z, result in zip(a, b, c, fused(a, b, c), strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        neighbours = [np.nextafter(result, np.float32(way)) for way in (-np.inf, np.inf)]
        distance = abs(Fraction(float(result)) - exact)
        assert all(distance <= abs(Fraction(float(other)) - exact) for other in neighbours)


@pytest.mark.parametrize("transposes", TRANSPOSES)
@pytest.mark.parametrize("isa_name", ISAS)
def test_sizes_around_tiles(isa_name, transposes, rng):
    for _ in range(150):
        m, k, n = (int(size) for size in rng.choice(EDGES, 3))
        a, b = factors(rng, m, k, n)
        actual = multiply(a, b, transposes, isa_name=isa_name)
        assert_equal_bits(actual, chain(a, b), (m, k, n))


@pytest.mark.parametrize("transposes", TRANSPOSES)
@pytest.mark.parametrize(
    "sizes",
    [(1, 300, 700), (700, 300, 1), (3, 600, 300), (300, 700, 2), (170, 300, 290), (400, 1100, 90), (64, 5000, 33)],
)
def test_sizes_around_blocks(sizes, transposes, rng):
    a, b = factors(rng, *sizes)
    expected = chain(a, b)
    for isa_name in ISAS:
        assert_equal_bits(multiply(a, b, transposes, isa_name=isa_name), expected, isa_name)


@pytest.mark.parametrize("sizes", [(2500, 40, 50), (40, 50, 2500), (950, 2100, 70)])
def test_several_blocks(sizes, rng):
    """Rows, columns and k that do not fit into one packed block."""
    a, b = factors(rng, *sizes)
    rows = rng.choice(sizes[0], 8)
    expected = chain(a[rows], b)
    for transposes, isa_name in itertools.product(TRANSPOSES, ISAS):
        actual = multiply(a, b, transposes, isa_name=isa_name)
        assert_equal_bits(actual[rows], expected, (transposes, isa_name))


@pytest.mark.parametrize("sizes", [(5, 9, 7), (1, 20, 1), (15, 3, 10), (2, 19, 18), (34, 18, 2)])
def test_doubles_are_fused_chains(sizes, rng):
    a, b = factors(rng, *sizes, np.float64)
    expected = np.zeros((sizes[0], sizes[2]))
    for i, j in np.ndindex(expected.shape):
        for k in range(sizes[1]):
            # Python divides integers with one rounding, to nearest even.
            expected[i, j] = float(Fraction(a[i, k]) * Fraction(b[k, j]) + Fraction(expected[i, j]))
    for transposes, isa_name in itertools.product(TRANSPOSES, ISAS):
        assert_equal_bits(multiply(a, b, transposes, isa_name=isa_name), expected, (transposes, isa_name))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (7, 5, 9), (2, 37, 70), (70, 33, 2), (33, 70, 47), (130, 300, 140)])
def test_integers_wrap_around(sizes, dtype, rng):
    a, b = factors(rng, *sizes, dtype)
    for transposes, isa_name in itertools.product(TRANSPOSES, ISAS):
        assert_equal_bits(multiply(a, b, transposes, isa_name=isa_name), a @ b, (transposes, isa_name))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (7, 5, 9), (33, 70, 47), (4, 3000, 5)])
def test_16_bit_floats_are_rounded_once(sizes, dtype, rng):
    a, b = factors(rng, *sizes, dtype)
    expected = chain(a.astype(np.float32), b.astype(np.float32)).astype(dtype)
    for transposes, isa_name in itertools.product(TRANSPOSES, ISAS):
        assert_equal_bits(multiply(a, b, transposes, isa_name=isa_name), expected, (transposes, isa_name))


@pytest.mark.parametrize("sizes", [(83, 255, 63), (85, 257, 65), (170, 600, 530), (2, 700, 900), (600, 300, 2)])
def test_panels_of_a_source_meet_at_their_edges(sizes, rng):
    """Factors that are widened come panel by panel, in either order: the product is that of the wide matrices."""
    a, b = factors(rng, *sizes, np.float16)
    expected = multiply(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    for transposes, isa_name in itertools.product(TRANSPOSES, ISAS):
        assert_equal_bits(multiply(a, b, transposes, isa_name=isa_name), expected, (transposes, isa_name))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.int64])
@pytest.mark.parametrize("sizes", [(0, 3, 4), (3, 4, 0), (3, 0, 4), (0, 0, 0), (40, 0, 70), (1, 0, 1)])
def test_empty_factors(sizes, dtype):
    m, k, n = sizes
    for transposes in TRANSPOSES:
        actual = multiply(np.ones((m, k), dtype), np.ones((k, n), dtype), transposes)
        assert_equal_bits(actual, np.zeros((m, n), dtype), transposes)


@pytest.mark.parametrize("sizes", [(3, 1, 5), (20, 30, 40), (33, 257, 35)])
def test_infinities_zeros_and_nan(sizes, rng):
    a, b = factors(rng, *sizes)
    for x in (a, b):
        for value, count in ((np.inf, 1), (-np.inf, 1), (np.nan, 1), (-0.0, 4), (3e38, 2)):
            x.flat[rng.choice(x.size, count)] = value
    expected = chain(a, b)
    assert np.isnan(expected).any()
    for transposes, isa_name in itertools.product(TRANSPOSES, ISAS):
        assert_equal_bits(multiply(a, b, transposes, isa_name=isa_name), expected, (transposes, isa_name))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64])
@pytest.mark.parametrize("sizes", [(300, 200, 310), (2, 700, 900), (900, 700, 1)])
def test_threads_and_instruction_sets_agree(sizes, dtype, rng):
    a, b = factors(rng, *sizes, dtype)
    for transposes in TRANSPOSES:
        expected = multiply(a, b, transposes, isa_name=ISAS[0], threads=1)
        for isa_name, threads in COMBINATIONS:
            actual = multiply(a, b, transposes, isa_name=isa_name, threads=threads)
            assert_equal_bits(actual, expected, (transposes, isa_name, threads))


def test_sessions_agree(rng):
    assert_same_bits(ops.mat_mul, *factors(rng, 100, 784, 256))


@pytest.mark.parametrize("sizes", [(3, 5, 7), (100, 70, 130)])
def test_batches_are_single_products(sizes, rng):
    """A product inside another loop over chunks; its own chunks then run on the same thread or on idle ones."""
    m, k, n = sizes
    a = rng.standard_normal((6, m, k)).astype(np.float32)
    b = rng.standard_normal((6, k, n)).astype(np.float32)
    expected = np.stack([multiply(x, y, threads=1) for x, y in zip(a, b, strict=True)])
    for isa_name, threads in COMBINATIONS:
        actual = run_kernel("batch_matmul", a, b, attrs=(0, 0, 0), isa_name=isa_name, threads=threads)
        assert_equal_bits(actual, expected, (isa_name, threads))
