"""GridRNNCell: a block of cells, one for each dimension of a grid, https://arxiv.org/abs/1507.01526."""

from __future__ import annotations

import logging
from typing import NamedTuple

from stillflow import ops
from stillflow.contrib.layers.dense import fully_connected
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.lstm_cells import LSTMCell
from stillflow.variables.get_variable import get_variable
from stillflow.variables.layer_initializers import xavier_initializer
from stillflow.variables.scope import get_variable_scope, variable_scope


class _Grid(NamedTuple):
    """What each dimension of a grid is: lists of dimensions in ascending order."""

    num_dims: int
    inputs: list
    outputs: list
    priority: list
    non_recurrent: list

    def recurrent(self):
        return [dim for dim in range(self.num_dims) if dim not in self.non_recurrent]

    def later(self):
        """The dimensions without priority."""
        return [dim for dim in range(self.num_dims) if dim not in self.priority]


def _dims(chosen, num_dims):
    """A dimension, several or None as a sorted list. Raises ValueError for one that there is not."""
    if chosen is None:
        return []
    dims = sorted(set(chosen if isinstance(chosen, list | tuple) else [chosen]))
    if any(not 0 <= dim < num_dims for dim in dims):
        raise ValueError(f"Invalid dims: {dims}. Must be in [0, {num_dims})")
    return dims


