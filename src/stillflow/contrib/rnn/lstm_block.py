"""LSTMBlockCell and LSTMBlockFusedCell: a step, or all steps, of an LSTM layer as one node."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.layers.base import Layer
from stillflow.layers.core.input_spec import InputSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.cell import LayerRNNCell
from stillflow.rnn.lstm_cells import LSTMStateTuple
from stillflow.variables.initializers import Constant


def _add_variables(layer, depth, units, use_peephole):
    """LSTMCell's variables: (kernel, bias, peepholes of i, f and o, or None if there are to be none)."""
    kernel = layer.add_variable("kernel", [depth + units, units * 4])
    bias = layer.add_variable("bias", [units * 4], initializer=Constant(0.0))
    if not use_peephole:
        return kernel, bias, None
    return kernel, bias, [layer.add_variable(name, [units]) for name in ("w_i_diag", "w_f_diag", "w_o_diag")]


@public("contrib.rnn.LSTMBlockCell")
class LSTMBlockCell(LayerRNNCell):
    """An LSTM whose step is one node: http://arxiv.org/abs/1409.2329. Its variables are those of LSTMCell.

    Args:
      num_units: the size of c and h.
      forget_bias: what is added to the forget gate.
      cell_clip: c is cut off at plus and minus this value; by default it is not.
      use_peephole: whether there are peepholes.
      dtype: the type of the variables.
      reuse: whether the variables exist.
      name: the layer's name.
    """

    def __init__(
        self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, dtype=None, reuse=None,
        name="lstm_cell",
    ):  # fmt: skip
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        depth = inputs_shape.dims[1].value
        if not depth:
            raise ValueError(f"Expecting inputs_shape[1] to be set: {inputs_shape}")
        self._kernel, self._bias, self._peepholes = _add_variables(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs, state):
        """(h, next state)."""
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        peepholes = self._peepholes or [ops.zeros([self._num_units], dtype=self.dtype)] * 3
        cs_prev, h_prev = state
        results = ops.lstm_block_cell(
            inputs, cs_prev, h_prev, self._kernel, *peepholes, self._bias, forget_bias=self._forget_bias,
            cell_clip=self._cell_clip, use_peephole=self._use_peephole,
        )  # fmt: skip
        cs, h = results[1], results[6]
        return h, LSTMStateTuple(cs, h)


