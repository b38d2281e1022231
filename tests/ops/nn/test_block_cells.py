"""LSTMBlockCell, BlockLSTM and GRUBlockCell: same bits everywhere, halves, gradients, and what is refused."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, evaluate

STEPS, BATCH, DEPTH, CELL = 3, 5, 7, 19


def lstm_arrays(rng, dtype=np.float32):
    shapes = (
        (STEPS, BATCH, DEPTH), (BATCH, CELL), (BATCH, CELL), (DEPTH + CELL, 4 * CELL), (CELL,), (CELL,), (CELL,),
        (4 * CELL,),
    )  # fmt: skip
    return [rng.normal(0, 0.5, shape).astype(dtype) for shape in shapes]


def gru_arrays(rng):
    shapes = (BATCH, DEPTH), (BATCH, CELL), (DEPTH + CELL, 2 * CELL), (DEPTH + CELL, CELL), (2 * CELL,), (CELL,)
    return [rng.normal(0, 0.5, shape).astype(np.float32) for shape in shapes]


def block_lstm(*inputs, steps=STEPS, **options):
    return ops.block_lstm(np.int64(steps), *inputs, use_peephole=True, cell_clip=0.4, **options)


def with_gradients(build):
    def both(*inputs):
        outputs = build(*inputs)
        return [*outputs, *tf.gradients([tf.square(outputs[1]), tf.square(outputs[-1])], inputs)]

    return both


def test_a_sequence_has_the_same_bits_everywhere(rng):
    assert_same_bits(with_gradients(block_lstm), *lstm_arrays(rng))


def test_a_step_has_the_same_bits_everywhere(rng):
    x, *others = lstm_arrays(rng)
    build = with_gradients(lambda *inputs: ops.lstm_block_cell(*inputs, use_peephole=True))
    assert_same_bits(build, x[0], *others)


def test_a_step_of_a_gru_has_the_same_bits_everywhere(rng):
    assert_same_bits(with_gradients(lambda *inputs: ops.gru_block_cell(*inputs)[::-1]), *gru_arrays(rng))


def test_a_sequence_is_its_steps(rng):
    x, cs, h, *weights = lstm_arrays(rng)
    sequence = evaluate(block_lstm, x, cs, h, *weights)
    for t in range(STEPS):
        step = evaluate(
            lambda *inputs: ops.lstm_block_cell(*inputs, use_peephole=True, cell_clip=0.4), x[t], cs, h, *weights
        )
        for ours, whole in zip(step, sequence, strict=True):
            np.testing.assert_array_equal(ours, whole[t])
        cs, h = step[1], step[6]


def test_steps_after_the_last_are_zero(rng):
    arrays = lstm_arrays(rng)
    whole, some = evaluate(block_lstm, *arrays), evaluate(lambda *inputs: block_lstm(*inputs, steps=2), *arrays)
    for a, b in zip(whole, some, strict=True):
        np.testing.assert_array_equal(a[:2], b[:2])
        assert not b[2:].any()


def test_halves_are_close_to_floats(rng):
    halves = lstm_arrays(rng, np.float16)
    expected = evaluate(block_lstm, *(array.astype(np.float32) for array in halves))
    for ours, exact in zip(evaluate(block_lstm, *halves), expected, strict=True):
        assert ours.dtype == np.float16
        np.testing.assert_allclose(ours, exact, atol=0.01)


def test_the_second_version_has_another_order_of_gates(rng):
    x, cs, h, w, wci, wcf, wco, b = lstm_arrays(rng)
    i, c, f, o = np.split(np.arange(4 * CELL), 4)
    order = np.concatenate([i, f, c, o])
    first = evaluate(lambda *inputs: block_lstm(*inputs, forget_bias=0.0), x, cs, h, w, wci, wcf, wco, b)
    second = evaluate(
        lambda *inputs: ops.block_lstm_v2(np.int64(STEPS), *inputs, use_peephole=True, cell_clip=0.4),
        *(x, cs, h, w[:, order], wci, wcf, wco, b[order]),
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_empty_batches(rng):
    x, cs, h, *weights = lstm_arrays(rng)
    results = evaluate(with_gradients(block_lstm), x[:, :0], cs[:0], h[:0], *weights)
    assert results[0].shape == (STEPS, 0, CELL)
    assert not results[7 + 3].any()


@pytest.mark.parametrize(
    ("index", "shape", "message"),
    [
        (1, (BATCH + 1, CELL), r"cs_prev.dims\(0\) != batch_size: 6 vs. 5"),
        (2, (BATCH, 2), r"h_prev.dims\(1\) != cell_size: 2 vs. 19"),
        (3, (4, 4 * CELL), r"w.dim_size\(0\) != input_size \+ cell_size: 4 vs. 26"),
        (7, (4,), r"b.dim_size\(0\) != cell_size \* 4: 4 vs. 76"),
    ],
)
def test_sizes_that_do_not_fit_an_lstm(index, shape, message, rng):
    arrays = lstm_arrays(rng)
    arrays[0] = arrays[0][0]
    arrays[index] = np.zeros(shape, np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        evaluate(ops.lstm_block_cell, *arrays)


def test_too_many_steps(rng):
    with pytest.raises(tf.errors.InvalidArgumentError, match="4"):
        evaluate(lambda *inputs: block_lstm(*inputs, steps=4), *lstm_arrays(rng))


@pytest.mark.parametrize(
    ("index", "shape", "message"),
    [
        (2, (DEPTH + CELL, 3), r"w_ru.dim_size\(1\) != cell_size \* 2: 3 vs. 38"),
        (3, (1, CELL), r"w_c.dim_size\(0\) != input_size \+ cell_size: 1 vs. 26"),
        (5, (2,), r"b_c.dim_size\(0\) != cell_size: 2 vs. 19"),
    ],
)
def test_sizes_that_do_not_fit_a_gru(index, shape, message, rng):
    arrays = gru_arrays(rng)
    arrays[index] = np.zeros(shape, np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        evaluate(ops.gru_block_cell, *arrays)
