"""Batch normalization in one op: values, formats, gradients and their gradients, accuracy, bad input, bits."""

import ml_dtypes
import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import errors
from stillflow.testing import assert_same_bits, new_session
from stillflow.testing import evaluate as evaluate_built

SHAPES = [(2, 3, 5, 4), (1, 1, 1, 3), (3, 7, 9, 1), (2, 9, 11, 35), (1, 16, 17, 130), (5, 13, 1, 3)]


@pytest.mark.parametrize(("case", "expected"), cases("fused_batch_norm"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    tolerance = {}
    if not isinstance(expected, str):
        tolerance = {"rtol": 2e-3, "atol": 2e-3} if expected.dtype == np.float16 else {"rtol": 3e-5, "atol": 3e-5}
    assert_same(evaluate(case), expected, **tolerance)


def operands(rng, shape, dtype=np.float32):
    """x, scale, offset, mean, variance, a gradient of y."""
    x, g = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    vectors = [rng.uniform(0.5, 2, shape[-1]).astype(np.float32) for _ in range(4)]
    return x, *vectors, g


def all_outputs(is_training, data_format="NHWC"):
    def build(x, scale, offset, mean, variance, g):
        given = {} if is_training else {"mean": mean, "variance": variance}
        outputs = tf.nn.fused_batch_norm(x, scale, offset, data_format=data_format, is_training=is_training, **given)
        firsts = tf.gradients(outputs[0], [x, scale, offset], g)
        return [*outputs, *firsts, *tf.gradients([tf.sin(first) for first in firsts], [x, scale, g])]

    return build


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_the_same_everywhere(shape, is_training, rng):
    assert_same_bits(all_outputs(is_training), *operands(rng, shape))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_bits_of_half_types(dtype, rng):
    assert_same_bits(all_outputs(True), *operands(rng, SHAPES[3], dtype))


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_formats_have_the_same_bits(shape, is_training, rng):
    x, *vectors, g = operands(rng, shape)
    last = evaluate_built(all_outputs(is_training), x, *vectors, g)
    turned = [array.transpose(0, 3, 1, 2).copy() for array in (x, g)]
    first = evaluate_built(all_outputs(is_training, "NCHW"), turned[0], *vectors, turned[1])
    for a, b in zip(first[:6], last, strict=False):
        np.testing.assert_array_equal(a.transpose(0, 2, 3, 1) if a.ndim == 4 else a, b)
    for a, b in zip(first[6:], last[6:], strict=True):
        np.testing.assert_allclose(a.transpose(0, 2, 3, 1) if a.ndim == 4 else a, b, rtol=1e-4, atol=1e-5)


def test_moments_of_many_rows_far_from_zero_are_accurate(rng):
    x = (rng.standard_normal((16, 64, 64, 3)) + [1000.0, -30.0, 0.0]).astype(np.float32)
    one, zero = np.ones(3, np.float32), np.zeros(3, np.float32)
    y, mean, variance = evaluate_built(lambda x, s, o: tf.nn.fused_batch_norm(x, s, o), x, one, zero)
    rows = x.reshape(-1, 3).astype(np.float64)
    np.testing.assert_allclose(mean, rows.mean(0), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(variance, rows.var(0, ddof=1), rtol=1e-6)
    np.testing.assert_allclose(y.reshape(-1, 3).std(0), 1, rtol=1e-3)


def test_gradients_are_slopes(rng):
    x, scale, offset, _, _, g = operands(rng, (3, 2, 2, 2))

    def loss(x, scale, offset):
        return evaluate_built(
            lambda x, s, o, g: tf.reduce_sum(g * tf.nn.fused_batch_norm(x, s, o)[0]), x, scale, offset, g
        )

    arrays = [x, scale, offset]
    grads = evaluate_built(
        lambda x, s, o, g: tf.gradients(tf.nn.fused_batch_norm(x, s, o)[0], [x, s, o], g), *arrays, g
    )
    for i, grad in enumerate(grads):
        direction = rng.standard_normal(grad.shape).astype(np.float32)
        ahead, behind = (
            [a + sign * 1e-2 * direction if i == j else a for j, a in enumerate(arrays)] for sign in (1, -1)
        )
        slope = (float(loss(*ahead)) - float(loss(*behind))) / 2e-2
        assert abs(slope - (grad * direction).sum()) < 2e-2 * (1 + abs(slope))


def test_what_inference_was_given_comes_back(rng):
    x, scale, offset, mean, variance, _ = operands(rng, SHAPES[0])
    _, given_mean, given_variance = evaluate_built(
        lambda *a: tf.nn.fused_batch_norm(*a, is_training=False), x, scale, offset, mean, variance
    )
    np.testing.assert_array_equal(given_mean, mean)
    np.testing.assert_array_equal(given_variance, variance)


def test_no_rows_have_gradients_of_zeros():
    x, one = np.zeros((0, 2, 2, 3), np.float32), np.ones(3, np.float32)
    y, *grads = evaluate_built(
        lambda x, s: [y := tf.nn.fused_batch_norm(x, s, s)[0], *tf.gradients(y, [x, s])], x, one
    )
    assert (y.shape, grads[0].shape) == (x.shape, x.shape)
    np.testing.assert_array_equal(grads[1], np.zeros(3))


def test_no_channels():
    x, none = np.zeros((2, 2, 2, 0), np.float32), np.zeros(0, np.float32)
    assert evaluate_built(lambda x, s: tf.nn.fused_batch_norm(x, s, s)[0], x, none).shape == x.shape


@pytest.mark.parametrize("name", ["scale", "mean"])
def test_other_numbers_of_channels_are_refused(name):
    with new_session() as session:
        x = tf.placeholder(tf.float32)
        vectors = {part: tf.ones(4 if part == name else 3) for part in ("scale", "mean")}
        y = tf.nn.fused_batch_norm(
            x, tf.placeholder_with_default(vectors["scale"], None), tf.ones(3),
            tf.placeholder_with_default(vectors["mean"], None), tf.ones(3), is_training=False,
        )  # fmt: skip
        message = f"{name} must have the same number of elements as the channels of x, got 4 and 3"
        with pytest.raises(errors.InvalidArgumentError, match=message):
            session.run(y, {x: np.zeros((1, 2, 2, 3))})
