"""TimeFreqLSTMCell, GridLSTMCell and BidirectionalGridLSTMCell: LSTMs over time and along frequencies.

https://www.microsoft.com/en-us/research/publication/lstm-time-and-frequency-recurrence-for-automatic-speech-recognition
and https://arxiv.org/abs/1507.01526.
"""

from __future__ import annotations

import collections
import logging
from typing import NamedTuple

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.contrib.rnn.sharded import sharded_variable
from stillflow.graph import dtypes
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope


def _input_size(inputs):
    size = inputs.shape.with_rank(2).dims[-1].value
    if size is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return size


def _batch_size(inputs):
    return dimension_value(inputs.shape[0]) or ops.shape(inputs)[0]


@public("contrib.rnn.TimeFreqLSTMCell")
class TimeFreqLSTMCell(RNNCell):
    """An LSTM that goes along the frequencies of its input, and so at each time, with the same weights.

    Args:
      num_units: the size of c and of the output, for each window of frequencies.
      use_peepholes: whether there are peepholes.
      cell_clip: c is cut off at plus and minus this value.
      initializer: not used.
      num_unit_shards: into how many parts the weights are cut.
      forget_bias: what is added to the forget gate.
      feature_size: how many frequencies a window has.
      frequency_skip: by how many it moves.
      reuse: whether the variables exist.
    """

    def __init__(
        self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_unit_shards=1, forget_bias=1.0,
        feature_size=None, frequency_skip=1, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._reuse = reuse

    @property
    def output_size(self):
        return self._num_units

    @property
    def state_size(self):
        return 2 * self._num_units

    def _windows(self, inputs):
        count = int((_input_size(inputs) - self._feature_size) / self._frequency_skip) + 1
        skip, size = self._frequency_skip, self._feature_size
        return [ops.slice(inputs, [0, i * skip], [-1, size]) for i in range(count)]

    def _new_c(self, i, j, f, c, peepholes):
        if self._use_peepholes:
            of_f, of_i, _ = peepholes
            kept = ops.sigmoid(f + self._forget_bias + of_f * c) * c
            new_c = kept + ops.sigmoid(i + of_i * c) * ops.tanh(j)
        else:
            new_c = ops.sigmoid(f + self._forget_bias) * c + ops.sigmoid(i) * ops.tanh(j)
        if self._cell_clip is not None:
            new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
        return new_c

    def call(self, inputs, state):
        """(outputs of all windows side by side, c and output of all windows side by side)."""
        units, dtype = self._num_units, inputs.dtype
        windows = self._windows(inputs)
        depth = windows[0].shape.as_list()[1]
        weights = sharded_variable("W", [depth + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", shape=[4 * units], initializer=Zeros(), dtype=dtype)
        peepholes: list = []
        if self._use_peepholes:
            names = ("W_F_diag", "W_I_diag", "W_O_diag")
            peepholes = [get_variable(name, shape=[units], dtype=dtype) for name in names]
        m_below = ops.zeros([inputs.shape.dims[0].value or inputs.shape[0], units], dtype)
        output = new_state = None
        for k, window in enumerate(windows):
            c = ops.slice(state, [0, 2 * k * units], [-1, units])
            m = ops.slice(state, [0, (2 * k + 1) * units], [-1, units])
            sums = ops.bias_add(ops.matmul(ops.concat([window, m, m_below], 1), weights), bias)
            i, j, f, o = ops.split(value=sums, num_or_size_splits=4, axis=1)
            new_c = self._new_c(i, j, f, c, peepholes)
            gate = ops.sigmoid(o + peepholes[2] * new_c) if self._use_peepholes else ops.sigmoid(o)
            m_below = gate * ops.tanh(new_c)
            new_state = ops.concat([new_c, m_below] if output is None else [new_state, new_c, m_below], 1)
            output = m_below if output is None else ops.concat([output, m_below], 1)
        return output, new_state


class _Direction(NamedTuple):
    """The variables of what goes along frequencies, or over time. Without peepholes there are no pairs of them."""

    weights: object
    bias: object
    of_f: tuple | None  # for c along frequencies and c over time, each
    of_i: tuple | None
    of_o: tuple | None


def _state_type(name, units_of_blocks, directions):
    fields = [
        f"{direction}state_f{i:02d}_b{block:02d}_{part}"
        for direction in directions
        for block, count in enumerate(units_of_blocks)
        for i in range(count)
        for part in ("c", "m")
    ]
    return collections.namedtuple(name, fields)


@public("contrib.rnn.GridLSTMCell")
class GridLSTMCell(RNNCell):
    """An LSTM over time and one along the frequencies of its input, which see each other, at each time.

    Args:
      num_units: the size of c and of the output, of each LSTM for each window of frequencies.
      use_peepholes: whether there are peepholes.
      share_time_frequency_weights: whether both have the same weights.
      cell_clip: c is cut off at plus and minus this value.
      initializer: not used.
      num_unit_shards: into how many parts the weights are cut.
      forget_bias: what is added to the forget gate.
      feature_size: how many frequencies a window has.
      frequency_skip: by how many it moves.
      num_frequency_blocks: a list: the number of windows in each block of frequencies.
      start_freqindex_list, end_freqindex_list: where blocks begin and end; by default there is one.
      couple_input_forget_gates: whether the forget gate is 1 minus the input gate.
      state_is_tuple: whether a state is a tuple, instead of all its parts side by side.
      reuse: whether the variables exist.

    Raises ValueError without `num_frequency_blocks`, and, when called, for inputs that do not have these windows.
    """

    def __init__(
        self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None, initializer=None,
        num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None, num_frequency_blocks=None,
        start_freqindex_list=None, end_freqindex_list=None, couple_input_forget_gates=False, state_is_tuple=True,
        reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            logging.getLogger("tensorflow").warning(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.",
                self,
            )
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._share_time_frequency_weights = share_time_frequency_weights
        self._couple_input_forget_gates = couple_input_forget_gates
        self._state_is_tuple = state_is_tuple
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_unit_shards = num_unit_shards
        self._forget_bias = forget_bias
        self._feature_size = feature_size
        self._frequency_skip = frequency_skip
        self._start_freqindex_list = start_freqindex_list
        self._end_freqindex_list = end_freqindex_list
        self._num_frequency_blocks = num_frequency_blocks
        self._total_blocks = sum(int(count) for count in num_frequency_blocks)
        self._reuse = reuse
        self._output_size = num_units * self._total_blocks * 2
        if state_is_tuple:
            self._state_tuple_type = _state_type("GridLSTMStateTuple", num_frequency_blocks, [""])
            self._state_size = self._state_tuple_type(*[num_units] * self._total_blocks * 2)
        else:
            self._state_tuple_type = None
            self._state_size = num_units * self._total_blocks * 2

    @property
    def output_size(self):
        return self._output_size

    @property
    def state_size(self):
        return self._state_size

    @property
    def state_tuple_type(self):
        """The class of states, None if they are no tuples."""
        return self._state_tuple_type

    def call(self, inputs, state):
        """(outputs of both LSTMs for all windows side by side, next state)."""
        batch = _batch_size(inputs)
        outputs, new_state = [], []
        for block, windows in enumerate(self._windows(inputs)):
            found, parts = self._compute(windows, block, state, batch, "state" if self._state_is_tuple else None)
            outputs += found
            new_state += parts
        packed = self._state_tuple_type(*new_state) if self._state_is_tuple else ops.concat(new_state, 1)
        return ops.concat(outputs, 1), packed

    # ---- The windows ----------------------------------------------------------------------------------------

    def _windows(self, inputs, slice_offset=0):
        """The windows of each block; inputs that are moved by an offset have zeros where there is nothing."""
        size = _input_size(inputs)
        if slice_offset:
            sides = [0, 0, 0, slice_offset] if slice_offset > 0 else [0, 0, -slice_offset, 0]
            inputs = ops.pad(inputs, ops.constant(sides, shape=[2, 2], dtype=dtypes.int32), "CONSTANT")
            slice_offset = max(slice_offset, 0)
        return [
            [
                ops.slice(inputs, [0, start + slice_offset + i * self._frequency_skip], [-1, self._feature_size])
                for i in range(count)
            ]
            for start, count in self._blocks(size)
        ]

    def _blocks(self, size):
        """(first frequency, number of windows) of each block. Raises ValueError if these are not as announced."""
        starts, ends, counts = self._start_freqindex_list, self._end_freqindex_list, self._num_frequency_blocks
        if not starts:
            if len(counts) != 1:
                raise ValueError(f"Length of num_frequency_blocks is not 1, but instead is {len(counts)}")
            starts, ends = [0], [size]
        elif len(starts) != len(ends):
            raise ValueError(
                "Length of start and end freqindex_list does not match %d %d", len(starts), len(ends)
            )  # fmt: skip
        elif len(counts) != len(starts):
            raise ValueError(
                "Length of num_frequency_blocks is not equal to start_freqindex_list %d %d", len(counts), len(starts)
            )  # fmt: skip
        for start, end, count in zip(starts, ends, counts, strict=True):
            found = int((end - start - self._feature_size) / self._frequency_skip) + 1
            if found != count:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {count} but gets {found}, please check the input size "
                    "and filter config are correct."
                )
        return list(zip(starts, counts, strict=True))

    # ---- The cells ------------------------------------------------------------------------------------------

    def _matrix(self, direction, block, depth, dtype):
        width = (3 if self._couple_input_forget_gates else 4) * self._num_units
        shape = [depth + 2 * self._num_units, width]
        weights = sharded_variable(f"W_{direction}_{block}", shape, dtype, self._num_unit_shards)
        bias = get_variable(f"B_{direction}_{block}", shape=[width], initializer=Zeros(), dtype=dtype)
        return weights, bias

    def _peepholes(self, direction, block, dtype):
        """Pairs for f, if it is not coupled, i and o."""
        if not self._use_peepholes:
            return None, None, None
        return [
            None
            if gate == "F" and self._couple_input_forget_gates
            else tuple(
                get_variable(f"W_{gate}_diag_{direction}{of}_{block}", shape=[self._num_units], dtype=dtype)
                for of in "ft"
            )
            for gate in "FIO"
        ]

    def _directions(self, block, depth, dtype):
        """The variables of both directions."""
        is_shared = self._share_time_frequency_weights
        of_frequencies = self._matrix("f", block, depth, dtype)
        over_time = () if is_shared else self._matrix("t", block, depth, dtype)
        frequency = _Direction(*of_frequencies, *self._peepholes("freq", block, dtype))
        if is_shared:
            return frequency, frequency
        return frequency, _Direction(*over_time, *self._peepholes("time", block, dtype))

    def _gates(self, values, direction):
        sums = ops.bias_add(ops.matmul(values, direction.weights), direction.bias)
        if self._couple_input_forget_gates:
            i, j, o = ops.split(value=sums, num_or_size_splits=3, axis=1)
            return i, j, None, o
        return ops.split(value=sums, num_or_size_splits=4, axis=1)

    def _seen(self, gate, pair, c_frequency, c_time):
        return gate + pair[0] * c_frequency + pair[1] * c_time if self._use_peepholes else gate

    def _new_c(self, gates, direction, c, c_frequency, c_time):
        i, j, f, _ = gates
        take = ops.sigmoid(self._seen(i, direction.of_i, c_frequency, c_time))
        if self._couple_input_forget_gates:
            keep = 1.0 - take
        else:
            keep = ops.sigmoid(self._seen(f + self._forget_bias, direction.of_f, c_frequency, c_time))
        new_c = keep * c + take * ops.tanh(j)
        if self._cell_clip is not None:
            new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
        return new_c

    def _state_of(self, state, block, i, prefix):
        if prefix is not None:
            return [getattr(state, f"{prefix}_f{i:02d}_b{block:02d}_{part}") for part in ("c", "m")]
        units = self._num_units
        return [ops.slice(state, [0, (2 * i + part) * units], [-1, units]) for part in (0, 1)]

    def _compute(self, windows, block, state, batch, prefix):
        """(outputs, parts of the next state) for the windows of a block."""
        dtype = windows[0].dtype
        frequency, time = self._directions(block, windows[0].shape.as_list()[1], dtype)
        m_below = ops.zeros([batch, self._num_units], dtype)
        c_below = ops.zeros([batch, self._num_units], dtype)
        outputs, new_state = [], []
        for i, window in enumerate(windows):
            c, m = self._state_of(state, block, i, prefix)
            values = ops.concat([window, m, m_below], 1)
            of_frequency = self._gates(values, frequency)
            of_time = of_frequency if time is frequency else self._gates(values, time)
            c_frequency = self._new_c(of_frequency, frequency, c_below, c_below, c)
            c_time = self._new_c(of_time, time, c, c_below, c)
            gate = ops.sigmoid(self._seen(of_frequency[3], frequency.of_o, c_frequency, c_time))
            m_below = gate * ops.tanh(c_frequency)
            gate = ops.sigmoid(self._seen(of_time[3], time.of_o, c_frequency, c_time))
            m_time = gate * ops.tanh(c_time)
            c_below = c_frequency
            outputs += [m_time, m_below]
            new_state += [c_time, m_time]
        return outputs, new_state


@public("contrib.rnn.BidirectionalGridLSTMCell")
class BidirectionalGridLSTMCell(GridLSTMCell):
    """GridLSTMCell in both directions along the frequencies. See there.

    Args:
      backward_slice_offset: by how many frequencies the windows of the backward direction are moved.
    """

    def __init__(
        self, num_units, use_peepholes=False, share_time_frequency_weights=False, cell_clip=None, initializer=None,
        num_unit_shards=1, forget_bias=1.0, feature_size=None, frequency_skip=None, num_frequency_blocks=None,
        start_freqindex_list=None, end_freqindex_list=None, couple_input_forget_gates=False, backward_slice_offset=0,
        reuse=None,
    ):  # fmt: skip
        super().__init__(
            num_units, use_peepholes, share_time_frequency_weights, cell_clip, initializer, num_unit_shards,
            forget_bias, feature_size, frequency_skip, num_frequency_blocks, start_freqindex_list, end_freqindex_list,
            couple_input_forget_gates, True, reuse,
        )  # fmt: skip
        self._backward_slice_offset = int(backward_slice_offset)
        directions = ("fwd_", "bwd_")
        self._state_tuple_type = _state_type("BidirectionalGridLSTMStateTuple", num_frequency_blocks, directions)
        self._state_size = self._state_tuple_type(*[num_units] * self._total_blocks * 4)
        self._output_size = 2 * num_units * self._total_blocks * 2

    def call(self, inputs, state):
        """(outputs of all LSTMs for all windows side by side, next state)."""
        batch = _batch_size(inputs)
        ahead = self._windows(inputs)
        back = self._windows(inputs, self._backward_slice_offset) if self._backward_slice_offset else ahead
        outputs, new_state = [], []
        for direction, blocks in (("fwd", ahead), ("bwd", back)):
            with variable_scope(direction):
                for block, windows in enumerate(blocks):
                    windows = windows if direction == "fwd" else windows[::-1]
                    found, parts = self._compute(windows, block, state, batch, f"{direction}_state")
                    outputs += found
                    new_state += parts
        return ops.concat(outputs, 1), self._state_tuple_type(*new_state)
