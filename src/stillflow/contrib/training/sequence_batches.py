"""tf.contrib.training.NextQueuedSequenceBatch: segments of sequences, as a SequenceQueueingStateSaver gives them."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.training.run_time_checks import check_shape
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public


@public("contrib.training.NextQueuedSequenceBatch")
class NextQueuedSequenceBatch:
    """A batch of segments. `SequenceQueueingStateSaver.next_batch` makes it.

    Attributes, all of them vectors with an element for each segment unless something else is said:
      total_length: the lengths of the sequences.
      length: how many steps of the segment belong to the sequence and not to its padding.
      batch_size: how many segments there are, an int32 scalar.
      insertion_index: the places of the sequences in the order in which they came; the first has -2**63.
      key: the names of the segments, as b"00001_of_00003:name".
      next_key: the names of those that follow, or b"STOP:name".
      sequence: the number of the segment in its sequence, from 0.
      sequence_count: how many segments the sequence has.
      context: a dictionary of tensors [batch, ...].
      sequences: a dictionary of tensors [batch, steps, ...].
    """

    def __init__(self, state_saver):
        self._saver = state_saver
        self.insertion_index, self.key, values = state_saver._take()
        self.sequence = values["sequence"]
        self.sequence_count = values["sequence_count"]
        self.next_key = values["next_key"]
        self.length = values["length"]
        self.total_length = values["total_length"]
        self.context = _of_kind("context", values)
        self.sequences = _of_kind("sequence", values)
        self.batch_size = ops.squeeze(ops.shape(self.length))
        self._is_done = self.sequence + 1 >= self.sequence_count
        finished = ops.reduce_sum(ops.cast(self._is_done, dtypes.int32))
        # Sequences that are finished make room. What reads a state waits for that, so that it happens.
        with control_dependencies([state_saver._tokens.dequeue_many(finished)]):
            self._states = {key: ops.identity(value) for key, value in _of_kind("state", values).items()}

    def state(self, state_name):
        """The states of the segments, a tensor [batch, ...]. Raises KeyError for a name without an initial state."""
        return self._states[state_name]

    def save_state(self, state_name, value, name=None):
        """The operation that gives the segments that follow their state. It must run in each run that reads segments.

        Args:
          state_name: which state.
          value: a tensor of the shape and type of `state(state_name)`.
          name: the scope of the nodes.

        Raises:
          KeyError: for a name without an initial state.
        """
        if state_name not in self._states:
            raise KeyError(f"state was not declared: {state_name}")
        with (
            name_scope(name, "InputQueueingStateSaver_SaveState", [value]),
            colocate_with(self._saver._tokens.queue_ref),
        ):
            going_on = ops.reshape(ops.where_v2(ops.logical_not(self._is_done)), [-1])
            keys = ops.gather(self.next_key, going_on)
            value = ops.identity(value, name=f"convert_{state_name}")
            value = check_shape(value, ops.shape(self._states[state_name]))
            kept = ops.gather(value, going_on)
            return self._saver._insert(("state", state_name), keys, kept, f"BarrierInsertState_{state_name}")


def _of_kind(kind, values):
    """{name: tensor} of the barrier's components of a kind."""
    pairs = ((component, value) for component, value in values.items() if isinstance(component, tuple))
    return {component[1]: value for component, value in pairs if component[0] == kind}
