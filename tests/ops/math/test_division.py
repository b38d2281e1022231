"""Divisions and remainders: values of all types, zero, extremes, bad input."""

import itertools

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import ISAS, assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built

# By zero: TensorFlow returns what is left in a register, or calls it an internal error.
OURS = "InvalidArgumentError: Integer division by zero"


@pytest.mark.parametrize(("case", "expected"), cases("division"))
def test_values_and_errors_are_those_of_tensorflow(case, expected, request):
    value = evaluate(case)
    name = request.node.callspec.id
    if name.endswith("_zero") and name.startswith(("real", "truncate")) and "not in list" not in expected:
        assert value == OURS
    elif isinstance(expected, str) or expected.dtype.kind in "iu":
        assert_same(value, expected)
    else:  # its quotients are products with a reciprocal, and may be one unit off
        assert_same(value, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_extremes_divide_as_python_divides(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max], dtype)
    y = x[x != 0]
    pairs = [(int(a), int(b)) for a in x for b in y]
    remainders = dtype in ("int32", "int64")
    for name, function in (
        ("floor_div", lambda a, b: a // b),
        ("floor_mod", lambda a, b: a % b),
        ("truncate_div", lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
        ("truncate_mod", lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1)),
    ):
        if name.endswith("mod") and not remainders:
            continue
        expected = [(function(a, b) - info.min) % 2**info.bits + info.min for a, b in pairs]
        result = evaluate_built(getattr(ops, name), x[:, None], y)
        assert result.ravel().tolist() == expected


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64"])
def test_quotients_next_to_integers_are_exact_on_every_instruction_set(dtype, rng):
    info = np.iinfo(dtype)
    sizes = (info.bits, 52, 53) if dtype == "int64" else (info.bits,)  # those that fit a double go another way
    for bits in sizes:
        low, high = max(info.min, -(2 ** (bits - 1))), min(info.max, 2 ** (bits - 1) - 1 if info.min else info.max)
        any_y = rng.integers(low, high, 1500, dtype, endpoint=True) >> rng.integers(0, bits, 1500).astype(dtype)
        y = np.where(any_y == 0, 1, any_y).astype(object)
        quotient = np.array([int(rng.integers(low // abs(b), high // abs(b), endpoint=True)) for b in y], object)
        x = np.clip(quotient * y + rng.integers(-1, 2, 1500), low, high)
        towards_zero = np.where((x < 0) == (y < 0), 1, -1).astype(object) * (abs(x) // abs(y))
        expected = {"floor_div": x // y, "truncate_div": towards_zero}
        if dtype in ("int32", "int64"):
            expected |= {"floor_mod": x % y, "truncate_mod": x - towards_zero * y}
        x, y = x.astype(dtype), y.astype(dtype)
        for isa_name, (name, values) in itertools.product(ISAS, expected.items()):
            values = (values - info.min) % 2**info.bits + info.min  # the least by -1 wraps around
            result = evaluate_built(getattr(ops, name), x, y, isa_name=isa_name)
            np.testing.assert_array_equal(result, values, f"{name} of {bits} bits on {isa_name}")
            result = evaluate_built(getattr(ops, name), x[:1], y, isa_name=isa_name)
            assert result[0] == values[0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floats_divide_as_ieee_says(dtype):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    x, y = (np.array(v, numpy_type) for v in ([1, -1, 0, np.nan, 7.5, -7.5], [0, 0, 0, 0, 2, 2]))
    assert_same(evaluate_built(ops.floordiv, x, y), np.array([np.inf, -np.inf, np.nan, np.nan, 3, -4], numpy_type))
    if dtype != "bfloat16":
        assert_same(evaluate_built(ops.div_no_nan, x, y), np.array([0, 0, 0, 0, 3.75, -3.75], numpy_type))
    assert_same(evaluate_built(ops.floor_mod, x, y), np.array([np.nan] * 4 + [1.5, 0.5], numpy_type))


def _dividends_and_divisors(dtype, rng):
    """Moderate numbers, integers, tenths, numbers of all sizes, and multiples of the divisor."""
    count = 300
    kinds = (
        rng.uniform(-40, 40, count),
        rng.integers(-20, 21, count),
        rng.integers(-20, 21, count) * 0.1,
        rng.standard_normal(count) * 10.0 ** rng.uniform(-30, 30, count),
    )
    pairs = [(a, b) for a in kinds for b in kinds] + [(kinds[2] * 7, kinds[2]), (np.copysign(0, kinds[0]), kinds[0])]
    x = np.concatenate([a for a, _ in pairs]).astype(dtype)
    y = np.concatenate([b for _, b in pairs]).astype(dtype)
    return x, np.where(y == 0, dtype(3), y)


@pytest.mark.parametrize("isa_name", ISAS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_remainders_of_floats_are_exact_beside_any_numbers(dtype, isa_name, rng):
    """Blocks of plain numbers are vector code."""
    x, y = _dividends_and_divisors(dtype, rng)
    for special in (None, np.inf, np.nan, 1e38, 1e-37):
        for dividend in (x, y) if special else ():
            dividend[1000] = special
        with np.errstate(all="ignore"):
            truncated = np.fmod(x, y)
            floored = np.where((truncated != 0) & ((truncated < 0) != (y < 0)), truncated + y, truncated)
        for name, expected in (("truncate_mod", truncated), ("floor_mod", floored)):
            value = evaluate_built(getattr(ops, name), x, y, isa_name=isa_name)
            np.testing.assert_array_equal(value, expected)
            is_number = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(value[is_number]), np.signbit(expected[is_number]))


@pytest.mark.parametrize("name", ["real_div", "floor_mod", "div_no_nan", "truncate_mod"])
def test_gradient_matches_differences(name, rng):
    x, y = rng.uniform(3.1, 3.9, (2, 3)), rng.uniform(1.05, 1.45, 3)
    if name != "truncate_mod":
        check_gradient(getattr(ops, name), x, y)


def test_gradient_of_a_division_by_zero_without_nan_is_zero():
    x, y = tf.constant([1.0, 2.0]), tf.constant([0.0, 4.0])
    with tf.Session() as session:
        dx, dy = session.run(tf.gradients(tf.div_no_nan(x, y), [x, y]))
    assert dx.tolist() == [0, 0.25] and dy.tolist() == [0, -0.125]


@pytest.mark.parametrize("name", ["floor_div", "truncate_mod", "div_no_nan"])
def test_same_bits_everywhere(name, rng):
    x, y = rng.uniform(-50, 50, (2, 30011)).astype(np.float32)
    assert_same_bits(getattr(ops, name), x, y)


@pytest.mark.parametrize("name", ["floor_div", "floor_mod"])
def test_one_zero_among_many_is_found_in_any_chunk(name):
    for position in (0, 16383, 16384, 39999):
        y = np.ones(40000, np.int32)
        y[position] = 0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
            evaluate_built(getattr(ops, name), np.ones_like(y), y)


def test_operators():
    i, f = tf.constant([-7, 7]), tf.constant([-7.0, 7.0])
    with tf.Session() as session:
        assert session.run(i // 3).tolist() == [-3, 2]
        assert session.run(i % 3).tolist() == [2, 1]
        assert session.run(i / 2).dtype == np.float64
        assert session.run(f // 2).tolist() == [-4, 3]
        assert session.run(5 // i).tolist() == [-1, 0]
    with pytest.raises(TypeError, match="must have the same dtype"):
        tf.truediv(i, f)
