"""WeightNormLSTMCell: an LSTM whose weights are directions and lengths, https://arxiv.org/abs/1602.07868."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.composites.normalization import l2_normalize
from stillflow.contrib.rnn.gated_cells import known_depth
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant
from stillflow.variables.scope import get_variable_scope, variable_scope


@public("contrib.rnn.python.ops.rnn_cell.WeightNormLSTMCell")
class WeightNormLSTMCell(RNNCell):
    """LSTMCell whose columns of weights, of inputs and of states each, have lengths that are variables.

    Args:
      num_units: the size of c.
      norm: whether that is so; else it is LSTMCell with other names of variables.
      use_peepholes: whether there are peepholes.
      cell_clip: c is cut off at plus and minus this value.
      initializer: that of the variables.
      num_proj: the size of the projection; there is none by default.
      proj_clip: what is projected is cut off at plus and minus this value.
      forget_bias: what is added to the forget gate.
      activation: a function; tanh by default.
      reuse: whether the variables exist.
    """

    def __init__(
        self, num_units, norm=True, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None,
        proj_clip=None, forget_bias=1, activation=None, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._scope = "wn_lstm_cell"
        self._num_units = num_units
        self._norm = norm
        self._initializer = initializer
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._activation = activation or ops.tanh
        self._forget_bias = forget_bias

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self):
        return self._num_proj or self._num_units

    def _normalized(self, weights, values):
        parts, begin = [], 0
        with control_dependencies(None):
            for i, value in enumerate(values):
                end = begin + dimension_value(value.shape[1])
                part = weights[begin:end, :]
                lengths = get_variable(f"norm_{i}", [part.shape.as_list()[1]], dtype=part.dtype)
                parts.append(l2_normalize(part, axis=0) * lengths)
                begin = end
            return ops.concat(parts, axis=0)

    def _product(self, values, size):
        """[values] * kernel."""
        depth = sum(dimension_value(value.shape[1]) for value in values)
        weights = get_variable("kernel", [depth, size], dtype=values[0].dtype)
        if self._norm:
            weights = self._normalized(weights, values)
        return ops.matmul(values[0] if len(values) == 1 else ops.concat(values, 1), weights)

    def _gates(self, values):
        size, dtype = 4 * self._num_units, values[0].dtype
        with variable_scope(get_variable_scope()) as outer:
            sums = self._product(values, size)
            with variable_scope(outer) as inner:
                inner.set_partitioner(None)
                bias = get_variable("bias", [size], dtype=dtype, initializer=Constant(0.0, dtype=dtype))
            sums = ops.bias_add(sums, bias)
        return ops.split(value=sums, num_or_size_splits=4, axis=1)

    def _projected(self, h):
        with variable_scope("projection"), variable_scope(get_variable_scope()):
            h = self._product([h], self._num_proj)
        return h if self._proj_clip is None else clip_by_value(h, -self._proj_clip, self._proj_clip)

    def call(self, inputs, state):
        """(output, next state)."""
        c, h = state
        known_depth(inputs)
        with variable_scope(self._scope, initializer=self._initializer):
            i, j, f, o = self._gates([inputs, h])
            if self._use_peepholes:
                of_f, of_i, of_o = (
                    get_variable(f"w_{gate}_diag", shape=[self._num_units], dtype=inputs.dtype) for gate in "fio"
                )
                kept = c * ops.sigmoid(f + self._forget_bias + of_f * c)
                new_c = kept + ops.sigmoid(i + of_i * c) * self._activation(j)
            else:
                new_c = c * ops.sigmoid(f + self._forget_bias) + ops.sigmoid(i) * self._activation(j)
            if self._cell_clip is not None:
                new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
            gate = ops.sigmoid(o + of_o * new_c) if self._use_peepholes else ops.sigmoid(o)
            new_h = gate * self._activation(new_c)
            if self._num_proj is not None:
                new_h = self._projected(new_h)
            return new_h, LSTMStateTuple(new_c, new_h)
