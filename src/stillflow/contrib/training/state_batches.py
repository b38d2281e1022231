"""tf.contrib.training.batch_sequences_with_states: batches of segments, filled by a queue runner."""

from __future__ import annotations

import numbers

from stillflow import errors, ops
from stillflow.composites import summaries
from stillflow.composites.checks import assert_that
from stillflow.contrib.training import sparse_sequences
from stillflow.contrib.training.state_saver import SequenceQueueingStateSaver
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse
from stillflow.random.sampling import random_uniform
from stillflow.training.queue_runner import QueueRunner, add_queue_runner


@public("contrib.training.batch_sequences_with_states")
def batch_sequences_with_states(
    input_key, input_sequences, input_context, input_length, initial_states, num_unroll, batch_size, num_threads=3,
    capacity=1000, allow_small_batch=True, pad=True, make_keys_unique=False, make_keys_unique_seed=None, name=None,
):  # fmt: skip
    """Batches of segments of sequences, with states that go from segment to segment.

    It adds a queue runner that fills a SequenceQueueingStateSaver.

    Args:
      input_key: what the sequence is called, a string scalar.
      input_sequences: a dictionary of tensors, or sparse ones, of shape [length, ...].
      input_context: a dictionary of tensors, or sparse ones, that each segment gets.
      input_length: the length of the sequence, without padding, an int32 scalar; None for that of the tensors.
      initial_states: a dictionary of the states of first segments.
      num_unroll: how many steps a segment has.
      batch_size: how many segments a batch has, a number or an int32 scalar.
      num_threads: how many threads put sequences in.
      capacity: how many sequences there may be at a time, at least `batch_size`.
      allow_small_batch: whether batches may be smaller when the sequences have come to an end.
      pad: whether sequences are padded, with zeros or b"", to a multiple of `num_unroll`; otherwise they have to be.
      make_keys_unique: whether a random number is put behind each key.
      make_keys_unique_seed: the seed of these numbers.
      name: the scope of the nodes.

    Returns:
      A NextQueuedSequenceBatch.

    Raises:
      TypeError, ValueError: as SequenceQueueingStateSaver does.
    """
    given = [*input_sequences.values(), *input_context.values(), *initial_states.values()]
    with name_scope(name, "batch_sequences_with_states", given):
        if pad:
            length, sequences = pad_sequences(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            sequences = {key: _checked(key, value, num_unroll) for key, value in input_sequences.items()}
        context, sequences = sparse_sequences.contexts_as_sequences(input_context, sequences, num_unroll)
        numbered, sparse_keys, store_ops = sparse_sequences.store(sequences)
        if make_keys_unique:
            number = random_uniform((), 0, 100000000, dtypes.int32, seed=make_keys_unique_seed)
            input_key = ops.string_join([input_key, ops.as_string(number)])
        saver = SequenceQueueingStateSaver(
            batch_size, num_unroll, input_length, input_key, numbered, context, initial_states, capacity,
            allow_small_batch,
        )  # fmt: skip
        barrier = saver.barrier
        ready = ops.cast(barrier.ready_size(), dtypes.float32)
        summaries.scalar(f"queue/{barrier.name}/ready_segment_batches_", ready)
        ends = (errors.OutOfRangeError, errors.CancelledError)
        add_queue_runner(QueueRunner(saver, [saver.prefetch_op] * num_threads, queue_closed_exception_types=ends))
        batch = saver.next_batch
        sparse_sequences.restore(batch.sequences, sparse_keys, store_ops, batch_size, num_unroll)
        sparse_sequences.sequences_as_contexts(batch.context, batch.sequences)
        return batch


def _checked(key, value, num_unroll):
    """A sequence, or a sparse one, that fails unless its length is a multiple of `num_unroll`."""
    sparse = is_sparse(value)
    if sparse:
        value = as_sparse_tensor(value)
        length = value.dense_shape[0]
    else:
        try:
            value = convert_to_tensor(value)
        except TypeError as error:
            raise TypeError(
                "Unsupported input_sequences expected Tensor or SparseTensor values, got: "
                f"{type(value)} for key {key}"
            ) from error
        length = ops.shape(value)[0]
    is_multiple = ops.logical_and(ops.equal(length % num_unroll, 0), ops.not_equal(length, 0))
    message = [
        f"{'SparseTensor' if sparse else 'Tensor'} {key} first dimension should be a multiple of: ",
        ops.as_string(num_unroll), ", but saw value: ", ops.as_string(length), ". Consider setting pad=True.",
    ]  # fmt: skip
    with control_dependencies([assert_that(is_multiple, [ops.string_join(message)])]):
        if not sparse:
            return ops.identity(value, name="multiple_of_checked")
        parts = (value.indices, value.values, value.dense_shape)
        return SparseTensor(*(ops.identity(part, name="multiple_of_checked") for part in parts))


@public("contrib.training.python.training.sequence_queueing_state_saver._padding")
def pad_sequences(sequences, num_unroll):
    """(length, sequences): their length, and sequences that are padded to a multiple of `num_unroll`.

    The length is that of the tensors, which have to agree, or the greatest of sparse ones.

    Raises:
      ValueError: if `num_unroll` is no integer.
      TypeError: if `sequences` is no dictionary with strings for keys.
    """
    if not isinstance(num_unroll, numbers.Integral):
        raise ValueError(f"Unsupported num_unroll expected int, got: {num_unroll}")
    if not isinstance(sequences, dict):
        raise TypeError(f"Unsupported sequences expected dict, got: {sequences}")
    for key in sequences:
        if not isinstance(key, str):
            raise TypeError(f"Unsupported sequences key expected string, got: {key}")
    if not sequences:
        return 0, {}
    tensors = {
        key: as_sparse_tensor(value) if is_sparse(value) else convert_to_tensor(value)
        for key, value in sorted(sequences.items())
    }
    length = _common_length(tensors.values())
    unit = ops.constant(num_unroll)
    padded_length = length + ((unit - (length % unit)) % unit)
    return length, {key: _padded(value, padded_length) for key, value in tensors.items()}


def _common_length(tensors):
    lengths = [ops.shape(tensor)[0] for tensor in tensors if not is_sparse(tensor)]
    if not lengths:
        return ops.reduce_max(ops.cast([tensor.dense_shape[0] for tensor in tensors], dtypes.int32))
    message = "All sequence lengths must match, but received lengths: "
    checks = [
        assert_that(ops.equal(each, lengths[0]), [ops.string_join([message, ops.as_string(lengths)])])
        for each in lengths
    ]
    return with_dependencies(checks, lengths[0])


def _padded(value, length):
    if is_sparse(value):
        shape = ops.concat([[ops.cast(length, dtypes.int64)], value.dense_shape[1:]], 0)
        return SparseTensor(value.indices, value.values, shape)
    missing = [length - ops.shape(value)[0]]
    shape = ops.concat((missing, ops.shape(value)[1:]), 0)
    nothing = ops.constant("" if value.dtype == dtypes.string else 0, dtype=value.dtype)
    return ops.concat([value, ops.fill(dims=shape, value=nothing)], 0)
