"""Connectionist temporal classification: errors, bits, gradients, and labels in a matrix."""

import itertools

import numpy as np
import pytest
from stillflow.python.ops import ctc_ops

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient, evaluate

TIME, BATCH, CLASSES = 6, 3, 4
LENGTHS = [6, 5, 3]


def labels(values=(0, 1, 1, 2, 0), indices=((0, 0), (0, 1), (1, 0), (1, 1), (2, 0))):
    return tf.SparseTensor([list(index) for index in indices], tf.constant(values, tf.int32), [BATCH, 2])


@pytest.fixture
def scores(rng):
    return rng.standard_normal((TIME, BATCH, CLASSES))


def collapsed(path, blank):
    return [label for label, _ in itertools.groupby(path) if label != blank]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_loss_is_that_of_all_paths(scores, dtype):
    expected = []
    for b, spelled in enumerate(([0, 1], [1, 2], [0])):
        of_sequence = scores[: LENGTHS[b], b]
        likely = np.exp(of_sequence) / np.exp(of_sequence).sum(-1, keepdims=True)
        paths = itertools.product(range(CLASSES), repeat=LENGTHS[b])
        parts = [np.prod(likely[range(LENGTHS[b]), p]) for p in paths if collapsed(p, CLASSES - 1) == spelled]
        expected.append(-np.log(sum(parts)))
    loss = evaluate(lambda x: tf.nn.ctc_loss(labels(), x, LENGTHS), scores.astype(dtype))
    np.testing.assert_allclose(loss, expected, rtol=1e-5)


def test_the_gradient_is_the_slope(scores):
    check_gradient(lambda x: tf.nn.ctc_loss(labels(), x, LENGTHS), scores)


def test_there_is_no_second_gradient(scores):
    x = tf.constant(scores)
    gradient = tf.gradients(tf.nn.ctc_loss(labels(), x, LENGTHS), x)[0]
    with pytest.raises(LookupError, match="second  derivative of ctc_loss"):
        tf.gradients(gradient, x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_are_the_same_everywhere(rng, dtype):
    x = rng.standard_normal((20, 5, 9)).astype(dtype)
    lengths = [20, 20, 17, 9, 3]
    values = tf.SparseTensorValue(
        [[b, i] for b in range(5) for i in range(3)], np.arange(15, dtype=np.int32) % 8, [5, 3]
    )

    def build(x):
        loss = tf.nn.ctc_loss(tf.SparseTensor.from_value(values), x, lengths)
        sequences, logs = tf.nn.ctc_beam_search_decoder(x, lengths, 6, 4)
        greedy, sums = tf.nn.ctc_greedy_decoder(x, lengths)
        found = [loss, *tf.gradients(loss, x), logs, sums, greedy[0].values]
        return found + [part for each in sequences for part in (each.indices, each.values)]

    assert_same_bits(build, x)


# what is wrong: labels, their indices, lengths, and what the error says
_ALL = ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0))
LOSS_ERRORS = {
    "a blank in between": (
        (0, 1, 3, 2, 0), _ALL, LENGTHS,
        "Saw a non-null label .* null label, batch: 1 num_classes: 4 labels: 3,2 labels seen so far: ",
    ),
    "a negative label": (
        (0, -1, 1, 2, 0), _ALL, LENGTHS, "All labels must be nonnegative integers, batch: 0 labels: 0,-1",
    ),
    "no labels": ((0, 1, 1), ((0, 0), (1, 0), (1, 1)), LENGTHS, "Labels length is zero in batch 2"),
    "no time": (
        (0, 1, 1, 2, 0), _ALL, [1, 5, 3], r"Not enough time for target .* \(required: 2, available: 1\)0You can turn",
    ),
    "too long a time": ((0, 1, 1, 2, 0), _ALL, [6, 7, 3], r"sequence_length\(1\) <= 6"),
    "a negative time": ((0, 1, 1, 2, 0), _ALL, [6, -1, 3], r"seq_len\(1\) < 0"),
    "a sequence too many": (
        (0, 1, 1), ((0, 0), (1, 0), (3, 0)), LENGTHS, r"label .* is not valid: indices\[2\] = \[3,0\] is out of",
    ),
    "no order": ((0, 1, 1), ((0, 0), (2, 0), (1, 0)), LENGTHS, r"indices\[2\] = \[1,0\] is out of order"),
}  # fmt: skip


