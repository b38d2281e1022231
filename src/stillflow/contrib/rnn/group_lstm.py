"""GLSTMCell: an LSTM of groups of units, each of which sees its part of the input, https://arxiv.org/abs/1703.10722."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.rnn.linear import Linear
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant
from stillflow.variables.scope import get_variable_scope, variable_scope


@public("contrib.rnn.GLSTMCell")
class GLSTMCell(RNNCell):
    """An LSTM whose matrix is of blocks, one for each group.

    Args:
      num_units: the size of c.
      initializer: that of the kernels.
      num_proj: the size of the projection; there is none by default.
      number_of_groups: what inputs, units and projection are divided by.
      forget_bias: what is added to the forget gate.
      activation: a function.
      reuse: whether the variables exist.

    Raises ValueError for sizes that cannot be divided.
    """

    def __init__(
        self, num_units, initializer=None, num_proj=None, number_of_groups=1, forget_bias=1.0, activation=ops.tanh,
        reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._num_proj = num_proj
        self._forget_bias = forget_bias
        self._activation = activation
        self._number_of_groups = number_of_groups
        if num_units % number_of_groups != 0:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups != 0:
            raise ValueError("num_proj must be divisible by number_of_groups")
        self._group_shape = [(num_proj or num_units) // number_of_groups, num_units // number_of_groups]
        self._linear1: list = [None] * number_of_groups
        self._linear2 = None

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self):
        return self._num_proj or self._num_units

    def _part(self, values, batch, group, size):
        name = f"GLSTM_group{group}_input_generation"
        return ops.slice(values, begin=[0, group * size], size=[batch, size], name=name)

    def _group_sums(self, inputs, m, batch, group):
        with variable_scope(f"group{group}"):
            size = dimension_value(inputs.shape[1]) // self._number_of_groups
            parts = [self._part(inputs, batch, group, size), self._part(m, batch, group, self._group_shape[0])]
            values = ops.concat(parts, axis=1)
            if self._linear1[group] is None:
                self._linear1[group] = Linear(values, 4 * self._group_shape[1], False)
            return ops.split(self._linear1[group](values), 4, 1)

    def _gates(self, inputs, m):
        dtype = inputs.dtype
        batch = dimension_value(inputs.shape[0]) or ops.shape(inputs)[0]
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            sums = [self._group_sums(inputs, m, batch, group) for group in range(self._number_of_groups)]
            biases = [
                get_variable(
                    name=f"bias_{gate}", shape=[self._num_units], dtype=dtype, initializer=Constant(0.0, dtype=dtype)
                )
                for gate in "ijfo"
            ]
            gates = zip(zip(*sums, strict=True), biases, strict=True)
            return [ops.bias_add(ops.concat(list(parts), axis=1), bias) for parts, bias in gates]

    def call(self, inputs, state):
        """(output, next state)."""
        c, m = state
        depth = dimension_value(inputs.shape[1])
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % self._number_of_groups != 0:
            raise ValueError(
                f"input size ({depth}) must be divisible by number_of_groups ({self._number_of_groups})"
            )  # fmt: skip
        i, j, f, o = self._gates(inputs, m)
        new_c = ops.sigmoid(f + self._forget_bias) * c + ops.sigmoid(i) * ops.tanh(j)
        new_m = ops.sigmoid(o) * self._activation(new_c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                if self._linear2 is None:
                    self._linear2 = Linear(new_m, self._num_proj, False)
                new_m = self._linear2(new_m)
        return new_m, LSTMStateTuple(new_c, new_m)
