"""CoupledInputForgetGateLSTMCell: an LSTM that takes in as much as it forgets."""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.contrib.rnn.gated_cells import known_depth
from stillflow.contrib.rnn.layer_norm_lstm import normalized
from stillflow.contrib.rnn.sharded import sharded_variable
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros


@public("contrib.rnn.CoupledInputForgetGateLSTMCell")
class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM whose input gate is 1 minus its forget gate: https://arxiv.org/abs/1503.04069.

    Args:
      num_units: the size of c.
      use_peepholes: whether there are peepholes.
      initializer: not used.
      num_proj: the size of the projection; there is none by default.
      proj_clip: what is projected is cut off at plus and minus this value.
      num_unit_shards, num_proj_shards: into how many parts weights and projection are cut.
      forget_bias: what is added to the forget gate.
      state_is_tuple: whether a state is an LSTMStateTuple, instead of c and the output side by side.
      activation: a function.
      reuse: whether the variables exist.
      layer_norm: whether gates and c are normalized. The bias, which is made anyway, is not added then.
      norm_gain, norm_shift: where gamma and beta of the normalization begin.
    """

    def __init__(
        self, num_units, use_peepholes=False, initializer=None, num_proj=None, proj_clip=None, num_unit_shards=1,
        num_proj_shards=1, forget_bias=1.0, state_is_tuple=True, activation=ops.tanh, reuse=None, layer_norm=False,
        norm_gain=1.0, norm_shift=0.0,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            logging.getLogger("tensorflow").warning(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.",
                self,
            )
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._reuse = reuse
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self):
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self.output_size)
        return self._num_units + self.output_size

    @property
    def output_size(self):
        return self._num_proj or self._num_units

    def _norm(self, inputs, scope):
        return normalized(inputs, scope, self._norm_gain, self._norm_shift) if self._layer_norm else inputs

    def _parts(self, state):
        if self._state_is_tuple:
            return state
        size = self._num_units if self._num_proj is None else self._num_proj
        return ops.slice(state, [0, 0], [-1, self._num_units]), ops.slice(state, [0, self._num_units], [-1, size])

    def _gates(self, inputs, m):
        size = self._num_units if self._num_proj is None else self._num_proj
        dtype, width = inputs.dtype, 3 * self._num_units
        weights = sharded_variable("W", [known_depth(inputs) + size, width], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[width], initializer=Zeros(), dtype=dtype)
        sums = ops.matmul(ops.concat([inputs, m], 1), weights)
        if not self._layer_norm:
            sums = ops.bias_add(sums, bias)
        gates = ops.split(value=sums, num_or_size_splits=3, axis=1)
        return [self._norm(gate, name) for gate, name in zip(gates, ("transform", "forget", "output"), strict=True)]

    def call(self, inputs, state):
        """(output, next state)."""
        c, m = self._parts(state)
        j, f, o = self._gates(inputs, m)
        if self._use_peepholes:
            of_f, of_o = (
                get_variable(name, shape=[self._num_units], dtype=inputs.dtype) for name in ("W_F_diag", "W_O_diag")
            )
            forget = ops.sigmoid(f + self._forget_bias + of_f * c)
        else:
            forget = ops.sigmoid(f + self._forget_bias)
        new_c = forget * c + (1 - forget) * self._activation(j)
        new_c = self._norm(new_c, "state")
        gate = ops.sigmoid(o + of_o * new_c) if self._use_peepholes else ops.sigmoid(o)
        new_m = gate * self._activation(new_c)
        if self._num_proj is not None:
            shape = [self._num_units, self._num_proj]
            new_m = ops.matmul(new_m, sharded_variable("W_P", shape, inputs.dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                new_m = clip_by_value(new_m, -self._proj_clip, self._proj_clip)
        if self._state_is_tuple:
            return new_m, LSTMStateTuple(new_c, new_m)
        return new_m, ops.concat([new_c, new_m], 1)
