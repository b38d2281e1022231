"""AttentionCellWrapper: a cell that attends to its own last outputs, https://arxiv.org/abs/1409.0473."""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.contrib.rnn.linear import Linear
from stillflow.graph import nest
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.states import assert_like_rnncell
from stillflow.variables.get_variable import get_variable
from stillflow.variables.scope import variable_scope


@public("contrib.rnn.AttentionCellWrapper")
class AttentionCellWrapper(RNNCell):
    """Gives a cell its input and a weighted mean of its last outputs; outputs come from the cell's and the next mean.

    A state is (the cell's, the mean, the last outputs).

    Args:
      cell: an RNNCell.
      attn_length: how many outputs are remembered.
      attn_size: the size of outputs; the cell's by default.
      attn_vec_size: the size of what scores are made of; `attn_size` by default.
      input_size: the size of what the cell gets; that of inputs by default.
      state_is_tuple: whether the parts of a state are a tuple, instead of side by side.
      reuse: whether the variables exist.

    Raises:
      TypeError: if `cell` is none.
      ValueError: for a length below 1, and for a cell whose states are tuples unless `state_is_tuple`.
    """

    def __init__(
        self, cell, attn_length, attn_size=None, attn_vec_size=None, input_size=None, state_is_tuple=True, reuse=None
    ):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: "
                f"{cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            logging.getLogger("tensorflow").warning(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.",
                self,
            )
        self._state_is_tuple = state_is_tuple
        self._cell = cell
        self._input_size = input_size
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._attn_length = attn_length
        self._reuse = reuse
        self._linear1 = None
        self._linear2 = None
        self._linear3 = None

    @property
    def state_size(self):
        size = self._cell.state_size, self._attn_size, self._attn_size * self._attn_length
        return size if self._state_is_tuple else sum(size)

    @property
    def output_size(self):
        return self._attn_size

    def _parts(self, states):
        """The parts of a state that lie side by side."""
        sizes, begin, parts = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length), 0, []
        for size in sizes:
            parts.append(ops.slice(states, [0, begin], [-1, size]))
            begin += size
        return parts

    def call(self, inputs, state):
        """(output, next state)."""
        cell_state, mean, outputs = state if self._state_is_tuple else self._parts(state)
        outputs = ops.reshape(outputs, [-1, self._attn_length, self._attn_size])
        size = inputs.shape.as_list()[1] if self._input_size is None else self._input_size
        if self._linear1 is None:
            self._linear1 = Linear([inputs, mean], size, True)
        cell_output, cell_state = self._cell(self._linear1([inputs, mean]), cell_state)
        query = ops.concat(nest.flatten(cell_state), 1) if self._state_is_tuple else cell_state
        mean, kept = self._attend(query, outputs)
        with variable_scope("attn_output_projection"):
            if self._linear2 is None:
                self._linear2 = Linear([cell_output, mean], self._attn_size, True)
            output = self._linear2([cell_output, mean])
        outputs = ops.concat([kept, ops.expand_dims(output, 1)], 1)
        outputs = ops.reshape(outputs, [-1, self._attn_length * self._attn_size])
        new_state = cell_state, mean, outputs
        return output, new_state if self._state_is_tuple else ops.concat(list(new_state), 1)

    def _attend(self, query, outputs):
        """(the mean of outputs for a query, all outputs but the oldest)."""
        length, size, vector_size = self._attn_length, self._attn_size, self._attn_vec_size
        with variable_scope("attention"):
            kernel = get_variable("attn_w", [1, 1, size, vector_size])
            vector = get_variable("attn_v", [vector_size])
            hidden = ops.reshape(outputs, [-1, length, 1, size])
            features = ops.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            if self._linear3 is None:
                self._linear3 = Linear(query, vector_size, True)
            place = ops.reshape(self._linear3(query), [-1, 1, 1, vector_size])
            weights = ops.softmax(ops.reduce_sum(vector * ops.tanh(features + place), [2, 3]))
            mean = ops.reduce_sum(ops.reshape(weights, [-1, length, 1, 1]) * hidden, [1, 2])
            return ops.reshape(mean, [-1, size]), ops.slice(outputs, [0, 1, 0], [-1, -1, -1])
