"""MultiRNNCell: cells on top of each other."""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.name_scope import name_scope
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.tracking.base import Trackable
from stillflow.variables.scope import variable_scope

_warned_of_sharing = False


@public("nn.rnn_cell.MultiRNNCell", "contrib.rnn.MultiRNNCell", "contrib.rnn.python.ops.core_rnn_cell.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """Several cells: each one's output is the input of the next.

    Their variables are in the scopes "cell_0", "cell_1", ...

    Args:
      cells: a list or tuple of cells, the lowest first.
      state_is_tuple: whether a state is a tuple of theirs, instead of all of them side by side; deprecated.

    Raises:
      ValueError: without cells, and for cells whose states are tuples unless `state_is_tuple`.
      TypeError: if `cells` is no sequence.
    """

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            _warn_of_sharing()
        self._cells = cells
        for number, cell in enumerate(cells):
            if isinstance(cell, Trackable):
                self._track_trackable(cell, name=f"cell-{number}")
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(cell.state_size) for cell in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes are: "
                f"{[cell.state_size for cell in cells]}"
            )

    @property
    def state_size(self):
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._cells[-1].output_size

    def zero_state(self, batch_size, dtype):
        """The zero states of all cells."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self):
        """The variables of all cells that are to be trained; empty if this is not trainable."""
        return self._weights_of_cells("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self):
        """The other variables of all cells."""
        others = self._weights_of_cells("non_trainable_weights")
        return others if self.trainable else self._weights_of_cells("trainable_weights") + others

    def _weights_of_cells(self, attribute):
        return [weight for cell in self._cells if isinstance(cell, Layer) for weight in getattr(cell, attribute)]

    def call(self, inputs, state):
        """(the highest cell's output, all next states)."""
        position, states = 0, []
        for number, cell in enumerate(self._cells):
            with variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    if not nest.is_nested(state):
                        raise ValueError(
                            f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}"
                        )
                    own = state[number]
                else:
                    own = ops.slice(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                inputs, next_state = cell(inputs, own)
                states.append(next_state)
        return inputs, tuple(states) if self._state_is_tuple else ops.concat(states, 1)


def _warn_of_sharing():
    """Says it once."""
    global _warned_of_sharing
    if not _warned_of_sharing:
        _warned_of_sharing = True
        logging.getLogger("tensorflow").warning(
            "At least two cells provided to MultiRNNCell are the same object and will share weights."
        )
