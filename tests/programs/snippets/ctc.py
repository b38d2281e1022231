"""Connectionist temporal classification: its loss and gradients, its decoders, and what prepares labels."""

import numpy as np

_LENGTHS = [9, 7, 5, 6]


def _scores(tf, dtype="float32"):
    numbers = [
        [[(17 * t + 11 * b + 5 * c * c + 3 * t * c) * 37 % 101 / 25.0 for c in range(6)] for b in range(4)]
        for t in range(9)
    ]
    return tf.constant(numbers, dtype, name="scores")


def _labels(tf):
    indices = [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0], [2, 1], [3, 0], [3, 1], [3, 2]]
    return tf.SparseTensor(indices, tf.constant([1, 1, 2, 0, 3, 4, 2, 2, 2], tf.int32), [4, 3])


def _matrix(tf):
    return tf.constant([[1, 1, 2], [3, 0, 0], [3, 4, 0], [2, 2, 2]], name="labels")


def loss(tf):
    scores = _scores(tf)
    costs = tf.nn.ctc_loss(_labels(tf), scores, _LENGTHS)
    return [costs] + tf.gradients(costs * [1.0, 2.0, 3.0, 4.0], scores)


def loss_of_doubles_batch_first(tf):
    scores = _scores(tf, "float64")
    costs = tf.nn.ctc_loss(_labels(tf), None, _LENGTHS, logits=tf.transpose(scores, [1, 0, 2]), time_major=False)
    return [costs] + tf.gradients(costs, scores)


def loss_with_collapsed_labels(tf):
    scores = _scores(tf)
    costs = [
        tf.nn.ctc_loss(_labels(tf), scores, _LENGTHS, preprocess_collapse_repeated=True, ctc_merge_repeated=merges)
        for merges in (False, True)
    ]
    return costs + tf.gradients(costs, scores)


def loss_without_merges(tf):
    scores = _scores(tf)
    costs = tf.nn.ctc_loss(_labels(tf), scores, _LENGTHS, ctc_merge_repeated=False)
    return [costs] + tf.gradients(costs, scores)


def loss_of_short_times(tf):
    scores = _scores(tf)
    costs = tf.nn.ctc_loss(_labels(tf), scores, [2, 0, 2, 4], ignore_longer_outputs_than_inputs=True)
    return [costs] + tf.gradients(costs, scores)


def loss_of_sparse_labels_with_any_blank(tf):
    scores = _scores(tf)
    last = tf.nn.ctc_loss_v2(_labels(tf), scores, None, _LENGTHS, blank_index=-1)
    labels = _labels(tf)
    labels = tf.SparseTensor(labels.indices, labels.values + 1, labels.dense_shape)
    first = tf.nn.ctc_loss_v2(labels, scores, None, _LENGTHS, blank_index=0)
    return [last, first]


def _parts(decoded):
    sequences, scores = decoded
    return [part for each in sequences for part in (each.indices, each.values, each.dense_shape)] + [scores]


def greedy(tf):
    scores = _scores(tf)
    return _parts(tf.nn.ctc_greedy_decoder(scores, _LENGTHS)) + _parts(
        tf.nn.ctc_greedy_decoder(scores, [0, 1, 2, 9], merge_repeated=False)
    )


def beams(tf):
    scores = _scores(tf)
    return _parts(tf.nn.ctc_beam_search_decoder(scores, _LENGTHS, beam_width=5, top_paths=3)) + _parts(
        tf.nn.ctc_beam_search_decoder_v2(_scores(tf, "float64"), [1, 2, 8, 9], top_paths=2)
    )


def narrow_beams(tf):
    decoders = [tf.nn.ctc_beam_search_decoder(_scores(tf), _LENGTHS, width, width, False) for width in (1, 2, 3)]
    return [part for decoded in decoders for part in _parts(decoded)]


def collapsed(tf):
    return list(tf.nn.collapse_repeated(_matrix(tf), [3, 2, 1, 3]))


def unique(tf):
    return list(tf.nn.ctc_unique_labels(_matrix(tf)))


def of_dense_labels_by_keras(tf):
    probabilities = tf.nn.softmax(tf.constant(np.sin(np.arange(2 * 6 * 4) * 1.3).reshape(2, 6, 4), tf.float32))
    labels, steps, counts = tf.constant([[1, 2, 0], [2, 0, 0]]), tf.constant([[6], [5]]), tf.constant([[2], [1]])
    backend = tf.keras.backend
    sparse = backend.ctc_label_dense_to_sparse(labels, tf.constant([2, 1]))
    greedy, searched = (backend.ctc_decode(probabilities, [6, 5], **options) for options in (
        {}, {"greedy": False, "beam_width": 5, "top_paths": 2}
    ))  # fmt: skip
    loss = backend.ctc_batch_cost(labels, probabilities, steps, counts)
    return [sparse.indices, sparse.values, loss, *greedy[0], greedy[1], *searched[0], searched[1]]
