"""Cast: all pairs of types, strings, gradients, known values, saturate_cast."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built


@pytest.mark.parametrize(("case", "expected"), cases("cast"))
def test_every_pair_of_types_casts_as_in_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


@pytest.mark.parametrize("target", ["float16", "bfloat16"])
def test_every_half_rounds_to_nearest_even(target):
    """All exponents and signs, with what is cut off below, at and above the middle."""
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    low = np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    x = (high[:, None] | low).view(np.float32)
    numpy_type = tf.as_dtype(target).as_numpy_dtype
    with np.errstate(all="ignore"):
        expected = x.astype(numpy_type)
    is_denormal = np.abs(x) < np.finfo(np.float32).tiny  # flushed to zero by some instruction sets, by design
    result = evaluate_built(lambda t: ops.cast(t, target), x)
    same = (result == expected) | (np.isnan(x) & np.isnan(result)) | is_denormal
    assert np.all(same)


@pytest.mark.parametrize("source", ["float16", "bfloat16"])
def test_every_half_widens_exactly(source):
    x = np.arange(1 << 16, dtype=np.uint16).view(tf.as_dtype(source).as_numpy_dtype)
    expected = x.astype(np.float32)
    is_normal = (np.abs(expected) >= np.finfo(np.float32).tiny) | (expected == 0)
    result = evaluate_built(lambda t: ops.cast(t, "float32"), x)
    np.testing.assert_array_equal(result[is_normal], expected[is_normal])


@pytest.mark.parametrize(
    ("source", "target"), [("float32", "int32"), ("float32", "bfloat16"), ("float64", "float16")]
)
def test_same_bits_everywhere(source, target, rng):
    assert_same_bits(lambda x: ops.cast(x, target), (rng.standard_normal(40001) * 1e3).astype(source))


def test_every_half_has_the_same_bits_as_a_float_everywhere():
    bits = np.arange(1 << 16, dtype=np.uint32)
    x = bits.astype(np.uint16).view(np.float16)
    assert_same_bits(lambda t: ops.cast(t, "float32"), x)
    result = evaluate_built(lambda t: ops.cast(t, "float32"), x).view(np.uint32)
    is_nan = np.isnan(x)
    np.testing.assert_array_equal(result[~is_nan], x.astype(np.float32).view(np.uint32)[~is_nan])
    nans = bits[is_nan]  # their bits stay, those that signal included
    np.testing.assert_array_equal(result[is_nan], nans >> 15 << 31 | 0x7F800000 | (nans & 0x3FF) << 13)


def test_floats_of_every_kind_have_the_same_bits_as_halves_everywhere():
    high = np.arange(1 << 16, dtype=np.uint32) << 16
    x = (high[:, None] | np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x2FFF, 0x3000], np.uint32)).view(np.float32)
    assert_same_bits(lambda t: ops.cast(t, "float16"), x)
    result = evaluate_built(lambda t: ops.cast(t, "float16"), x).view(np.uint16)
    np.testing.assert_array_equal(result[np.isnan(x)], np.signbit(x[np.isnan(x)]) * 0x8000 + 0x7E00)


@pytest.mark.parametrize(
    "other", ["float32", "float64", "bfloat16", "int64", "int16", "int8", "uint64", "uint8", "bool"]
)
def test_halves_of_any_count_are_cast_as_floats_are(other, rng):
    for count in [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 65, 255, 256, 257, 1000]:
        x = np.abs(rng.standard_normal(count) * 50).astype(np.float16) * np.float16(1 if other == "uint64" else -1)
        expected = evaluate_built(lambda t: ops.cast(t, other), x.astype(np.float32))
        assert_same(evaluate_built(lambda t: ops.cast(t, other), x), expected)
        back = evaluate_built(lambda t: ops.cast(t, "float16"), expected)
        np.testing.assert_array_equal(back, expected.astype(np.float16))
    assert_same_bits(lambda t: ops.cast(t, other), x)
    assert_same_bits(lambda t: ops.cast(t, "float16"), expected)


@pytest.mark.parametrize("target", ["float32", "float64", "bfloat16", "int64", "int8", "uint16", "float16"])
def test_bools_become_zero_and_one(target, rng):
    for count in [1, 31, 64, 65, 1000]:
        x = rng.integers(0, 2, count).astype(bool)
        expected = x.astype(tf.as_dtype(target).as_numpy_dtype)
        assert_same(evaluate_built(lambda t: ops.cast(t, target), x), expected)


@pytest.mark.parametrize("count", [1, 16, 33, 700])
def test_nan_in_operations_on_halves_has_the_same_bits_everywhere(count):
    x = np.resize(np.array([1, np.nan, -np.nan, np.inf, 65504, 6e-8], np.float16), count)
    for build in (tf.exp, tf.tanh, lambda t: t + 1, lambda t: t * t):
        assert_same_bits(build, x)


def test_strings_are_not_cast():
    with pytest.raises((ValueError, tf.errors.OpError)), tf.Session() as session:
        session.run(tf.cast(tf.constant(["1"]), tf.float32))


def test_gradients_go_through_floating_types_alone():
    check_gradient(lambda x: ops.cast(ops.cast(x, "float64"), "float64") * x, np.array([1.0, -2.0]))
    x = tf.constant([1.0, 2.0])
    assert tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x) == [None]
    grad = tf.gradients(tf.cast(x, tf.float64), x)[0]
    assert grad.dtype == tf.float32


def test_a_cast_to_the_same_type_is_no_node():
    x = tf.constant(1.0)
    assert tf.cast(x, tf.float32) is x


def test_slices_are_cast_in_their_values():
    slices = tf.IndexedSlices(tf.constant([1.5, 2.5]), tf.constant([0, 3]))
    cast = tf.cast(slices, tf.int32)
    assert isinstance(cast, tf.IndexedSlices) and cast.indices is slices.indices
    with tf.Session() as session:
        assert session.run(cast.values).tolist() == [1, 2]


def test_saturate_cast_keeps_what_does_not_fit_at_the_limits():
    values = np.array([-1e9, -1.0, 0.5, 255.0, 256.0, 1e9], np.float32)
    result = evaluate_built(lambda x: ops.saturate_cast(x, "uint8"), values)
    assert result.tolist() == [0, 0, 0, 255, 255, 255] and result.dtype == np.uint8
    result = evaluate_built(lambda x: ops.saturate_cast(x, "int8"), np.array([-(2**40), 7, 2**40]))
    assert result.tolist() == [-128, 7, 127]


def test_unknown_types_are_refused():
    with pytest.raises(TypeError):
        tf.cast(1.0, "float31")


@pytest.mark.parametrize(
    ("value", "target", "names"), [([1, 2], "string", "int32 to string"), (["a"], "float32", "string to float")]
)
def test_text_is_not_cast(value, target, names):
    with pytest.raises(tf.errors.UnimplementedError, match=f"Cast {names} is not supported"):
        evaluate_built(lambda: tf.cast(tf.constant(value), target))
