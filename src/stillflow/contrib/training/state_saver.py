"""tf.contrib.training.SequenceQueueingStateSaver: sequences cut into segments that hand on a state."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_greater_equal, assert_that
from stillflow.contrib.training.run_time_checks import check_dimensions, check_multiple
from stillflow.contrib.training.sequence_batches import NextQueuedSequenceBatch
from stillflow.contrib.training.sequence_inputs import SequenceInputs, prepare
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.resources.barrier import Barrier
from stillflow.resources.queues import FIFOQueue

# The barrier's first components, all scalars; then come sequences, contexts and states, each sorted by name.
_SCALARS = {
    "length": dtypes.int32,
    "total_length": dtypes.int32,
    "next_key": dtypes.string,
    "sequence": dtypes.int32,
    "sequence_count": dtypes.int32,
}
_TOKEN = 21051976  # what the queue of tokens holds: any number would do


@public("contrib.training.SequenceQueueingStateSaver")
class SequenceQueueingStateSaver:
    """Cuts sequences into segments of a length, and makes batches of segments of different sequences.

    A barrier holds segments: one is complete, and can be taken out, when its state is there. That of a sequence's
    first segment is the initial state; `next_batch.save_state` gives the next segment its state. A queue of tokens,
    one for each sequence that is being worked on, bounds their number.

    Args:
      batch_size: how many segments a batch has, a number or an int32 scalar.
      num_unroll: how many steps a segment has.
      input_length: the length of the sequence, without padding: an int32 scalar.
      input_key: what the sequence is called, a string scalar: no two in the barrier may have one name.
      input_sequences: a dictionary of tensors of shape [padded length, ...]; the padded length is a multiple of
        `num_unroll`, other sizes are known.
      input_context: a dictionary of tensors of known shapes, which each segment gets.
      initial_states: a dictionary of tensors of known shapes, at least one.
      capacity: how many sequences there may be at a time, at least `batch_size`; None for any number.
      allow_small_batch: whether batches may be smaller when the sequences have come to an end.
      name: the scope of the nodes.

    Raises:
      TypeError: for other types.
      ValueError: for shapes that are not known, names with a colon, or a capacity that is too small.
    """

    def __init__(
        self, batch_size, num_unroll, input_length, input_key, input_sequences, input_context, initial_states,
        capacity=None, allow_small_batch=False, name=None,
    ):  # fmt: skip
        if capacity is not None:
            input_key = _check_capacity(capacity, batch_size, input_key)
        self._tokens = FIFOQueue(capacity, [dtypes.int32], [[]])
        self._batch_size, self._num_unroll, self._allow_small_batch = batch_size, num_unroll, allow_small_batch
        self._prefetch_op = self._next_batch = None
        with colocate_with(self._tokens.queue_ref):
            _check_states(initial_states)
            inputs = [input_length, input_key, *input_sequences.values(), *input_context.values()]
            with name_scope(name, "InputQueueingStateSaver", inputs) as scope:
                self._name = scope
                given = SequenceInputs(input_length, input_key, input_sequences, input_context)
                self._prepare(given, initial_states)
                self._barrier = self._new_barrier()

    def _prepare(self, given, initial_states):
        self._length, self._key, self._states, sequences, self._contexts = prepare(given, initial_states)
        first = next(iter(sequences.values()))
        padded = ops.identity(ops.shape(first)[0], name="padded_length")
        self._padded_length = padded = check_multiple(padded, self._num_unroll)
        self._sequences = {
            key: check_dimensions(value, [0], [padded], f"sorted_sequences_{key}") for key, value in sequences.items()
        }
        message = ["Input length should be <= than length from sequences:", self._length, " vs. ", padded]
        with control_dependencies([assert_that(ops.less_equal(self._length, padded), message)]):
            self._length = ops.identity(self._length)

    def _new_barrier(self):
        kinds = {"sequence": self._sequences, "context": self._contexts, "state": self._states}
        named = [(kind, key) for kind, tensors in kinds.items() for key in tensors]
        self._indices = {key: index for index, key in enumerate([*_SCALARS, *named])}
        tensors = [kinds[kind][key] for kind, key in named]
        shapes = [
            [self._num_unroll, *tensor.shape.as_list()[1:]] if kind == "sequence" else tensor.shape.as_list()
            for (kind, _), tensor in zip(named, tensors, strict=True)
        ]
        types = [*_SCALARS.values(), *(tensor.dtype for tensor in tensors)]
        return Barrier(types, [[]] * len(_SCALARS) + shapes)

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def name(self):
        """The scope of its nodes."""
        return self._name

    @property
    def barrier(self):
        """The barrier that holds the segments."""
        return self._barrier

    @property
    def batch_size(self):
        """How many segments a batch has."""
        return self._batch_size

    @property
    def num_unroll(self):
        """How many steps a segment has."""
        return self._num_unroll

    @property
    def prefetch_op(self):
        """The operation that puts in one more sequence. A queue runner's threads run it: it waits for room."""
        if self._prefetch_op is None:
            with name_scope(None), name_scope(self._name, values=[self._barrier.barrier_ref]):
                self._prefetch_op = self._new_prefetch()
        return self._prefetch_op

    @property
    def next_batch(self):
        """The NextQueuedSequenceBatch. What it holds waits for sequences; `save_state` must run in the same runs."""
        if self._next_batch is None:
            prefetch = self.prefetch_op
            assert prefetch is not None
            with name_scope(None), name_scope(self._name, values=[self._barrier.barrier_ref]):
                self._next_batch = NextQueuedSequenceBatch(self)
        return self._next_batch

    def close(self, cancel_pending_enqueues=False, name=None):
        """The operation after which no sequence can be put in; states can, unless waiting ones are cancelled."""
        with name_scope(name, "SQSSClose", [self._prefetch_op]) as scope:
            barrier = self._barrier.close(cancel_pending_enqueues, "BarrierClose")
            tokens = self._tokens.close(cancel_pending_enqueues, "FIFOClose")
            return group(barrier, tokens, name=scope)

    # ---- Putting sequences in, and taking segments out ----------------------------------------------------

    def _insert(self, component, keys, values, name):
        return self._barrier.insert_many(self._indices[component], keys, values, name=name)

    def _insert_all(self, kind, keys, tensors, name):
        return [self._insert((kind, key), keys, value, f"{name}_{key}") for key, value in tensors.items()]

    def _new_prefetch(self):
        """Puts in the segments of the sequence, and the state of the first."""
        count = ops.div(self._padded_length, self._num_unroll)
        ones = ops.ones(ops.expand_dims(count, 0), dtypes.int32)
        sequence = ops.range(count)
        length = ops.maximum(0, self._length - self._num_unroll * sequence)
        length = ops.minimum(self._num_unroll, length)
        total_length = self._length * ones
        counts = count * ones
        keys, next_keys = self._segment_keys(sequence, count)
        cut = {key: self._cut(key, value, count) for key, value in self._sequences.items()}
        copied = {key: _copied(key, value, count) for key, value in self._contexts.items()}
        in_order = self._insert("sequence", keys, sequence, "BarrierInsertSequence")
        inserts = [
            self._insert("sequence_count", keys, counts, "BarrierInsertSequenceCount"),
            self._insert("next_key", keys, next_keys, "BarrierInsertNextKey"),
            self._insert("length", keys, length, "BarrierInsertLength"),
            self._insert("total_length", keys, total_length, "BarrierInsertTotalLength"),
        ]
        contexts = self._insert_all("context", keys, copied, "BarrierInsertContext")
        sequences = self._insert_all("sequence", keys, cut, "BarrierInsertSequences")
        token = self._tokens.enqueue((_TOKEN,))
        # All segments come in before the first is complete: they share a place in the order.
        with control_dependencies([in_order, token]):
            states = [
                self._insert(
                    ("state", key), ops.stack([keys[0]]), ops.stack([value]), f"BarrierInitialInsertState_{key}"
                )
                for key, value in self._states.items()
            ]
        return group(token, in_order, *inserts, *states, *contexts, *sequences, name="StateSaverPrefetchGroup")

    def _segment_keys(self, sequence, count):
        """The names of the segments, and of those that follow them."""
        numbers = ops.as_string(sequence, width=5, fill="0"), "_of_", ops.as_string(count, width=5, fill="0")
        keys = ops.string_join([*numbers, ":", self._key], name="StringJoinCurrentKeys")
        later = ops.slice(keys, [1], [-1])
        stop = ops.string_join(["STOP:", self._key], name="StringJoinStop")
        return keys, ops.concat([later, ops.expand_dims(stop, 0)], 0, name="concat_next_keys")

    def _cut(self, key, value, count):
        """A sequence's segments: [segments, steps, ...]."""
        inner = value.shape.as_list()[1:]
        sizes = [ops.expand_dims(count, 0), ops.expand_dims(self._num_unroll, 0)]
        shape = ops.concat([*sizes, inner], 0, name=f"concat_sequences_{key}")
        segments = ops.reshape(value, shape, name=f"reshape_sequences_{key}")
        dimensions = list(range(value.shape.ndims + 1))
        return check_dimensions(segments, dimensions, [count, self._num_unroll, *inner], f"reshaped_sequences_{key}")

    def _take(self):
        """(indices, keys, {component: values}) of the segments of a batch."""
        indices, keys, values = self._barrier.take_many(
            self._batch_size, self._allow_small_batch, name="BarrierTakeMany"
        )
        return indices, keys, {component: values[index] for component, index in self._indices.items()}


