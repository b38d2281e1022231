"""What the loops along sequences have in common: one step, variables that are read once, and sequences' lengths."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.rnn.cell import RNNCell


@by_mode
def cache_variables(scope):
    """Lets variables that are made in a scope be read once, where the graph's other nodes are, not in every step.

    But not within a loop, whose rounds may change them.
    """
    context = get_default_graph()._get_control_flow_context()
    is_in_loop = context is not None and context.GetWhileContext() is not None
    if not is_in_loop and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


@eager_version_of(cache_variables)
def _cache_nothing(scope):
    """Variables are read when they are used."""


class Lengths:
    """How long the sequences of a batch are, an int32 vector, and the shortest and longest of these lengths."""

    def __init__(self, lengths):
        self.each = lengths
        self.shortest = ops.reduce_min(lengths)
        self.longest = ops.reduce_max(lengths)


@public("python.ops.rnn._rnn_step")
def rnn_step(
    time, sequence_length, min_sequence_length, max_sequence_length, zero_output, state, call_cell, state_size,
    skip_conditionals=False,
):  # fmt: skip
    """(output, next state): the cell's for sequences that go on, zeros and the old state for those that have ended.

    Args:
      time: which step it is, an int or an int32 scalar.
      sequence_length: the sequences' lengths, int32 [batch].
      min_sequence_length, max_sequence_length: the least and greatest of these.
      zero_output: zeros of the shapes of outputs.
      state: the old state.
      call_cell: a function without arguments that returns the cell's output and next state.
      state_size: is not used.
      skip_conditionals: whether the cell is always called, even after the end of all sequences.

    Raises ValueError or TypeError if outputs or states are of another structure than they should be.
    """
    old = nest.flatten(zero_output) + nest.flatten(state)
    has_ended = time >= sequence_length

    def call():
        output, new_state = call_cell()
        nest.assert_same_structure(zero_output, output)
        nest.assert_same_structure(state, new_state)
        return nest.flatten(output) + nest.flatten(new_state)

    def selected(new):
        return [select(has_ended, before, after) for before, after in zip(old, new, strict=True)]

    def call_or_select():
        new = call()
        return cond(time < min_sequence_length, lambda: new, lambda: selected(new))

    if skip_conditionals:
        results = selected(call())
    else:
        results = cond(time >= max_sequence_length, lambda: list(old), call_or_select)
    count = len(nest.flatten(zero_output))
    for result, before in zip(results, old, strict=True):
        if not isinstance(result, TensorArray):
            result.set_shape(before.shape)
    return nest.pack_sequence_as(zero_output, results[:count]), nest.pack_sequence_as(state, results[count:])


def select(has_ended, old, new):
    """The rows of `old` for sequences that have ended, else those of `new`; all of `new` if it has no rows."""
    if isinstance(old, TensorArray) or old.shape.rank == 0:
        return new
    with get_default_graph().colocate_with(new):
        return ops.where(has_ended, old, new)


def packs_state(cell):
    """Whether a cell is one of Keras, which takes and returns a list where the state is a single tensor."""
    from stillflow.layers.core.layer import Layer

    return isinstance(cell, Layer) and not isinstance(cell, RNNCell) and getattr(cell, "zero_state", None) is None