@public("contrib.rnn.LSTMBlockWrapper")
class LSTMBlockWrapper(Layer, metaclass=abc.ABCMeta):
    """What runs an LSTM over a whole sequence. Subclasses have `num_units` and `_call_cell`."""

    @property
    @abc.abstractmethod
    def num_units(self):
        """The size of c and h."""

    @abc.abstractmethod
    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        """(c, h) of all steps, each [time, batch, num_units]."""

    def call(self, inputs, initial_state=None, dtype=None, sequence_length=None):
        """(outputs, (c, h) after each sequence's last step).

        Args:
          inputs: [time, batch, depth], or a list of [batch, depth].
          initial_state: (c, h), each [batch, num_units]; zeros of type `dtype` by default.
          dtype: the type of the state; needed if there is no initial state.
          sequence_length: integers [batch], how many steps each sequence has; outputs after its end are 0.

        Returns outputs in the form of the inputs. Raises ValueError for shapes that do not fit.
        """
        is_list = isinstance(inputs, list)
        if is_list:
            inputs = ops.stack(inputs)
        steps, batch, depth = inputs.shape.with_rank(3).as_list()
        if not depth:
            raise ValueError(f"Expecting inputs_shape[2] to be set: {inputs.shape}")
        batch = ops.shape(inputs)[1] if batch is None else batch
        steps = ops.shape(inputs)[0] if steps is None else steps
        initial_state, dtype = self._initial_state(initial_state, batch, dtype)
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        first_cell_state, first_output = initial_state
        cell_states, outputs = self._call_cell(inputs, first_cell_state, first_output, dtype, sequence_length)
        if sequence_length is None:
            final_state = LSTMStateTuple(cell_states[-1], outputs[-1])
        else:
            outputs *= self._mask(sequence_length, steps, dtype)
            final_state = self._states_at(sequence_length, initial_state, (cell_states, outputs), batch)
        if is_list:
            outputs = ops.unstack(outputs)
        return outputs, final_state

    def _initial_state(self, state, batch, dtype):
        if state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            zeros = ops.zeros(ops.stack([batch, self.num_units]), dtype=dtype)
            return (zeros, zeros), dtype
        if len(state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        return state, state[0].dtype if dtype is None else dtype

    def _mask(self, lengths, steps, dtype):
        """1 up to the end of each sequence, then 0: [time, batch, num_units]."""
        mask = ops.transpose(ops.sequence_mask(lengths, steps, dtype=dtype), [1, 0])
        return ops.tile(ops.expand_dims(mask, [-1]), [1, 1, self.num_units])

    def _states_at(self, lengths, initial_state, states, batch):
        """The states after so many steps of each sequence; after none it is the initial one."""
        with_initial = [
            ops.concat([ops.expand_dims(first, [0]), rest], 0)
            for first, rest in zip(initial_state, states, strict=True)
        ]
        return LSTMStateTuple(
            *(ops.gather_nd(data, ops.stack([lengths, ops.range(batch)], axis=1)) for data in with_initial)
        )


@public("contrib.rnn.LSTMBlockFusedCell")
class LSTMBlockFusedCell(LSTMBlockWrapper):
    """An LSTM layer over a sequence as one node: http://arxiv.org/abs/1409.2329. Its variables are those of LSTMCell.

    Args:
      num_units: the size of c and h.
      forget_bias: what is added to the forget gate.
      cell_clip: c is cut off at plus and minus this value; by default it is not.
      use_peephole: whether there are peepholes.
      reuse: whether the variables exist.
      dtype: the type of the variables.
      name: the layer's name.
    """

    def __init__(
        self, num_units, forget_bias=1.0, cell_clip=None, use_peephole=False, reuse=None, dtype=None,
        name="lstm_fused_cell",
    ):  # fmt: skip
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self._use_peephole = use_peephole
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self):
        return self._num_units

    def build(self, input_shape):
        depth = input_shape.dims[2].value
        self._kernel, self._bias, self._peepholes = _add_variables(self, depth, self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(self, inputs, initial_cell_state=None, initial_output=None, dtype=None, sequence_length=None):
        steps = inputs.shape.with_rank(3).as_list()[0]
        if steps is None:
            steps = ops.shape(inputs)[0]
        peepholes = self._peepholes or [ops.zeros([self._num_units], dtype=dtype)] * 3
        most = steps if sequence_length is None else ops.reduce_max(sequence_length)
        results = ops.block_lstm(
            ops.cast(most, dtypes.int64), inputs, initial_cell_state, initial_output, self._kernel, *peepholes,
            self._bias, forget_bias=self._forget_bias, cell_clip=self._cell_clip, use_peephole=self._use_peephole,
        )  # fmt: skip
        return results[1], results[6]


@public("contrib.rnn.python.ops.lstm_ops._block_lstm")
def _block_lstm(
    seq_len_max, x, w, b, cs_prev=None, h_prev=None, wci=None, wcf=None, wco=None, forget_bias=None, cell_clip=None,
    use_peephole=None, name=None,
):  # fmt: skip
    """All steps of an LSTM over a list of inputs [batch, depth]: lists of i, cs, f, o, ci, co and h, [batch, units].

    Args:
      seq_len_max: int64, how many steps to do.
      x: the list.
      w, b: [depth + units, 4 * units] and [4 * units], of i, ci, f and o.
      cs_prev, h_prev: the state before, by default zeros.
      wci, wcf, wco: of the peepholes, [units], by default zeros.
      forget_bias, cell_clip, use_peephole: see LSTMBlockCell.

    Raises ValueError for a bias of unknown size.
    """
    batch = x[0].shape.with_rank(2).dims[0].value
    width = b.shape.with_rank(1).dims[0].value
    if width is None:
        raise ValueError("`b` shape must not be None.")
    units = width // 4
    if cs_prev is None or h_prev is None:
        zeros = ops.constant(0, dtype=x[0].dtype, shape=[batch, units])
        cs_prev, h_prev = (zeros if each is None else each for each in (cs_prev, h_prev))
    if wci is None:
        wci = wcf = wco = ops.constant(0, dtype=x[0].dtype, shape=[units])
    found = ops.block_lstm(
        seq_len_max, ops.stack(x), cs_prev, h_prev, w, wci, wcf, wco, b, forget_bias=forget_bias,
        cell_clip=-1 if cell_clip is None else cell_clip, use_peephole=use_peephole, name=name,
    )  # fmt: skip
    return tuple(ops.unstack(each) for each in found)
