"""GRUBlockCell and GRUBlockCellV2: a step of a GRU layer as one node."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape import dimension_value
from stillflow.layers.core.input_spec import InputSpec
from stillflow.names import public
from stillflow.rnn.cell import LayerRNNCell
from stillflow.variables.initializers import Constant


@public("contrib.rnn.GRUBlockCell")
class GRUBlockCell(LayerRNNCell):
    """A GRU whose step is one node: http://arxiv.org/abs/1406.1078. For GRUCell's variables see GRUBlockCellV2.

    Args:
      num_units: the size of the state.
      cell_size: its old name.
      reuse: whether the variables exist.
      name: the layer's name.

    Raises ValueError if neither or both of num_units and cell_size are given.
    """

    # Names of the variables: kernel and bias of the gates, then of the candidate.
    _NAMES = "w_ru", "b_ru", "w_c", "b_c"

    def __init__(self, num_units=None, cell_size=None, reuse=None, name="gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self):
        return self._cell_size

    @property
    def output_size(self):
        return self._cell_size

    def build(self, input_shape):
        depth = dimension_value(input_shape[1])
        if depth is None:
            raise ValueError("Expecting input_size to be set.")
        cell = self._cell_size
        gate_kernel, gate_bias, candidate_kernel, candidate_bias = self._NAMES
        self._gate_kernel = self.add_variable(gate_kernel, [depth + cell, cell * 2])
        self._gate_bias = self.add_variable(gate_bias, [cell * 2], initializer=Constant(1.0))
        self._candidate_kernel = self.add_variable(candidate_kernel, [depth + cell, cell])
        self._candidate_bias = self.add_variable(candidate_bias, [cell], initializer=Constant(0.0))
        self.built = True

    def call(self, inputs, h_prev):
        """(h, h)."""
        size = h_prev.shape.with_rank(2)[1]
        if size != self._cell_size:
            raise ValueError(f"Shape of h_prev[1] incorrect: cell_size {self._cell_size} vs {size}")
        h = ops.gru_block_cell(
            inputs, h_prev, self._gate_kernel, self._candidate_kernel, self._gate_bias, self._candidate_bias
        )[3]
        return h, h


@public("contrib.rnn.GRUBlockCellV2")
class GRUBlockCellV2(GRUBlockCell):
    """GRUBlockCell with the names of GRUCell's variables."""

    _NAMES = "gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias"