@pytest.mark.parametrize("case", LOSS_ERRORS)
def test_labels_that_do_not_fit_are_named(scores, case):
    values, indices, lengths, text = LOSS_ERRORS[case]
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        evaluate(lambda x: tf.nn.ctc_loss(labels(values, indices), x, lengths), scores)


def test_dense_labels_are_refused_by_the_loss_that_takes_sparse_ones(scores):
    with pytest.raises(TypeError, match=r"Expected labels \(first argument\) to be a SparseTensor"):
        tf.nn.ctc_loss(tf.constant([[1]]), scores, LENGTHS)
    with pytest.raises(ValueError, match="blank_index must be given when using SparseTensor labels"):
        tf.nn.ctc_loss_v2(labels(), scores, None, LENGTHS)


@pytest.mark.parametrize(
    ("width", "paths", "lengths", "error", "text"),
    [
        (2, 3, LENGTHS, tf.errors.InvalidArgumentError, "requested more paths than the beam width"),
        (9, 2, [0, 5, 3], tf.errors.InvalidArgumentError, "Less leaves in the beam search than requested"),
        (2, 1, [6, 5, 7], tf.errors.FailedPreconditionError, r"sequence_length\(2\) <= 6"),
    ],
)
def test_beams_that_there_are_not_are_named(scores, width, paths, lengths, error, text):
    with pytest.raises(error, match=text):
        evaluate(lambda x: tf.nn.ctc_beam_search_decoder(x, lengths, width, paths)[1], scores)


def test_a_wide_beam_finds_the_likeliest_sequence(scores):
    x = scores[:4, :1]
    likely = np.exp(x[:, 0]) / np.exp(x[:, 0]).sum(-1, keepdims=True)
    sums = {}
    for path in itertools.product(range(CLASSES), repeat=4):
        spelled = tuple(collapsed(path, CLASSES - 1))
        sums[spelled] = sums.get(spelled, 0) + np.prod(likely[range(4), path])
    best = sorted(sums, key=sums.get)[::-1][:3]
    sequences, logs = tf.nn.ctc_beam_search_decoder_v2(tf.constant(x), [4], beam_width=1000, top_paths=3)
    with tf.Session() as session:
        assert [tuple(session.run(each.values)) for each in sequences] == best
        np.testing.assert_allclose(session.run(logs)[0], np.log([sums[each] for each in best]), rtol=1e-12)


@pytest.mark.parametrize(("blank", "is_unique"), [(0, False), (0, True), (2, False), (-1, False)])
def test_labels_in_a_matrix_cost_what_sparse_ones_do(rng, blank, is_unique):
    x = rng.standard_normal((7, 3, 5)).astype(np.float32)
    spelled = np.array([[1, 1, 3], [3, 0, 0], [1, 3, 0]])
    lengths, times = [3, 1, 2], [7, 6, 3]
    if blank == 0:
        spelled = np.maximum(spelled, 1)
    values = [value for row, length in zip(spelled, lengths, strict=True) for value in row[:length]]
    indices = [[b, i] for b, length in enumerate(lengths) for i in range(length)]

    def both(x):
        sparse = tf.SparseTensor(indices, tf.constant(values, tf.int32), [3, 3])
        matrix = tf.constant(spelled, tf.int32)
        unique = tf.nn.ctc_unique_labels(matrix) if is_unique else None
        losses = [
            tf.nn.ctc_loss_v2(sparse, x, None, times, blank_index=blank),
            tf.nn.ctc_loss_v2(matrix, x, lengths, times, unique=unique, blank_index=blank),
        ]
        return losses + [tf.gradients(loss * [1.0, 2.0, 3.0], x)[0] for loss in losses]

    sparse, dense, sparse_gradient, dense_gradient = evaluate(both, x)
    np.testing.assert_allclose(dense, sparse, rtol=1e-5)
    for b, time in enumerate(times):  # what the matrix's gradient is behind the end is TensorFlow's affair
        np.testing.assert_allclose(dense_gradient[:time, b], sparse_gradient[:time, b], rtol=1e-4, atol=1e-5)


def test_rows_of_labels_become_sparse():
    sparse = ctc_ops.dense_labels_to_sparse([[1, 3, 3, 0], [4, 2, 0, 0]], [3, 1])
    with tf.Session() as session:
        found = session.run(sparse)
    assert [part.tolist() for part in found] == [[[0, 0], [0, 1], [0, 2], [1, 0]], [1, 3, 3, 4], [2, 3]]