def _check_capacity(capacity, batch_size, key):
    """The key, which waits for the check if the size of batches is a tensor."""
    if isinstance(batch_size, Tensor):
        check = assert_greater_equal(
            ops.cast(capacity, dtypes.int64), ops.cast(batch_size, dtypes.int64),
            message="capacity needs to be >= batch_size.",
        )  # fmt: skip
        with control_dependencies([check]):
            return ops.identity(key)
    if capacity < batch_size:
        raise ValueError(f"capacity {capacity} needs to be >= batch_size {batch_size}")
    return key


def _check_states(states):
    if not isinstance(states, dict):
        raise TypeError("initial_states must be a dictionary")
    if not states:
        raise ValueError(
            "initial_states may not be empty: at least one state variable is required to properly enqueue split "
            "sequences to run in separate iterations"
        )
    for key in states:
        if not isinstance(key, str):
            raise TypeError(f"state name must be a string: {key}")
        if ":" in key:
            raise ValueError(f"state name may not have a colon: '{key}'")


def _copied(key, value, count):
    """A context for each segment: [segments, ...]."""
    shape = value.shape.as_list()
    row = ops.expand_dims(value, 0)
    times = ops.concat([ops.expand_dims(count, 0), [1] * len(shape)], 0, name=f"concat_context_{key}")
    rows = ops.tile(row, times, name=f"tile_context_{key}")
    return check_dimensions(rows, list(range(len(shape) + 1)), [count, *shape], f"expanded_context_{key}")
