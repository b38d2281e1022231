"""What tf.contrib.layers and tf.contrib.seq2seq are made of, from their inner modules."""

import importlib

import numpy as np


def _module(tf, name):
    return importlib.import_module(f"{tf.__name__}.contrib.{name}")


def _values(*shape):
    return np.sin(np.arange(np.prod(shape)) * 1.7).reshape(shape).astype(np.float32)


def sparse_labels(tf):
    sparse_ops = _module(tf, "layers.python.ops.sparse_ops")
    numbers = tf.constant([[[0, 0, 1, 0], [0, 0, 0, 0]], [[1, 0, 1, 1], [0, 0, 1, 0]]], name="numbers")
    words = tf.constant([["", "y", "-"], ["y", "", "y"]], name="words")
    found = [
        sparse_ops.indicators_to_sparse_ids(numbers),
        sparse_ops.indicators_to_sparse_ids(words, dtype=tf.int32),
        sparse_ops.indicators_to_sparse_ids(words, ignore_value="-"),
    ]
    lengths = [
        sparse_ops.sparse_row_envelope(found[0]),
        sparse_ops.sparse_row_envelope(found[0], 1, 2, name="named"),
    ]
    return lengths + [part for each in found for part in (each.indices, each.values, each.dense_shape)]


def sequence_losses(tf):
    make = _module(tf, "seq2seq.python.ops.loss").SequenceLoss
    targets = tf.constant([[0, 3, 1], [2, 2, 0]], name="targets")
    weights = tf.constant([[1.0, 0.5, 0.0], [1.0, 0.0, 0.0]], name="weights")
    logits = tf.constant(_values(2, 3, 4), name="logits")
    return [
        make()(targets, logits, weights),
        make(True, True, False, False)(targets, logits, weights),
        make(False, True, False, False, name="over_the_batch")(targets, logits, weights),
        make(False, False, True, False)(targets, logits, weights),
    ]


def beam_steps(tf):
    decoder = _module(tf, "seq2seq.python.ops.beam_search_decoder")
    log_probs = tf.nn.log_softmax(tf.constant(_values(2, 3)))
    state = decoder.BeamSearchDecoderState(
        cell_state=tf.constant(_values(2, 3, 2)),
        log_probs=log_probs,
        lengths=tf.constant([[1, 2, 1], [2, 1, 2]], tf.int64),
        finished=tf.constant([[False, True, False], [False, False, True]]),
        accumulated_attention_probs=(),
    )
    logits = tf.constant(_values(2, 3, 5), name="logits")
    cell_state = tf.constant(_values(2, 3, 2) + 1)
    outputs, after = decoder._beam_search_step(
        time=2, logits=logits, next_cell_state=cell_state, beam_state=state, batch_size=tf.constant(2), beam_width=3,
        end_token=0, length_penalty_weight=0.6, coverage_penalty_weight=0.0,
    )  # fmt: skip
    masked = decoder._mask_probs(logits, 0, state.finished)
    with tf.control_dependencies([decoder._check_batch_beam(tf.zeros([4, 2, 3, 2]), 2, 3)]):
        masked = tf.identity(masked)
    return [*outputs, after.cell_state, after.log_probs, after.lengths, after.finished, masked]
