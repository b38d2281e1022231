"""Chains that are one operation: where that applies, and that it changes no bit."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.session import isa
from stillflow.testing import ISAS

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 0.25, -0.25, 3, -3]


def run(build, *arrays, isa_name=None):
    """What build(placeholders) is, and the text of the plan."""
    with tf.Graph().as_default(), tf.Session() as session:
        session._kernels = isa.kernels(isa_name)
        placeholders = [tf.placeholder(array.dtype, array.shape) for array in arrays]
        results = session.run(build(*placeholders), dict(zip(placeholders, arrays, strict=True)))
        return results, list(session._requests.values())[-1].plans[0].text


def bounded_and_clipped(x, most, least):
    bounded = tf.minimum(x, most)
    return [bounded, tf.maximum(bounded, least)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64"])
def test_clipped_values_have_the_bits_of_two_steps(dtype, rng):
    numbers = [int(x) if dtype[0] == "i" and np.isfinite(x) else x for x in SPECIAL]
    numbers = np.array([x for x in numbers if dtype[0] == "f" or np.isfinite(x)]).astype(dtype)
    x = np.concatenate([numbers, rng.normal(0, 5, 1000).astype(dtype)])
    for most in numbers:
        for least in numbers:
            (_, apart), text = run(bounded_and_clipped, x, most, least)
            assert " clip " not in text
            for isa_name in ISAS:
                clipped, text = run(lambda x, a, b: tf.clip_by_value(x, b, a), x, most, least, isa_name=isa_name)
                assert " clip " in text
                assert "minimum" not in text
                assert clipped.tobytes() == apart.tobytes(), (most, least, isa_name)


def test_bounds_that_are_arrays_are_two_steps(rng):
    x, bounds = rng.normal(0, 5, (2, 7)).astype("f")
    clipped, text = run(lambda x, most: tf.clip_by_value(x, -1.0, most), x, bounds)
    assert " clip " not in text
    np.testing.assert_array_equal(clipped, np.maximum(np.minimum(x, bounds), -1))


def test_a_gradient_reads_what_lies_between(rng):
    x = rng.normal(0, 5, 100).astype("f")

    def build(x):
        clipped = tf.clip_by_value(x, -1.0, 2.0)
        return [clipped, tf.gradients(clipped, x)[0]]

    (clipped, gradient), _ = run(build, x)
    np.testing.assert_array_equal(clipped, np.clip(x, -1, 2))
    np.testing.assert_array_equal(gradient, (x >= -1) & (x <= 2))


def test_exclusive_or_is_one_step():
    x, y = np.array([[0, 0, 1, 1] * 50, [0, 1, 0, 1] * 50], bool)
    for isa_name in ISAS:
        result, text = run(tf.logical_xor, x, y, isa_name=isa_name)
        assert "not_equal" in text
        assert "logical" not in text
        assert result.tolist() == (x ^ y).tolist()
    (both, result), text = run(lambda x, y: [tf.logical_and(x, y), tf.logical_xor(x, y)], x, y)
    assert "logical_or" in text
    assert (both.tolist(), result.tolist()) == ((x & y).tolist(), (x ^ y).tolist())


def test_what_is_nearly_an_exclusive_or_stays(rng):
    x, y, z = rng.random((3, 100)) < 0.5
    result, text = run(lambda x, y, z: (x | y) & ~(x & z), x, y, z)
    assert " not_equal " not in text
    assert result.tolist() == ((x | y) & ~(x & z)).tolist()
