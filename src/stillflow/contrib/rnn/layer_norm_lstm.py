"""LayerNormBasicLSTMCell and LayerNormLSTMCell: LSTMs whose gates are normalized, https://arxiv.org/abs/1607.06450."""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.composites.dropout import dropout
from stillflow.contrib.layers.norms import layer_norm
from stillflow.contrib.rnn.gated_cells import known_depth
from stillflow.contrib.rnn.linear import linear
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant
from stillflow.variables.scope import get_variable_scope, variable_scope


def normalized(inputs, scope, gain, shift, dtype=None):
    """layer_norm(inputs), whose gamma and beta, in the variable scope `scope`, begin as `gain` and `shift`."""
    shape = inputs.shape[-1:]
    gamma, beta = Constant(gain), Constant(shift)
    types = {} if dtype is None else {"dtype": dtype}
    with variable_scope(scope):
        get_variable("gamma", shape=shape, initializer=gamma, **types)
        get_variable("beta", shape=shape, initializer=beta, **types)
    return layer_norm(inputs, reuse=True, scope=scope)


@public("contrib.rnn.LayerNormBasicLSTMCell")
class LayerNormBasicLSTMCell(RNNCell):
    """BasicLSTMCell with layer normalization of the gates and of c, and dropout of what goes into c.

    The dropout is that of "Recurrent dropout without memory loss", https://arxiv.org/abs/1603.05118.

    Args:
      num_units: the size of c and h.
      forget_bias: what is added to the forget gate.
      input_size: not used.
      activation: a function.
      layer_norm: whether gates are normalized; if not there is a bias.
      norm_gain, norm_shift: where gamma and beta begin.
      dropout_keep_prob: the probability that an element is kept, a float or a tensor; at 1.0 there is no dropout.
      dropout_prob_seed: the seed of the dropout.
      reuse: whether the variables exist.
    """

    def __init__(
        self, num_units, forget_bias=1.0, input_size=None, activation=ops.tanh, layer_norm=True, norm_gain=1.0,
        norm_shift=0.0, dropout_keep_prob=1.0, dropout_prob_seed=None, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logging.getLogger("tensorflow").warning("%s: The input_size parameter is deprecated.", self)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift
        self._reuse = reuse

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def _norm(self, inputs, scope, dtype):
        if not self._layer_norm:
            return inputs
        return normalized(inputs, scope, self._norm_gain, self._norm_shift, dtype)

    def _sums(self, values):
        size, dtype = 4 * self._num_units, values.dtype
        sums = ops.matmul(values, get_variable("kernel", [values.shape[-1], size], dtype=dtype))
        return sums if self._layer_norm else ops.bias_add(sums, get_variable("bias", [size], dtype=dtype))

    def call(self, inputs, state):
        """(h', next state)."""
        c, h = state
        values = ops.concat([inputs, h], 1)
        gates = ops.split(value=self._sums(values), num_or_size_splits=4, axis=1)
        names = ("input", "transform", "forget", "output")
        i, j, f, o = (self._norm(gate, name, values.dtype) for gate, name in zip(gates, names, strict=True))
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = dropout(g, self._keep_prob, seed=self._seed)
        new_c = c * ops.sigmoid(f + self._forget_bias) + ops.sigmoid(i) * g
        new_c = self._norm(new_c, "state", values.dtype)
        new_h = self._activation(new_c) * ops.sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


@public("contrib.rnn.python.ops.rnn_cell.LayerNormLSTMCell")
class LayerNormLSTMCell(RNNCell):
    """LSTMCell with layer normalization of the gates and of c: peepholes, clipping and projection as there.

    Args:
      num_units: the size of c.
      use_peepholes: whether there are peepholes.
      cell_clip: c is cut off at plus and minus this value.
      initializer: that of weights and projection.
      num_proj: the size of the projection; there is none by default.
      proj_clip: what is projected is cut off at plus and minus this value.
      forget_bias: what is added to the forget gate.
      activation: a function; tanh by default.
      layer_norm: whether gates are normalized. The bias, which is made anyway, is not added then.
      norm_gain, norm_shift: where gamma and beta begin.
      reuse: whether the variables exist.
    """

    def __init__(
        self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
        forget_bias=1.0, activation=None, layer_norm=False, norm_gain=1.0, norm_shift=0.0, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._forget_bias = forget_bias
        self._activation = activation or ops.tanh
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self):
        return self._num_proj or self._num_units

    def _norm(self, inputs, scope):
        return normalized(inputs, scope, self._norm_gain, self._norm_shift) if self._layer_norm else inputs

    def _gates(self, values):
        size, dtype = 4 * self._num_units, values[0].dtype
        depth = sum(dimension_value(value.shape[1]) for value in values)
        with variable_scope(get_variable_scope()) as outer:
            kernel = get_variable("kernel", [depth, size], dtype=dtype)
            sums = ops.matmul(ops.concat(values, 1), kernel)
            with variable_scope(outer) as inner:
                inner.set_partitioner(None)
                bias = get_variable("bias", [size], dtype=dtype, initializer=Constant(0.0, dtype=dtype))
        if not self._layer_norm:
            sums = ops.bias_add(sums, bias)
        gates = ops.split(value=sums, num_or_size_splits=4, axis=1)
        names = ("input", "transform", "forget", "output")
        return [self._norm(gate, name) for gate, name in zip(gates, names, strict=True)]

    def _peepholes(self, scope, dtype):
        if not self._use_peepholes:
            return None, None, None
        with variable_scope(scope):
            names = ("w_f_diag", "w_i_diag", "w_o_diag")
            return [get_variable(name, shape=[self._num_units], dtype=dtype) for name in names]

    def call(self, inputs, state):
        """(output, next state)."""
        c, m = state
        known_depth(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer) as scope:
            i, j, f, o = self._gates([inputs, m])
            of_f, of_i, of_o = self._peepholes(scope, inputs.dtype)
            if self._use_peepholes:
                kept = ops.sigmoid(f + self._forget_bias + of_f * c) * c
                new_c = kept + ops.sigmoid(i + of_i * c) * self._activation(j)
            else:
                new_c = ops.sigmoid(f + self._forget_bias) * c + ops.sigmoid(i) * self._activation(j)
            new_c = self._norm(new_c, "state")
            if self._cell_clip is not None:
                new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
            gate = ops.sigmoid(o + of_o * new_c) if self._use_peepholes else ops.sigmoid(o)
            new_m = gate * self._activation(new_c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    new_m = linear(new_m, self._num_proj, False)
                if self._proj_clip is not None:
                    new_m = clip_by_value(new_m, -self._proj_clip, self._proj_clip)
        return new_m, LSTMStateTuple(new_c, new_m)
