"""Bidirectional nets on top of each other: each layer sees both directions of the one below."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.rnn.dynamic import bidirectional_dynamic_rnn
from stillflow.rnn.static import static_bidirectional_rnn
from stillflow.variables.scope import variable_scope


@public("contrib.rnn.stack_bidirectional_rnn")
def stack_bidirectional_rnn(
    cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None, dtype=None, sequence_length=None,
    scope=None,
):  # fmt: skip
    """tf.nn.static_bidirectional_rnn, several times: the outputs of one are the inputs of the next.

    Args:
      cells_fw, cells_bw: lists of cells, the lowest first.
      inputs, dtype, sequence_length: see tf.nn.static_rnn.
      initial_states_fw, initial_states_bw: lists of first states.
      scope: the variable scope, or its name; "stack_bidirectional_rnn" by default.

    Returns (list of outputs, tuple of final forward states, tuple of final backward states).

    Raises ValueError for what are no lists, or lists of different lengths.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, cells in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{number}") as entered:
                inputs, state_fw, state_bw = static_bidirectional_rnn(
                    *cells, inputs, _item(initial_states_fw, number), _item(initial_states_bw, number), dtype,
                    sequence_length, entered,
                )  # fmt: skip
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return inputs, tuple(states_fw), tuple(states_bw)


@public("contrib.rnn.stack_bidirectional_dynamic_rnn")
def stack_bidirectional_dynamic_rnn(
    cells_fw, cells_bw, inputs, initial_states_fw=None, initial_states_bw=None, dtype=None, sequence_length=None,
    parallel_iterations=None, time_major=False, scope=None, swap_memory=False,
):  # fmt: skip
    """tf.nn.bidirectional_dynamic_rnn, several times: the outputs of one, side by side, are the inputs of the next.

    Args:
      cells_fw, cells_bw: lists of cells, the lowest first.
      inputs, dtype, sequence_length, parallel_iterations, time_major, swap_memory: see tf.nn.dynamic_rnn.
      initial_states_fw, initial_states_bw: lists of first states.
      scope: the variable scope, or its name; "stack_bidirectional_rnn" by default.

    Returns (outputs, tuple of final forward states, tuple of final backward states).

    Raises ValueError for what are no lists, or lists of different lengths.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states_fw, states_bw = [], []
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for number, cells in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with variable_scope(f"cell_{number}"):
                outputs, states = bidirectional_dynamic_rnn(
                    *cells, inputs, sequence_length, _item(initial_states_fw, number),
                    _item(initial_states_bw, number), dtype, parallel_iterations, swap_memory, time_major,
                )  # fmt: skip
                inputs = ops.concat(outputs, 2)
            states_fw.append(states[0])
            states_bw.append(states[1])
    return inputs, tuple(states_fw), tuple(states_bw)


def _item(states, number):
    return states[number] if states else None


def _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw):
    for cells, name in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {name} cell for BidirectionalRNN.")
    for cells, name in ((cells_fw, "cells_fw"), (cells_bw, "cells_bw")):
        if not isinstance(cells, list):
            raise ValueError(f"{name} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for states, name in ((initial_states_fw, "initial_states_fw"), (initial_states_bw, "initial_states_bw")):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(f"{name} must be a list of state tensors (one per layer).")
