"""BasicLSTMCell and LSTMCell, and their states."""

from __future__ import annotations

import collections
import logging

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.graph import dtypes
from stillflow.layers.core import activations, initializers
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.serialization import serialize
from stillflow.names import public
from stillflow.rnn.cell import LayerRNNCell, check_dtype, check_dtypes, input_depth
from stillflow.variables.initializers import Zeros
from stillflow.variables.partitioned_variables import fixed_size_partitioner


@public(
    "nn.rnn_cell.LSTMStateTuple", "contrib.rnn.LSTMStateTuple", "contrib.rnn.python.ops.core_rnn_cell.LSTMStateTuple"
)
class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: what the cell holds, `c`, and its last output, `h`."""

    __slots__ = ()

    @property
    def dtype(self):
        """The type of both. Raises TypeError if they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


def _warn(cell, text):
    logging.getLogger("tensorflow").warning("%s: %s", cell, text)


class _LSTM(LayerRNNCell):
    """What the cells have in common."""

    def __init__(self, num_units, forget_bias, state_is_tuple, activation, reuse, name, dtype, kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_dtype(self.dtype)
        if not state_is_tuple:
            _warn(self, "Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.")
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._reuse = reuse
        self._activation = activations.get(activation) if activation else ops.tanh

    def get_config(self):
        """The arguments, as plain values."""
        own = {
            "num_units": self._num_units, "forget_bias": self._forget_bias, "state_is_tuple": self._state_is_tuple,
            "activation": serialize(self._activation), "reuse": self._reuse,
        }  # fmt: skip
        return {**super().get_config(), **own}


@public(
    "nn.rnn_cell.BasicLSTMCell", "contrib.rnn.BasicLSTMCell", "contrib.rnn.python.ops.core_rnn_cell.BasicLSTMCell"
)
class BasicLSTMCell(_LSTM):
    """Long short-term memory, as in http://arxiv.org/abs/1409.2329.

    With [i, j, f, o] = [input, h] * kernel + bias the next state is
    c' = c * sigmoid(f + forget_bias) + sigmoid(i) * activation(j), h' = activation(c') * sigmoid(o);
    h' is the output, too.

    Args:
      num_units: the size of c and h.
      forget_bias: what is added to f; 0 for checkpoints that were trained so, cuDNN's among them.
      state_is_tuple: whether a state is an LSTMStateTuple, instead of c and h side by side.
      activation: a function, or its name; tanh by default.
      reuse: whether the variables exist.
      name, dtype: see tf.layers.Layer.

    Raises ValueError for a type that is not floating or complex.
    """

    def __init__(
        self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None, dtype=None,
        **kwargs,
    ):  # fmt: skip
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name, dtype, kwargs)

    @property
    def state_size(self):
        size = self._num_units
        return LSTMStateTuple(size, size) if self._state_is_tuple else 2 * size

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        depth = input_depth(inputs_shape)
        check_dtype(self.dtype)
        size = 4 * self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + self._num_units, size])
        self._bias = self.add_variable("bias", shape=[size], initializer=Zeros(dtype=self.dtype))
        self.built = True

    def call(self, inputs, state):
        """(h', next state)."""
        check_dtypes([inputs, state])
        axis = ops.constant(1, dtype=dtypes.int32)
        c, h = state if self._state_is_tuple else ops.split(value=state, num_or_size_splits=2, axis=axis)
        sums = ops.bias_add(ops.matmul(ops.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = ops.split(value=sums, num_or_size_splits=4, axis=axis)
        bias = ops.constant(self._forget_bias, dtype=f.dtype)
        kept = ops.mul(c, ops.sigmoid(ops.add(f, bias)))
        new_c = ops.add(kept, ops.mul(ops.sigmoid(i), self._activation(j)))
        new_h = ops.mul(self._activation(new_c), ops.sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, ops.concat([new_c, new_h], 1)


@public("nn.rnn_cell.LSTMCell", "contrib.rnn.LSTMCell", "contrib.rnn.python.ops.core_rnn_cell.LSTMCell")
class LSTMCell(_LSTM):
    """Long short-term memory with peepholes and a projection, as options: https://research.google.com/pubs/archive/43905.pdf.

    As BasicLSTMCell; with peepholes, c times weights of its own is added to f and i, and c' times others to o; with
    a projection h' is multiplied by a matrix. Both c' and the projection may be cut off.

    Args:
      num_units: the size of c.
      use_peepholes: whether there are peepholes.
      cell_clip: c' is cut off at plus and minus this value.
      initializer: that of weights and projection.
      num_proj: the size of the projection; there is none by default.
      proj_clip: what is projected is cut off at plus and minus this value.
      num_unit_shards, num_proj_shards: into how many parts weights and projection are cut; deprecated.
      forget_bias: what is added to f; 0 for cuDNN's checkpoints.
      state_is_tuple: whether a state is an LSTMStateTuple, instead of c and h side by side.
      activation: a function, or its name; tanh by default.
      reuse: whether the variables exist.
      name, dtype: see tf.layers.Layer.

    Raises ValueError for a type that is not floating or complex.
    """

    def __init__(
        self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
        num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None,
        reuse=None, name=None, dtype=None, **kwargs,
    ):  # fmt: skip
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name, dtype, kwargs)
        if num_unit_shards is not None or num_proj_shards is not None:
            _warn(
                self,
                "The num_unit_shards and proj_unit_shards parameters are deprecated and will be removed in Jan 2017. "
                " Use a variable scope with a partitioner instead.",
            )
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializers.get(initializer)
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._output_size = num_proj or num_units
        if state_is_tuple:
            self._state_size = LSTMStateTuple(num_units, self._output_size)
        else:
            self._state_size = num_units + self._output_size

    @property
    def state_size(self):
        return self._state_size

    @property
    def output_size(self):
        return self._output_size

    def build(self, inputs_shape):
        depth = input_depth(inputs_shape)
        check_dtype(self.dtype)
        units, projected = self._num_units, self._num_proj
        self._kernel = self._add_matrix(
            "kernel", [depth + (units if projected is None else projected), 4 * units], self._num_unit_shards
        )
        zeros = Zeros if self.dtype is None else Zeros(dtype=self.dtype)
        self._bias = self.add_variable("bias", shape=[4 * units], initializer=zeros)
        if self._use_peepholes:
            self._peephole_f, self._peephole_i, self._peephole_o = (
                self.add_variable(name, shape=[units], initializer=self._initializer)
                for name in ("w_f_diag", "w_i_diag", "w_o_diag")
            )
        if projected is not None:
            self._proj_kernel = self._add_matrix("projection/kernel", [units, projected], self._num_proj_shards)
        self.built = True

    def _add_matrix(self, name, shape, shards):
        partitioner = None if shards is None else fixed_size_partitioner(shards)
        return self.add_variable(name, shape=shape, initializer=self._initializer, partitioner=partitioner)

    def call(self, inputs, state):
        """(h', next state)."""
        check_dtypes([inputs, state])
        c, h = state if self._state_is_tuple else self._parts(state)
        if inputs.shape.with_rank(2).dims[1].value is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        sums = ops.bias_add(ops.matmul(ops.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = ops.split(value=sums, num_or_size_splits=4, axis=1)
        new_c = self._next_c(c, i, j, f)
        gate = ops.sigmoid(o + self._peephole_o * new_c if self._use_peepholes else o)
        new_h = gate * self._activation(new_c)
        if self._num_proj is not None:
            new_h = _cut(ops.matmul(new_h, self._proj_kernel), self._proj_clip)
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, ops.concat([new_c, new_h], 1)

    def _parts(self, state):
        """c and h, which lie side by side."""
        units = self._num_units
        c = ops.slice(state, [0, 0], [-1, units])
        return c, ops.slice(state, [0, units], [-1, units if self._num_proj is None else self._num_proj])

    def _next_c(self, c, i, j, f):
        if self._use_peepholes:
            kept = ops.sigmoid(f + self._forget_bias + self._peephole_f * c) * c
            new_c = kept + ops.sigmoid(i + self._peephole_i * c) * self._activation(j)
        else:
            new_c = ops.sigmoid(f + self._forget_bias) * c + ops.sigmoid(i) * self._activation(j)
        return _cut(new_c, self._cell_clip)

    def get_config(self):
        """The arguments, as plain values."""
        own = {
            "use_peepholes": self._use_peepholes, "cell_clip": self._cell_clip,
            "initializer": serialize(self._initializer), "num_proj": self._num_proj, "proj_clip": self._proj_clip,
            "num_unit_shards": self._num_unit_shards, "num_proj_shards": self._num_proj_shards,
        }  # fmt: skip
        return {**super().get_config(), **own}


def _cut(value, bound):
    """`value`, cut off at plus and minus `bound` unless that is None."""
    return value if bound is None else clip_by_value(value, -bound, bound)
