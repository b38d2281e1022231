"""Pools over cells that are drawn at random: cells, bits, gradients, misfits. Values: programs/snippets."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient, evaluate

POOLS = [tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool]
RATIO = [1.0, 1.44, 1.73, 1.0]


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_bits_are_the_same_everywhere(pool, dtype, rng):
    def build(x):
        pooled = pool(x, RATIO, overlapping=True, deterministic=True, seed=1, seed2=2)
        return list(pooled) if x.dtype.is_integer else [*pooled, *tf.gradients(pooled[0], x)]

    assert_same_bits(build, (rng.standard_normal((5, 9, 12, 7)) * 9).astype(dtype))


@pytest.mark.parametrize("pool", POOLS)
def test_the_gradient_is_the_slope(pool, rng):
    x = rng.permutation(96).reshape(1, 6, 8, 2) / 10.0
    check_gradient(lambda x: pool(x, RATIO, overlapping=True, deterministic=True, seed=1, seed2=2)[0], x)


@pytest.mark.parametrize("is_pseudo_random", [False, True])
def test_cells_are_of_two_sizes_and_cover_all(is_pseudo_random):
    values = tf.placeholder(tf.float32, [1, 40, 90, 1])
    pooled = tf.nn.fractional_max_pool(values, [1.0, 1.3, 2.6, 1.0], pseudo_random=is_pseudo_random)
    assert pooled[0].shape == [1, 30, 34, 1]
    with tf.Session() as session:
        drawn = [session.run(pooled, {values: np.zeros((1, 40, 90, 1))}) for _ in range(8)]
    for _, rows, columns in drawn:
        for begins, size, smaller in ((rows, 40, 1), (columns, 90, 2)):
            assert (begins[0], begins[-1]) == (0, size)
            assert set(np.diff(begins)) == {smaller, smaller + 1}
    assert len({tuple(columns) for _, _, columns in drawn}) > 1


@pytest.mark.parametrize(
    ("ratio", "error", "text"),
    [
        ([1.0, 0.5, 1.0, 1.0], tf.errors.InvalidArgumentError, "pooling_ratio cannot be smaller than 1, got: 0.5"),
        ([1.0, 20.0, 1.0, 1.0], tf.errors.InvalidArgumentError, "20 is larger than dimension 1 .* has size 4"),
        ([2.0, 1.0, 1.0, 1.0], tf.errors.UnimplementedError, "not yet supported on the batch nor channel dimension"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("pool", POOLS)
def test_ratios_that_do_not_fit_are_named(pool, ratio, error, text):
    with pytest.raises(error, match=text):
        evaluate(lambda x: pool(x, ratio)[0], np.zeros((2, 4, 4, 1), np.float32))


@pytest.mark.parametrize("ratio", [1e-40, float("nan")])
def test_sizes_that_int64_cannot_hold_are_refused(ratio):
    with pytest.raises(ValueError, match="Size computed for dim 1 is negative: -9223372036854775808"):
        tf.nn.fractional_max_pool(tf.zeros((1, 5, 5, 1)), [1.0, ratio, 1.0, 1.0])


@pytest.mark.parametrize("rows", [[0, 2], [0, 5, 4], [-1, 2, 4], [0, 2, 5]])
def test_cells_that_there_are_not_are_named(rows):
    def gradient(grads):
        return tf.raw_ops.FractionalAvgPoolGrad(
            orig_input_tensor_shape=[1, 4, 3, 1], out_backprop=grads, row_pooling_sequence=rows,
            col_pooling_sequence=[0, 3],
        )  # fmt: skip

    with pytest.raises(tf.errors.InvalidArgumentError, match="row_pooling_sequence"):
        evaluate(gradient, np.zeros((1, 2, 1, 1), np.float32))
