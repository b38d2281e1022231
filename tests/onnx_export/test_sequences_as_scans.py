"""What ONNX says by Scans over time: CTC, beams, running products."""

import numpy as np
import pytest
from onnx_export.running import check

import stillflow as tf

SCORES = ([7, 4, 5], tf.float32)


def _labels(rows):
    indices = [[row, place] for row, labels in enumerate(rows) for place in range(len(labels))]
    values = np.int32([label for labels in rows for label in labels])
    return tf.SparseTensor(np.int64(indices), values, [len(rows), max(map(len, rows))])


@pytest.mark.parametrize("collapses", [False, True])
@pytest.mark.parametrize("merges", [False, True])
def test_ctc_loss_and_its_gradient(tmp_path, collapses, merges):
    # Of the last sequence there is no way where repetitions merge: two equal labels need a blank between them.
    rows = [[1, 1, 2], [3], [0, 2, 2, 1], [1, 1, 1]]

    def build(x):
        lengths = [7, 4, 7, 3]
        options = {"preprocess_collapse_repeated": collapses, "ctc_merge_repeated": merges}
        loss = tf.nn.ctc_loss(_labels(rows), x, lengths, ignore_longer_outputs_than_inputs=True, **options)
        possible = tf.where(tf.is_inf(loss), tf.zeros_like(loss), loss)
        return [loss, *tf.gradients(tf.reduce_sum(possible), x)]

    check(tmp_path, build, SCORES)


def test_ctc_loss_of_sequences_without_time(tmp_path):
    def build(x):
        loss = tf.nn.ctc_loss(
            _labels([[1], [0, 1, 2], [1, 0], [2]]), x, [0, 2, 2, 7], ignore_longer_outputs_than_inputs=True
        )
        return [loss, *tf.gradients(loss, x)]

    check(tmp_path, build, SCORES)


@pytest.mark.parametrize("merges", [False, True])
@pytest.mark.parametrize(("width", "paths"), [(1, 1), (4, 3), (50, 5)])
def test_ctc_beam_search(tmp_path, merges, width, paths):
    def build(x):
        found, logs = tf.nn.ctc_beam_search_decoder(x, [9, 4, 8], width, paths, merges)
        return [logs, *(part for path in found for part in (path.indices, path.values, path.dense_shape))]

    scores = np.random.default_rng(5).standard_normal([9, 3, 4]).astype(np.float32) * 2
    check(tmp_path, build, ([9, None, 4], tf.float32), feeds=[scores], atol=1e-4)


def test_ctc_beam_search_of_likely_repetitions(tmp_path):
    """Prefixes leave the beam and come back, and children stay in it without their parents."""

    def build(x):
        found, logs = tf.nn.ctc_beam_search_decoder(x, [40] * 6, 3, 2)
        return [logs, *(part for path in found for part in (path.indices, path.values, path.dense_shape))]

    scores = np.random.default_rng(6).standard_normal([40, 6, 3]).astype(np.float32)
    check(tmp_path, build, ([40, 6, 3], tf.float32), feeds=[scores], atol=1e-4)


def test_beams_of_decoders(tmp_path):
    generator = np.random.default_rng(1)
    symbols, parents = (generator.integers(0, most, [6, 3, 4]).astype(np.int32) for most in (5, 4))

    def build(symbols, parents):
        return tf.contrib.seq2seq.gather_tree(symbols, parents, [6, 3, 0], 4)

    check(tmp_path, build, *[([None, 3, 4], tf.int32)] * 2, feeds=[symbols, parents])


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_products_and_sums(tmp_path, exclusive, reverse):
    def build(x):
        options = {"exclusive": exclusive, "reverse": reverse}
        logs = tf.math.cumulative_logsumexp(x, 0, **options)
        return [tf.cumprod(x, axis=1, **options), tf.cumprod(x, axis=-1, **options), tf.exp(logs)]

    check(tmp_path, build, ([None, 4, 3], tf.float32))
