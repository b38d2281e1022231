"""HighwayWrapper: a gate between a cell's input and its output."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.dense_layer import xw_plus_b
from stillflow.graph import nest
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant


@public("contrib.rnn.HighwayWrapper")
class HighwayWrapper(RNNCell):
    """Mixes a cell's inputs and outputs, input * carry + output * transform, by gates: https://arxiv.org/abs/1505.00387.

    Args:
      cell: an RNNCell whose outputs are of the shapes of its inputs.
      couple_carry_transform_gates: whether transform = 1 - carry.
      carry_bias_init: the initial bias of the carry gate; that of the transform gate is minus this.

    When called it raises ValueError for outputs of other shapes.
    """

    def __init__(self, cell, couple_carry_transform_gates=True, carry_bias_init=1.0):
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        """The zero state of the cell inside."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def _gate(self, name, inputs, bias):
        size = inputs.shape.with_rank(2).dims[1].value
        weights = get_variable(f"{name}_w", [size, size])
        biases = get_variable(f"{name}_b", [size], initializer=Constant(bias))
        return ops.sigmoid(xw_plus_b(inputs, weights, biases))

    def _highway(self, inputs, outputs):
        carry = self._gate("carry", inputs, self._carry_bias_init)
        if self._couple_carry_transform_gates:
            transform = 1 - carry
        else:
            transform = self._gate("transform", inputs, -self._carry_bias_init)
        return inputs * carry + outputs * transform

    def __call__(self, inputs, state, scope=None):
        """(output, next state). `scope` is the variable scope that the cell inside gets."""
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        nest.map_structure(lambda a, b: a.shape.assert_is_compatible_with(b.shape), inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), new_state
