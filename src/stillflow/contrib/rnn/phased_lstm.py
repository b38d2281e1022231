"""PhasedLSTMCell: an LSTM whose units are open at times of their own, https://arxiv.org/abs/1610.09513."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.rnn.linear import Linear
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.random.sampling import random_uniform
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant, RandomUniform
from stillflow.variables.scope import variable_scope


def _log_uniform(low, high):
    """An initializer: numbers between `low` and `high` whose logarithms are all equally likely."""

    def initialize(shape, dtype=dtypes.float32, partition_info=None):
        return ops.exp(random_uniform(shape, ops.log(low), ops.log(high), dtype))

    return initialize


def _modulo(x, y):
    """x modulo y, whose gradient by x is 1, and by y 0."""
    return ops.stop_gradient(ops.floor_mod(x, y) - x) + x


@public("contrib.rnn.PhasedLSTMCell")
class PhasedLSTMCell(RNNCell):
    """An LSTM of inputs (time, x): a unit changes little but in a part of its period, which begins with its phase.

    Time is [batch, 1], in units of the periods, float32 or float64; x is [batch, depth].

    Args:
      num_units: the size of c and h.
      use_peepholes: whether gates see c, too.
      leak: how much closed units change.
      ratio_on: the part of its period in which a unit is open.
      trainable_ratio_on: whether that is trained.
      period_init_min, period_init_max: between what periods begin.
      reuse: whether the variables exist.
    """

    def __init__(
        self, num_units, use_peepholes=False, leak=0.001, ratio_on=0.1, trainable_ratio_on=True, period_init_min=1.0,
        period_init_max=1000.0, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse, autocast=False)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max
        self._reuse = reuse
        self._linear = {}

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def _product(self, scope, values, count=1):
        if scope not in self._linear:
            self._linear[scope] = Linear(values, count * self._num_units, True)
        return self._linear[scope](values)

    def _openness(self, time):
        """How open units are, between 0 and 1: rising and falling while they are on."""
        period = get_variable(
            "period", [self._num_units], initializer=_log_uniform(self._period_init_min, self._period_init_max)
        )
        phase = get_variable(
            "phase", [self._num_units], initializer=RandomUniform(0.0, period.initial_value)
        )  # fmt: skip
        ratio_on = get_variable(
            "ratio_on", [self._num_units], initializer=Constant(self._ratio_on), trainable=self._trainable_ratio_on
        )
        phase, period = ops.cast(phase, dtype=time.dtype), ops.cast(period, dtype=time.dtype)
        cycle = ops.cast(_modulo(time - phase, period) / period, dtype=dtypes.float32)
        up = 2 * cycle / ratio_on
        down = 2 - up
        closed = self._leak * cycle
        openness = ops.where(cycle < ratio_on, down, closed)
        return ops.where(cycle < 0.5 * ratio_on, up, openness)

    def call(self, inputs, state):
        """(h', next state)."""
        c, h = state
        time, x = inputs
        peephole = [c] if self._use_peepholes else []
        with variable_scope("mask_gates"):
            gates = ops.sigmoid(self._product("mask_gates", [x, h, *peephole], 2))
            input_gate, forget_gate = ops.split(axis=1, num_or_size_splits=2, value=gates)
        with variable_scope("new_input"):
            new_input = ops.tanh(self._product("new_input", [x, h]))
        new_c = c * forget_gate + input_gate * new_input
        peephole = [new_c] if self._use_peepholes else []
        with variable_scope("output_gate"):
            output_gate = ops.sigmoid(self._product("output_gate", [x, h, *peephole]))
        new_h = ops.tanh(new_c) * output_gate
        k = self._openness(time)
        new_c = k * new_c + (1 - k) * c
        new_h = k * new_h + (1 - k) * h
        return new_h, LSTMStateTuple(new_c, new_h)
