"""FakeQuantWithMinMaxArgs and its kin: numbers in few bits, the same everywhere, bad input; snippets have values."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, evaluate, new_session, of_unknown_shape


@pytest.mark.parametrize("bits", [2, 5, 8, 16])
@pytest.mark.parametrize("bounds", [(-6, 6), (-1.03, 3.1), (0, 5), (-7, 0), (2, 4), (-4, -2)])
def test_results_are_few_numbers_with_zero_among_them(bits, bounds, rng):
    x = np.append(rng.uniform(-10, 10, 5000), 0.0).astype(np.float32)
    found = evaluate(lambda x: tf.fake_quant_with_min_max_args(x, *bounds, num_bits=bits), x)
    assert len(np.unique(found)) <= 2**bits
    assert found[-1] == 0
    step = (bounds[1] - bounds[0]) / (2**bits - 1)
    low, high = min(bounds[0], 0), max(bounds[1], 0)
    if bounds[0] <= 0 <= bounds[1]:
        np.testing.assert_allclose(found, np.clip(x, low, high), atol=step * 1.01)


def test_same_bits_everywhere(rng):
    x = rng.uniform(-5, 5, size=(40, 50, 7)).astype(np.float32)
    low, high = np.linspace(-3, -1, 7, dtype=np.float32), np.linspace(1, 3, 7, dtype=np.float32)
    assert_same_bits(tf.fake_quant_with_min_max_args, x)
    assert_same_bits(tf.fake_quant_with_min_max_vars_per_channel, x, low, high)
    assert_same_bits(
        lambda x, low, high: tf.gradients(
            tf.fake_quant_with_min_max_vars_per_channel(x, low, high) ** 2, [x, low, high]
        ),
        x,
        low,
        high,
    )


def test_odd_numbers_and_bounds_give_values():
    x = np.array([np.nan, np.inf, -np.inf, 0, 1], np.float32)
    with new_session() as session:
        for low, high in ((-1, 1), (3, 1), (0, 0), (np.nan, 1), (-np.inf, np.inf), (1, 1), (5e-324, 1e-45)):
            result = tf.fake_quant_with_min_max_vars(x, np.float32(low), np.float32(high))
            gradients = tf.gradients(result, [result.op.inputs[1], result.op.inputs[2]])
            assert session.run([result, *gradients])[0].shape == (5,)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: tf.fake_quant_with_min_max_args(x, num_bits=1), "between 2 and 16"),
        (lambda x: tf.fake_quant_with_min_max_args(x, num_bits=17), "between 2 and 16"),
        (lambda x: tf.fake_quant_with_min_max_args(x, 3, 2), "min has to be smaller"),
        (lambda x: tf.fake_quant_with_min_max_args_gradient(x, of_unknown_shape(tf.ones([3]))), "same size"),
        (lambda x: tf.fake_quant_with_min_max_vars(x, of_unknown_shape(tf.ones([2])), 3.0), "scalars"),
        (lambda x: tf.fake_quant_with_min_max_vars_per_channel(x, of_unknown_shape(tf.ones([3])), tf.ones([2])),
         "min has incorrect size, expected 2 was 3"),
        (lambda x: tf.fake_quant_with_min_max_vars_per_channel_gradient(
            x, x, of_unknown_shape(tf.ones([2])), of_unknown_shape(tf.ones([])))[0], "max has incorrect size"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(build, message):
    with new_session() as session:
        result = build(of_unknown_shape(tf.ones([4, 2])))
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(result)