@public("contrib.grid_rnn.GridRNNCell")
class GridRNNCell(RNNCell):
    """A cell for each dimension of a grid; each gets the outputs of all dimensions, the last one's as its state.

    Args:
      num_units: the size of every dimension.
      num_dims: how many dimensions there are.
      input_dims: the dimension, or dimensions, that receive the input.
      output_dims: those whose outputs are the output.
      priority_dims: those that are computed last, and see what the others have put out in this step.
      non_recurrent_dims: those without a state, which are layers instead of cells.
      tied: whether the dimensions share their variables.
      cell_fn: a function from a number of units to a cell; LSTMCell by default.
      non_recurrent_fn: the activation of dimensions without a state; relu by default.
      state_is_tuple: whether a state is a tuple of the states of recurrent dimensions, instead of them side by side.
      output_is_tuple: likewise for outputs.

    Raises:
      TypeError: if `cell_fn` makes something that is no cell.
      ValueError: for a dimension that is not there.
    """

    def __init__(
        self, num_units, num_dims=1, input_dims=None, output_dims=None, priority_dims=None, non_recurrent_dims=None,
        tied=False, cell_fn=None, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True,
    ):  # fmt: skip
        super().__init__()
        for what, is_tuple in (("state", state_is_tuple), ("output", output_is_tuple)):
            if not is_tuple:
                logging.getLogger("tensorflow").warning(
                    "%s: Using a concatenated %s is slower and will soon be deprecated.  Use %s_is_tuple=True.",
                    self, what, what,
                )  # fmt: skip
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        chosen = (input_dims, output_dims, priority_dims, non_recurrent_dims)
        self._grid = _Grid(num_dims, *(_dims(dims, num_dims) for dims in chosen))
        self._num_units = num_units
        self._tied = tied
        self._non_recurrent_fn = non_recurrent_fn or ops.relu
        self._state_is_tuple = state_is_tuple
        self._output_is_tuple = output_is_tuple

        def make_cell():
            return LSTMCell(num_units, state_is_tuple=state_is_tuple) if cell_fn is None else cell_fn(num_units)

        self._cells = [make_cell()] * num_dims if tied else [make_cell() for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {type(self._cells[0])}")

    @property
    def output_size(self):
        size, count = self._cells[0].output_size, len(self._grid.outputs)
        return (size,) * count if self._output_is_tuple else size * count

    @property
    def state_size(self):
        count = len(self._grid.recurrent())
        return (self._cells[0].state_size,) * count if self._state_is_tuple else self._cell_state_size() * count

    def _cell_state_size(self):
        """The size of a dimension's state, with all of its parts."""
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    def __call__(self, inputs, state, scope=None):
        """(output, next state)."""
        memories, outputs = self._parts(state)
        new_outputs: list = [None] * self._grid.num_dims
        new_states: list = [None] * self._grid.num_dims
        with variable_scope(scope or type(self).__name__):
            self._project(inputs, memories, outputs)
            for dims, is_first in ((self._grid.later(), True), (self._grid.priority, False)):
                self._propagate(dims, memories, outputs, new_outputs, new_states, is_first)
            output = tuple(new_outputs[dim] for dim in self._grid.outputs)
            if not self._output_is_tuple:
                output = _side_by_side(output, inputs.dtype)
            new_state = tuple(new_states[dim] for dim in self._grid.recurrent())
            if not self._state_is_tuple:
                new_state = _side_by_side([part for parts in new_state for part in parts], inputs.dtype)
        return output, new_state

    def _parts(self, state):
        """(memory, output) of each dimension before the step, as two lists, with None for what is not there."""
        memories: list = [None] * self._grid.num_dims
        outputs: list = [None] * self._grid.num_dims
        recurrent, units, size = self._grid.recurrent(), self._num_units, self._cell_state_size()
        if self._state_is_tuple and len(state) != len(recurrent):
            raise ValueError(f"Expected state as a tuple of {len(recurrent)} element")
        for place, dim in enumerate(recurrent):
            if self._state_is_tuple:
                memories[dim], outputs[dim] = state[place] if size > units else (None, state[place])
                continue
            if size > units:
                memories[dim] = ops.slice(state, [0, place * size], [-1, units])
                outputs[dim] = ops.slice(state, [0, place * size + units], [-1, size - units])
            else:
                outputs[dim] = ops.slice(state, [0, place * size], [-1, units])
        return memories, outputs

    def _project(self, inputs, memories, outputs):
        """Puts projections of the input in the places of the input dimensions."""
        dims = self._grid.inputs
        if inputs is None or not dimension_value(inputs.shape.with_rank(2)[1]) or not dims:
            return
        pieces = ops.split(value=inputs, num_or_size_splits=len(dims), axis=1)
        shape = [dimension_value(pieces[0].shape.with_rank(2)[1]), self._num_units]
        for piece, dim in zip(pieces, dims, strict=True):
            outputs[dim] = ops.matmul(piece, get_variable(f"project_m_{dim}", shape, dtype=inputs.dtype))
            if self._cell_state_size() > self._num_units:
                memories[dim] = ops.matmul(piece, get_variable(f"project_c_{dim}", shape, dtype=inputs.dtype))

    def _propagate(self, dims, memories, outputs, new_outputs, new_states, is_first):
        """Computes the outputs and states of `dims`, all from what is known before the first of them."""
        if not dims:
            return
        known = [old if new is None else new for old, new in zip(outputs, new_outputs, strict=True)]
        last = known[-1]
        if self._grid.num_dims > 1:
            inputs = ops.concat(known[:-1], 1)
        else:
            inputs = ops.zeros([last.shape.as_list()[0], 0], last.dtype)
        for dim in dims:
            is_layer = dim in self._grid.non_recurrent
            kind = "non_recurrent" if is_layer else "recurrent"
            layer_inputs = ops.concat([inputs, last], 1) if is_layer and self._grid.num_dims > 1 else last
            with variable_scope(kind if self._tied else f"{kind}/cell_{dim}"):
                if self._tied and not (is_first and dim == dims[0]):
                    get_variable_scope().reuse_variables()
                if is_layer:
                    new_outputs[dim] = self._layer(layer_inputs)
                else:
                    state = last if memories[dim] is None else (memories[dim], last)
                    new_outputs[dim], new_states[dim] = self._cells[dim](inputs, state)

    def _layer(self, inputs):
        """The output of a dimension that has no state."""
        scope = get_variable_scope()
        return fully_connected(
            inputs,
            num_outputs=self._num_units,
            activation_fn=self._non_recurrent_fn,
            weights_initializer=scope.initializer or xavier_initializer,
            weights_regularizer=scope.regularizer,
        )


def _side_by_side(tensors, dtype):
    return ops.concat(list(tensors), 1) if tensors else ops.zeros([0, 0], dtype)
