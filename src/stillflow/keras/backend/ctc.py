"""Connectionist temporal classification, of labels in dense tensors."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import ctc
from stillflow.composites.functional import scan
from stillflow.graph import dtypes
from stillflow.layers.core.settings import epsilon
from stillflow.names import public
from stillflow.ops.array.sparse_to_dense import sparse_to_dense
from stillflow.ops.array.where import boolean_mask
from stillflow.ops.sparse_tensor import SparseTensor


@public("keras.backend.ctc_label_dense_to_sparse")
def ctc_label_dense_to_sparse(labels, label_lengths):
    """The labels (batch, most labels) as a SparseTensor, without those behind the lengths (batch)."""
    shape = ops.shape(labels)
    batch_size, width = ops.stack([shape[0]]), ops.stack([shape[1]])

    def is_before(row, length):
        return ops.expand_dims(ops.range(ops.shape(row)[1]), 0) < ops.fill(width, length)

    start = ops.cast(ops.fill([1, shape[1]], 0), dtypes.bool_)
    mask = scan(is_before, label_lengths, initializer=start, parallel_iterations=1)[:, 0, :]
    columns = ops.reshape(ops.tile(ops.range(0, shape[1]), batch_size), shape)
    columns = boolean_mask(columns, mask)
    rows = ops.tile(ops.range(0, shape[0]), width)
    rows = ops.transpose(ops.reshape(rows, ops.reverse_v2(shape, [0])))
    rows = boolean_mask(rows, mask)
    indices = ops.transpose(ops.reshape(ops.concat([rows, columns], axis=0), [2, -1]))
    values = ops.gather_nd(labels, indices)
    return SparseTensor(ops.cast(indices, dtypes.int64), values, ops.cast(shape, dtypes.int64))


def _log_of_steps(y_pred):
    """The logarithms of probabilities, steps before samples."""
    return ops.log(ops.transpose(y_pred, perm=[1, 0, 2]) + epsilon())


@public("keras.backend.ctc_batch_cost")
def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """The CTC loss of each sample, (samples, 1); see tf.nn.ctc_loss.

    Args:
      y_true: labels (samples, most labels).
      y_pred: probabilities (samples, steps, classes).
      input_length: the numbers of steps, (samples, 1).
      label_length: the numbers of labels, (samples, 1).
    """
    label_length = ops.cast(ops.squeeze(label_length, axis=-1), dtypes.int32)
    input_length = ops.cast(ops.squeeze(input_length, axis=-1), dtypes.int32)
    labels = ops.cast(ctc_label_dense_to_sparse(y_true, label_length), dtypes.int32)
    return ops.expand_dims(ctc.ctc_loss(inputs=_log_of_steps(y_pred), labels=labels, sequence_length=input_length), 1)


@public("keras.backend.ctc_decode")
def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """The most probable labels of probabilities.

    Args:
      y_pred: probabilities (samples, steps, classes).
      input_length: the numbers of steps, (samples).
      greedy: whether the most probable class of each step is taken; else there is a search, see
        tf.nn.ctc_beam_search_decoder.
      beam_width, top_paths: of the search.

    Returns:
      A list of dense tensors of labels, -1 behind the last one, and their logarithmic probabilities.
    """
    inputs, input_length = _log_of_steps(y_pred), ops.cast(input_length, dtypes.int32)
    if greedy:
        decoded, log_probability = ctc.ctc_greedy_decoder(inputs=inputs, sequence_length=input_length)
    else:
        decoded, log_probability = ctc.ctc_beam_search_decoder(
            inputs=inputs, sequence_length=input_length, beam_width=beam_width, top_paths=top_paths
        )
    dense = [sparse_to_dense(each.indices, each.dense_shape, each.values, default_value=-1) for each in decoded]
    return dense, log_probability
