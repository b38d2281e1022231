"""FusedRNNCell and what makes one of a cell, or of another one: all steps of a sequence in one call."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.names import public
from stillflow.rnn.dynamic import dynamic_rnn
from stillflow.rnn.static import static_rnn


@public("contrib.rnn.FusedRNNCell")
class FusedRNNCell(metaclass=abc.ABCMeta):
    """What computes all steps of a sequence: LSTMBlockFusedCell is one."""

    @abc.abstractmethod
    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """(outputs, last state).

        Args:
          inputs: [time, batch, depth], or a list of tensors [batch, depth].
          initial_state: a state; zeros by default.
          dtype: the type of states and outputs, if there is no state.
          sequence_length: integers [batch]: how many steps count.
          scope: the variable scope of the variables, or its name.
        """


@public("contrib.rnn.FusedRNNCellAdaptor")
class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell that computes all steps of a sequence by dynamic_rnn, or by static_rnn.

    Args:
      cell: an RNNCell.
      use_dynamic_rnn: which.
    """

    def __init__(self, cell, use_dynamic_rnn=False):
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """(outputs, last state), see FusedRNNCell; outputs are a list where inputs are."""
        is_list = isinstance(inputs, list)
        common = {
            "sequence_length": sequence_length, "initial_state": initial_state, "dtype": dtype, "scope": scope,
        }  # fmt: skip
        if self._use_dynamic_rnn:
            inputs = ops.stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(self._cell, inputs, time_major=True, **common)
            return (ops.unstack(outputs) if is_list else outputs), state
        outputs, state = static_rnn(self._cell, inputs if is_list else ops.unstack(inputs), **common)
        return (outputs if is_list else ops.stack(outputs)), state


@public("contrib.rnn.TimeReversedFusedRNN")
class TimeReversedFusedRNN(FusedRNNCell):
    """Runs another FusedRNNCell from the end of sequences to their beginnings; outputs are in the order of inputs."""

    def __init__(self, cell):
        self._cell = cell

    def __call__(self, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
        """(outputs, last state), see FusedRNNCell."""
        outputs, state = self._cell(
            _reversed(inputs, sequence_length),
            initial_state=initial_state, dtype=dtype, sequence_length=sequence_length, scope=scope,
        )  # fmt: skip
        return _reversed(outputs, sequence_length), state


def _reversed(steps, lengths):
    if isinstance(steps, list):
        return list(reversed(steps))
    return ops.reverse_v2(steps, [0]) if lengths is None else ops.reverse_sequence(steps, lengths, 0, 1)
