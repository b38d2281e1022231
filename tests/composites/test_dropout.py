"""dropout: what is dropped and what is left, noise shapes, seeds, gradients, bad arguments, bits."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, evaluate, of_unknown_shape


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_elements_are_dropped_or_scaled(rate, dtype):
    x = np.full((200, 50), 3, dtype)
    result = evaluate(lambda x: tf.nn.dropout(x, rate=rate, seed=1), x)
    assert result.dtype == dtype
    kept = result != 0
    np.testing.assert_allclose(result[kept], 3 / (1 - rate), rtol=2e-3)
    assert abs(kept.mean() - (1 - rate)) < 0.02


def test_keep_prob_says_the_same():
    x = np.ones((40, 40), np.float32)
    by_rate = evaluate(lambda x: tf.nn.dropout(x, rate=0.25, seed=1), x)
    by_keep_prob = evaluate(lambda x: tf.nn.dropout(x, 0.75, seed=1), x)
    np.testing.assert_array_equal(by_rate, by_keep_prob)


@pytest.mark.parametrize(("noise_shape", "repeats"), [([20, 1], 1), ([1, 30], 0), ([None, 1], 1), ([20, 1, 1], None)])
def test_noise_may_be_shared(noise_shape, repeats):
    x = np.ones((20, 30), np.float32)
    if repeats is None:
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            evaluate(lambda x: tf.nn.dropout(x, 0.5, noise_shape), x)
        return
    result = evaluate(lambda x: tf.nn.dropout(x, 0.5, noise_shape, seed=3), x)
    assert np.all(result == np.take(result, [0], repeats))
    assert 0 < (result != 0).mean() < 1


def test_nothing_is_dropped_at_rate_0():
    x = tf.constant([1.0, 2.0])
    assert tf.nn.dropout(x, rate=0) is x
    assert tf.nn.dropout(x, keep_prob=1.0) is x
    assert tf.nn.dropout(x, rate=tf.constant(0.0)) is x


def test_rates_that_are_fed():
    x = np.ones((50, 50), np.float32)
    for rate in (0.0, 0.5):
        result = evaluate(
            lambda x, r: tf.nn.dropout(of_unknown_shape(x), rate=r, seed=2), x, np.float32(rate).reshape(())
        )
        assert abs((result != 0).mean() - (1 - rate)) < 0.05


def test_every_step_drops_others_and_a_seed_repeats_them():
    def run():
        with tf.Graph().as_default(), tf.Session() as session:
            y = tf.nn.dropout(tf.ones([100]), rate=0.5, seed=8)
            return [session.run(y) for _ in range(3)]

    first, second = run(), run()
    np.testing.assert_array_equal(first, second)
    assert np.any(first[0] != first[1])


def test_gradients_flow_through_what_is_kept():
    x = np.ones(1000, np.float32)

    def build(x):
        y = tf.nn.dropout(x, rate=0.25, seed=1)
        return [y, tf.gradients(y, x)[0]]

    y, grad = evaluate(build, x)
    np.testing.assert_array_equal(grad, y)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 2, float("nan")])
def test_rates_out_of_range_are_refused(rate):
    with pytest.raises(ValueError, match=r"rate must be a scalar tensor or a float in the range \[0, 1\)"):
        tf.nn.dropout([1.0], rate=rate)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="You must provide a rate to dropout."):
        tf.nn.dropout([1.0])
    with pytest.raises(ValueError, match="Cannot specify both 'keep_prob' and 'rate'"):
        tf.nn.dropout([1.0], keep_prob=0.5, rate=0.5)
    with pytest.raises(ValueError, match=r"it's going to be scaled. Got a <dtype: 'int32'> tensor"):
        tf.nn.dropout([1, 2], rate=0.5)
    with pytest.raises(ValueError, match="keep_prob must be a floating point number or Tensor"):
        tf.nn.dropout([1.0], keep_prob="half")
    with pytest.raises(ValueError, match="must have rank 0"):
        tf.nn.dropout([1.0], rate=tf.constant([0.5]))


def test_same_bits(rng):
    x = rng.normal(size=(300, 100)).astype(np.float32)
    assert_same_bits(lambda x: tf.nn.dropout(x, rate=0.3, seed=5), x)
