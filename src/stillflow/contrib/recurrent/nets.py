"""functional_rnn and bidirectional_functional_rnn: dynamic_rnn by Recurrent."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.recurrent.steps import Recurrent
from stillflow.graph import nest
from stillflow.graph.shape import as_shape
from stillflow.names import public
from stillflow.variables.scope import variable_scope


@public("contrib.recurrent.functional_rnn")
def functional_rnn(
    cell, inputs, sequence_length=None, initial_state=None, dtype=None, time_major=False, scope=None, use_tpu=False,
    reverse=False,
):  # fmt: skip
    """Runs a cell along sequences, as dynamic_rnn does.

    Args:
      cell: an RNNCell whose output is one tensor [batch, size].
      inputs: [batch, time, ...], or a structure of such tensors.
      sequence_length: int32 [batch]: outputs from there on are zeros, and the final state is that of the step before,
        zeros for length 0.
      initial_state: the first state; by default the cell's zero state.
      dtype: the type of that.
      time_major: whether inputs and outputs are [time, batch, ...].
      scope: the scope of variables, 'rnn' by default.
      use_tpu: not used.
      reverse: whether it runs from the last step to the first.

    Returns:
      (outputs [batch, time, size] or [time, batch, size], final state).
    """
    with variable_scope(scope or "rnn") as inner:
        if not time_major:
            inputs = nest.map_structure(_exchange, inputs)
        batch = ops.shape(nest.flatten(inputs)[0])[1]
        state = cell.zero_state(batch, dtype) if initial_state is None else initial_state
    longest = lengths = None
    if sequence_length is not None:
        lengths = ops.cast(sequence_length, "int32")
        lengths.set_shape([None])
        longest = ops.reduce_max(lengths)
    if reverse:
        inputs = nest.map_structure(lambda each: ops.reverse_v2(each, [0]), inputs)

    def step(theta, pair, values):
        with variable_scope(inner, auxiliary_name_scope=False):
            return cell(values, pair[1]), []

    sizes = as_shape(cell.output_size).as_list()
    zeros = ops.zeros([batch, *sizes], dtype=nest.flatten(state)[0].dtype)
    zeros.set_shape([nest.flatten(inputs)[0].shape.dims[1].value, *sizes])
    (outputs, states), (_, final) = Recurrent(
        [], (zeros, state), inputs, step, max_input_length=longest, aligned_end=reverse
    )
    if lengths is not None and not reverse:
        final = _states_at(states, lengths - 1)
    if reverse:
        outputs = ops.reverse_v2(outputs, [0])
    if lengths is not None:
        steps = ops.range(ops.shape(outputs)[0])[:, None]
        counts = ops.cast(steps < lengths[None, :], outputs.dtype)
        outputs *= ops.expand_dims(counts, 2)
    return (outputs if time_major else _exchange(outputs)), final


@public("contrib.recurrent.bidirectional_functional_rnn")
def bidirectional_functional_rnn(
    cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None, sequence_length=None,
    time_major=False, use_tpu=False, fast_reverse=False, scope=None,
):  # fmt: skip
    """Runs one cell forward and another backward along sequences, as bidirectional_dynamic_rnn does.

    Args:
      cell_fw, cell_bw: RNNCells.
      inputs: [batch, time, ...].
      initial_state_fw, initial_state_bw: first states; by default the cells' zero states.
      dtype: the type of these.
      sequence_length: int32 [batch].
      time_major: whether inputs and outputs are [time, batch, ...].
      use_tpu: not used.
      fast_reverse: whether sequences are reversed with what is behind their ends.
      scope: the scope of variables, 'bidirectional_rnn' by default.

    Returns:
      ((outputs forward, outputs backward), (final state forward, final state backward)).
    """
    time, batch = (0, 1) if time_major else (1, 0)

    def reverse(tensor):
        if fast_reverse:
            return tensor
        if sequence_length is None:
            return ops.reverse_v2(tensor, [time])
        return ops.reverse_sequence(tensor, sequence_length, seq_axis=time, batch_axis=batch)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as way:
            forward, final_forward = functional_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype, time_major, way
            )
        with variable_scope("bw") as way:
            backward, final_backward = functional_rnn(
                cell_bw, nest.map_structure(reverse, inputs), sequence_length, initial_state_bw, dtype, time_major,
                way, reverse=fast_reverse,
            )  # fmt: skip
    return (forward, reverse(backward)), (final_forward, final_backward)


def _exchange(tensor):
    """[time, batch, ...] of [batch, time, ...]."""
    return ops.transpose(tensor, [1, 0, *range(2, tensor.shape.rank)])


def _states_at(states, places):
    """The states after step `places[i]` of sequence i; zeros where there is none."""

    def pick(state):
        steps = ops.range(ops.shape(state)[0])[:, None]
        is_last = ops.cast(ops.equal(steps, places[None, :]), state.dtype)
        others = [1] * (state.shape.rank - 2)
        return ops.reduce_sum(state * ops.reshape(is_last, ops.concat([ops.shape(is_last), others], 0)), axis=0)

    return nest.map_structure(pick, states)
