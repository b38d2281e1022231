"""Cells of tf.contrib.grid_rnn with names of their own: the first dimension takes inputs and gives outputs."""

from __future__ import annotations

from stillflow.contrib.grid_rnn.grid_cell import GridRNNCell
from stillflow.names import public
from stillflow.rnn.basic_cells import BasicRNNCell, GRUCell
from stillflow.rnn.lstm_cells import BasicLSTMCell, LSTMCell


class _FirstDimensionCell(GridRNNCell):
    """A grid whose first dimension has inputs, outputs and priority; a layer if `non_recurrent_fn` is given."""

    def __init__(self, num_units, num_dims, cell_fn, tied, non_recurrent_fn, state_is_tuple, output_is_tuple):
        super().__init__(
            num_units, num_dims, 0, 0, 0, None if non_recurrent_fn is None else 0, tied, cell_fn, non_recurrent_fn,
            state_is_tuple, output_is_tuple,
        )  # fmt: skip


def _lstm(use_peepholes, forget_bias):
    return lambda units: LSTMCell(units, use_peepholes=use_peepholes, forget_bias=forget_bias)


@public("contrib.grid_rnn.Grid1BasicRNNCell")
class Grid1BasicRNNCell(_FirstDimensionCell):
    """One dimension of BasicRNNCell. See GridRNNCell for the arguments."""

    def __init__(self, num_units, state_is_tuple=True, output_is_tuple=True):
        super().__init__(num_units, 1, BasicRNNCell, False, None, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid2BasicRNNCell")
class Grid2BasicRNNCell(_FirstDimensionCell):
    """Two dimensions of BasicRNNCell. See GridRNNCell for the arguments."""

    def __init__(self, num_units, tied=False, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True):
        super().__init__(num_units, 2, BasicRNNCell, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid1BasicLSTMCell")
class Grid1BasicLSTMCell(_FirstDimensionCell):
    """One dimension of BasicLSTMCell. See GridRNNCell for the arguments; `forget_bias` is the cell's."""

    def __init__(self, num_units, forget_bias=1, state_is_tuple=True, output_is_tuple=True):
        def cell(units):
            return BasicLSTMCell(units, forget_bias=forget_bias)

        super().__init__(num_units, 1, cell, False, None, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid2BasicLSTMCell")
class Grid2BasicLSTMCell(_FirstDimensionCell):
    """Two dimensions of BasicLSTMCell. See GridRNNCell for the arguments; `forget_bias` is the cell's."""

    def __init__(
        self, num_units, tied=False, non_recurrent_fn=None, forget_bias=1, state_is_tuple=True, output_is_tuple=True
    ):
        def cell(units):
            return BasicLSTMCell(units, forget_bias=forget_bias)

        super().__init__(num_units, 2, cell, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid1LSTMCell")
class Grid1LSTMCell(_FirstDimensionCell):
    """One dimension of LSTMCell. See GridRNNCell and LSTMCell for the arguments."""

    def __init__(
        self, num_units, use_peepholes=False, forget_bias=1.0, state_is_tuple=True, output_is_tuple=True
    ):  # fmt: skip
        cell = _lstm(use_peepholes, forget_bias)
        super().__init__(num_units, 1, cell, False, None, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid2LSTMCell")
class Grid2LSTMCell(_FirstDimensionCell):
    """Two dimensions of LSTMCell. See GridRNNCell and LSTMCell for the arguments."""

    def __init__(
        self, num_units, tied=False, non_recurrent_fn=None, use_peepholes=False, forget_bias=1.0, state_is_tuple=True,
        output_is_tuple=True,
    ):  # fmt: skip
        cell = _lstm(use_peepholes, forget_bias)
        super().__init__(num_units, 2, cell, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid3LSTMCell")
class Grid3LSTMCell(_FirstDimensionCell):
    """Three dimensions of LSTMCell. See GridRNNCell and LSTMCell for the arguments."""

    def __init__(
        self, num_units, tied=False, non_recurrent_fn=None, use_peepholes=False, forget_bias=1.0, state_is_tuple=True,
        output_is_tuple=True,
    ):  # fmt: skip
        cell = _lstm(use_peepholes, forget_bias)
        super().__init__(num_units, 3, cell, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid2GRUCell")
class Grid2GRUCell(_FirstDimensionCell):
    """Two dimensions of GRUCell. See GridRNNCell for the arguments."""

    def __init__(self, num_units, tied=False, non_recurrent_fn=None, state_is_tuple=True, output_is_tuple=True):
        super().__init__(num_units, 2, GRUCell, tied, non_recurrent_fn, state_is_tuple, output_is_tuple)
