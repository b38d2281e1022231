"""Means, variances and norms: values, types, gradients, bad arguments."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient, evaluate, of_unknown_shape


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("axes", [[0], [1], [-1], [0, 2], [0, 1, 2]])
def test_moments_match_numpy(axes, keeps, rng):
    x = rng.normal(3, 2, (3, 4, 5))
    mean, variance = evaluate(lambda x: tf.nn.moments(x, axes, keep_dims=keeps), x)
    np.testing.assert_allclose(mean, x.mean(tuple(axes), keepdims=keeps))
    np.testing.assert_allclose(variance, x.var(tuple(axes), keepdims=keeps))


@pytest.mark.parametrize("keeps", [False, True])
def test_weighted_moments_match_repeated_elements(keeps, rng):
    x = rng.normal(3, 2, (4, 3))
    counts = np.array([[1], [3], [0], [2]])
    mean, variance = evaluate(lambda x, w: tf.nn.weighted_moments(x, [0], w, keepdims=keeps), x, counts)
    repeated = np.repeat(x, counts[:, 0], 0)
    np.testing.assert_allclose(mean, repeated.mean(0, keepdims=keeps))
    np.testing.assert_allclose(variance, repeated.var(0, keepdims=keeps))


def test_halves_are_computed_in_float32(rng):
    x = rng.normal(300, 2, (1000, 2)).astype(np.float16)
    for mean, variance in (
        evaluate(lambda x: tf.nn.moments(x, [0]), x),
        evaluate(lambda x: tf.nn.weighted_moments(x, [0], tf.ones([1000, 1])), x),
    ):
        assert mean.dtype == variance.dtype == np.float16
        np.testing.assert_allclose(mean, x.astype(np.float64).mean(0), rtol=1e-3)
        np.testing.assert_allclose(variance, x.astype(np.float64).var(0), rtol=1e-2)


@pytest.mark.parametrize("shift", [None, 2.5])
@pytest.mark.parametrize("is_known", [True, False])
def test_sufficient_statistics_give_the_moments(shift, is_known, rng):
    x = rng.normal(3, 2, (3, 4, 5))

    def build(x):
        x = x if is_known else of_unknown_shape(x)
        offset = None if shift is None else tf.constant(shift, tf.float64)
        statistics = tf.nn.sufficient_statistics(x, [0, 2], offset)
        return [*statistics[:3], *tf.nn.normalize_moments(*statistics)]

    count, total, squares, mean, variance = evaluate(build, x)
    moved = x - (shift or 0)
    assert count == 15
    np.testing.assert_allclose(total, moved.sum((0, 2)))
    np.testing.assert_allclose(squares, (moved**2).sum((0, 2)))
    np.testing.assert_allclose(mean, x.mean((0, 2)))
    np.testing.assert_allclose(variance, x.var((0, 2)))


@pytest.mark.parametrize("offset", [None, 0.5])
@pytest.mark.parametrize("scale", [None, 2.0])
def test_batch_normalization(offset, scale, rng):
    x = rng.normal(3, 2, (6, 3)).astype(np.float32)
    mean, variance = x.mean(0), x.var(0)
    result = evaluate(lambda x, m, v: tf.nn.batch_normalization(x, m, v, offset, scale, 1e-3), x, mean, variance)
    expected = (x - mean) / np.sqrt(variance + 1e-3) * (scale or 1) + (offset or 0)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("axis", [None, 0, 1, [0, 1]])
def test_l2_normalize(axis, rng):
    x = rng.normal(size=(4, 3))
    result = evaluate(lambda x: tf.nn.l2_normalize(x, axis), x)
    axes = tuple(axis) if isinstance(axis, list) else axis
    np.testing.assert_allclose(result, x / np.sqrt((x**2).sum(axes, keepdims=True)))


def test_short_vectors_are_not_blown_up():
    result = evaluate(lambda x: tf.nn.l2_normalize(x, 1, epsilon=0.25), np.array([[0, 0], [0.1, 0]], np.float32))
    np.testing.assert_allclose(result, [[0, 0], [0.2, 0]], rtol=1e-6)


def test_gradients(rng):
    x = rng.normal(size=(3, 4))
    check_gradient(lambda x: tf.nn.l2_normalize(x, 1), x)
    check_gradient(lambda x: tf.nn.moments(x, [0])[1], x)
    check_gradient(lambda x, w: tf.nn.weighted_moments(x, [0], w)[1], x, rng.uniform(1, 2, (3, 1)))
    arguments = [x, rng.normal(size=4), rng.uniform(1, 2, 4), rng.normal(size=4), rng.normal(size=4)]
    check_gradient(lambda *args: tf.nn.batch_normalization(*args, 0.1), *arguments)


def test_old_and_new_names_exclude_each_other():
    x = tf.constant([[1.0]])
    with pytest.raises(ValueError, match="Cannot specify both 'keep_dims' and 'keepdims'"):
        tf.nn.moments(x, [0], keep_dims=True, keepdims=True)
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        tf.nn.l2_normalize(x, axis=0, dim=0)


def test_same_bits(rng):
    x = rng.normal(3, 2, (500, 70)).astype(np.float32)
    assert_same_bits(lambda x: [*tf.nn.moments(x, [0]), *tf.nn.moments(x, [1]), tf.nn.l2_normalize(x, 1)], x)
