"""Elementwise ops of one input: values, types, gradients of both orders."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import ISAS, assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built

# What float functions may differ by: TensorFlow's are a few units in the last place off, and its sigmoid is cut
# off where it is small.
TOLERANCE = {np.dtype(np.float32): {"rtol": 2e-6, "atol": 5e-8}, np.dtype(np.float64): {"rtol": 1e-13, "atol": 1e-15}}

# Where each is smooth.
DOMAINS = {
    "abs": (0.3, 2), "square": (-2, 2), "sqrt": (0.3, 2), "rsqrt": (0.3, 2), "reciprocal": (0.3, 2), "inv": (0.3, 2),
    "negative": (-2, 2), "exp": (-2, 2), "expm1": (-2, 2), "log": (0.3, 2), "log1p": (-0.5, 2), "sigmoid": (-3, 3),
    "tanh": (-2, 2), "sinh": (-2, 2), "cosh": (-2, 2), "asinh": (-2, 2), "acosh": (1.3, 3), "atanh": (-0.7, 0.7),
    "sin": (-3, 3), "cos": (-3, 3), "tan": (-1, 1), "asin": (-0.7, 0.7), "acos": (-0.7, 0.7), "atan": (-2, 2),
    "erf": (-2, 2), "erfc": (-2, 2), "lgamma": (0.5, 4), "log_sigmoid": (-2, 2), "sign": (0.3, 2),
}  # fmt: skip
TWICE = "square sqrt rsqrt reciprocal inv exp log sigmoid tanh sin cos atan".split()


@pytest.mark.parametrize(("case", "expected"), cases("elementwise_unary"))
def test_values_are_those_of_tensorflow(case, expected):
    value = evaluate(case)
    if isinstance(expected, str):
        return assert_same(value, expected)
    x = np.asarray(case.inputs[0][1])
    ordinary = ~np.isnan(x) & ((x != 0) | ~np.signbit(x)) if x.dtype.kind == "f" else np.full(x.shape, True)
    return assert_same(value[ordinary], expected[ordinary], **TOLERANCE.get(expected.dtype, {}))


@pytest.mark.parametrize("name", [*(name for name in DOMAINS if name != "sign"), "digamma", "floor", "ceil", "rint"])
def test_nan_stays_nan_and_zero_keeps_its_sign(name):
    x = np.array([np.nan, -0.0, 0.0], np.float32)
    result = evaluate_built(getattr(ops, name), x)
    assert np.isnan(result[0])
    if result[2] == 0 and name not in ("abs", "square", "negative"):
        np.testing.assert_array_equal(np.signbit(result), [np.signbit(result[0]), True, False])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", [*DOMAINS, "floor", "ceil", "rint"])
def test_half_types_are_computed_as_floats_and_rounded_once(name, dtype, rng):
    if name == "log_sigmoid":
        return  # several nodes, each rounded
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    x = rng.uniform(*DOMAINS.get(name, (-9, 9)), 999).astype(numpy_type)
    expected = evaluate_built(getattr(ops, name), x.astype(np.float32)).astype(numpy_type)
    result = evaluate_built(getattr(ops, name), x)
    assert result.dtype == expected.dtype and result.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", ["square", "reciprocal", "floor", "ceil", "rint", "relu"])
def test_every_half_is_computed_as_a_float(name):
    """NaN and denormal ones too."""
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    build = getattr(ops, name)
    with np.errstate(all="ignore"):
        expected = evaluate_built(build, every.astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(evaluate_built(build, every), expected)
    assert_same_bits(build, every)


@pytest.mark.parametrize("isa_name", ISAS)
@pytest.mark.parametrize("name", ["is_nan", "is_inf", "is_finite"])
def test_kinds_of_floats_are_told_by_their_bits(name, isa_name):
    """All exponents, with empty, small and full fractions."""
    bits = np.arange(512, dtype=np.uint32)[:, None] << 23 | np.array([0, 1, 0x400000, 0x7FFFFF], np.uint32)
    x = bits.view(np.float32)
    expected = {"is_nan": np.isnan, "is_inf": np.isinf, "is_finite": np.isfinite}[name](x)
    np.testing.assert_array_equal(evaluate_built(getattr(ops, name), x, isa_name=isa_name), expected)


@pytest.mark.parametrize("name", DOMAINS)
def test_gradient_matches_differences(name, rng):
    check_gradient(getattr(ops, name), rng.uniform(*DOMAINS[name], (3, 4)))


@pytest.mark.parametrize("name", TWICE)
def test_second_gradient_matches_differences(name, rng):
    def gradient(x):
        return tf.gradients(getattr(ops, name)(x), x)[0]

    check_gradient(gradient, rng.uniform(*DOMAINS[name], 5))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", [*DOMAINS, "digamma"])
def test_same_bits_everywhere(name, dtype, rng):
    low, high = DOMAINS.get(name, (0.5, 4))
    assert_same_bits(getattr(ops, name), rng.uniform(low, high, 20011).astype(dtype))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (15,), (16,), (17,)])
def test_any_shape(shape, rng):
    x = rng.uniform(0.5, 2, shape).astype(np.float32)
    np.testing.assert_array_equal(evaluate_built(ops.sqrt, x), np.sqrt(x))


def test_integers_wrap():
    low = np.array([-(2**31), 46341], np.int32)
    assert evaluate_built(ops.negative, low).tolist() == [-(2**31), -46341]
    assert evaluate_built(ops.abs, low)[0] == -(2**31)
    assert evaluate_built(ops.square, low).tolist() == [0, 46341**2 - 2**32]


def test_integers_are_not_rounded():
    x = tf.constant([1, 2])
    assert tf.round(x) is x
    assert evaluate_built(ops.round, np.array([0.5, 1.5, 2.5, -0.5], np.float32)).tolist() == [0, 2, 2, 0]


@pytest.mark.parametrize(
    ("build", "dtype"), [(ops.exp, "int32"), (ops.floor, "int64"), (ops.sqrt, "bool"), (ops.negative, "string")]
)
def test_types_that_an_op_does_not_have_are_refused(build, dtype):
    with pytest.raises(TypeError, match="not in list of allowed values"):
        build(tf.placeholder(dtype))


def test_gradient_at_corners():
    """relu' and abs' are 0 at 0, sqrt' and log' infinite."""
    x = tf.constant([0.0])
    with tf.Session() as session:
        values = session.run([tf.gradients(build(x), x)[0] for build in (tf.abs, tf.sqrt, tf.log, tf.sign)])
    assert [value[0] for value in values] == [0, np.inf, np.inf, 0]
