"""Reverse, ReverseV2, ReverseSequence and Roll: values, types, gradients, bad input."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


def sample(rng, shape, dtype="float32"):
    return rng.integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axes", [[], [0], [1, 2], [-1], [0, 1, 2]])
def test_axes_are_turned_round(axes, dtype, rng):
    x = sample(rng, (4, 5, 6), dtype)
    expected = np.flip(x, axes) if axes else x
    np.testing.assert_array_equal(evaluate(lambda x: ops.reverse_v2(x, np.array(axes, np.int32)), x), expected)
    flags = [i in [axis % 3 for axis in axes] for i in range(3)]
    np.testing.assert_array_equal(evaluate(lambda x: ops.reverse_op(x, flags), x), expected)


@pytest.mark.parametrize("shape", [(0,), (3, 0), (1,), (300, 401)])
def test_shapes(shape, rng):
    x = sample(rng, shape)
    np.testing.assert_array_equal(evaluate(lambda x: ops.reverse_v2(x, [0]), x), x[::-1])
    np.testing.assert_array_equal(evaluate(lambda x: ops.roll(x, 7, 0), x), np.roll(x, 7, 0))


def test_strings_move():
    words = ops.constant([b"a", b"b", b"c"])
    moved = [ops.reverse_v2(words, [0]), ops.roll(words, 1, 0), ops.reverse_sequence([words], [2], 1, 0)[0]]
    results = _run(moved)
    assert [r.tolist() for r in results] == [[b"c", b"b", b"a"], [b"c", b"a", b"b"], [b"b", b"a", b"c"]]


def _run(tensors):
    from stillflow.session.session import Session

    with Session(graph=tensors[0].graph) as session:
        return session.run(tensors)


def test_bad_axes_are_named():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="'axis' value 2 is out of valid range"):
        ops.reverse_v2(x, [2])
    with pytest.raises(ValueError, match="axis 1 specified more than once"):
        ops.reverse_v2(x, [1, -1])
    with pytest.raises(errors.InvalidArgumentError, match=r"'axis'\[1\] = -3 is out of valid range"):
        evaluate(ops.reverse_v2, x, np.array([0, -3], np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="axis 0 specified more than once"):
        evaluate(ops.reverse_v2, x, np.array([0, 0], np.int32))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("seq_axis", "batch_axis"), [(0, 1), (1, 0), (2, 0), (1, 2)])
def test_sequences_are_turned_round_up_to_their_lengths(seq_axis, batch_axis, dtype, rng):
    x = sample(rng, (4, 5, 6), dtype)
    lengths = rng.integers(0, x.shape[seq_axis] + 1, x.shape[batch_axis])
    expected = np.moveaxis(x, (batch_axis, seq_axis), (0, 1)).copy()
    for row, length in zip(expected, lengths, strict=True):
        row[:length] = row[:length][::-1]
    expected = np.moveaxis(expected, (0, 1), (batch_axis, seq_axis))
    result = evaluate(lambda x, n: ops.reverse_sequence(x, n, seq_axis, batch_axis), x, lengths)
    np.testing.assert_array_equal(result, expected)


def test_bad_lengths_are_named():
    x = np.zeros((2, 3), np.float32)
    for lengths, message in (([1, 4], r"seq_lens\(1\) > input.dims\(1\)"), ([-1, 0], r"seq_lens\(0\) < 0")):
        with pytest.raises(errors.InvalidArgumentError, match=message):
            evaluate(lambda x, n: ops.reverse_sequence(x, n, 1, 0), x, np.array(lengths))
    with pytest.raises(ValueError, match="seq_dim must be < input rank: 2 vs. 2"):
        ops.reverse_sequence(x, [1, 1], 2, 0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shift", "axis"), [(1, 0), (-2, 1), (17, 2), ([1, 2], [0, 2]), ([1, 1], [1, 1]), ([-1, 5, 3], [0, 1, -1])]
)
def test_rolls_are_numpys(shift, axis, dtype, rng):
    x = sample(rng, (4, 5, 6), dtype)
    result = evaluate(lambda x: ops.roll(x, shift, axis), x)
    np.testing.assert_array_equal(result, np.roll(x, shift, axis))


def test_bad_rolls_are_named():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(errors.InvalidArgumentError, match="axis 2 is out of range"):
        evaluate(lambda x: ops.roll(x, 1, 2), x)
    with pytest.raises(errors.InvalidArgumentError, match="shift and axis must have the same size"):
        evaluate(lambda x: ops.roll(x, ops.placeholder_with_default([1, 2], [None]), [0]), x)
    for shift, axis in (([1, 2], [0]), ([1, 2], 0), (1, [0, 1])):
        with pytest.raises(ValueError, match="must be equal"):
            ops.roll(x, shift, axis)


def test_gradients_match_differences(rng):
    x = rng.standard_normal((3, 4))
    check_gradient(lambda x: ops.reverse_v2(x, [1]), x)
    check_gradient(lambda x: ops.reverse_op(x, [True, False]), x)
    check_gradient(lambda x: ops.reverse_sequence(x, [1, 4, 3], 1, 0), x)
    check_gradient(lambda x: ops.roll(x, [1, 2], [0, 1]), x)


def test_same_bits_everywhere(rng):
    x = rng.standard_normal((70, 80, 30)).astype(np.float32)
    assert_same_bits(lambda x: [ops.reverse_v2(x, [0, 2]), ops.roll(x, [3, 4], [1, 2])], x)
