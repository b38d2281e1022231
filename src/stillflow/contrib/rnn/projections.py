"""Cells that put an embedding or a matrix product before or after another cell."""

from __future__ import annotations

import logging
import math

from stillflow import ops
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.contrib.rnn.linear import Linear
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.states import assert_like_rnncell
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import RandomUniform
from stillflow.variables.scope import get_variable_scope


class _Around(RNNCell):
    """A cell with another one inside, whose variables are in the same scope."""

    def __init__(self, cell, reuse):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        """The zero state of the cell inside."""
        with name_scope(f"{type(self).__name__}ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


@public(
    "contrib.rnn.EmbeddingWrapper",
    "nn.rnn_cell.EmbeddingWrapper",
    "contrib.rnn.python.ops.core_rnn_cell.EmbeddingWrapper",
)
class EmbeddingWrapper(_Around):
    """Looks up ids in an embedding, and gives a cell what it finds.

    It is faster to do that once, before the loop, with tf.nn.embedding_lookup.

    Args:
      cell: the cell.
      embedding_classes: how many ids there are.
      embedding_size: the size of what stands for an id.
      initializer: the embedding's; by default the scope's, else uniform with variance 1.
      reuse: whether the variables exist.

    Raises:
      TypeError: if `cell` is none.
      ValueError: for sizes below 1.
    """

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}."
            )
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    def call(self, inputs, state):
        """(output, next state) for ids [batch] or [batch, 1]."""
        with get_default_graph().device("/cpu:0"):
            initializer = self._initializer or get_variable_scope().initializer
            if not initializer:
                bound = math.sqrt(3)
                initializer = RandomUniform(-bound, bound)
            dtype = (state[0] if isinstance(state, tuple) else state).dtype
            shape = [self._embedding_classes, self._embedding_size]
            embedding = get_variable("embedding", shape, initializer=initializer, dtype=dtype)
            return self._cell(embedding_lookup(embedding, ops.reshape(inputs, [-1])), state)


@public(
    "contrib.rnn.InputProjectionWrapper",
    "nn.rnn_cell.InputProjectionWrapper",
    "contrib.rnn.python.ops.core_rnn_cell.InputProjectionWrapper",
)
class InputProjectionWrapper(_Around):
    """Multiplies inputs by a matrix, adds a bias, and gives the result to a cell.

    It is faster to do that once, before the loop, for all steps.

    Args:
      cell: the cell.
      num_proj: the size of what the cell gets.
      activation: a function of the result; none by default.
      input_size: is not used.
      reuse: whether the variables exist.

    Raises TypeError if `cell` is none.
    """

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell, reuse)
        if input_size is not None:
            logging.getLogger("tensorflow").warning("%s: The input_size parameter is deprecated.", self)
        self._num_proj = num_proj
        self._activation = activation
        self._linear = None

    def call(self, inputs, state):
        """(output, next state)."""
        if self._linear is None:
            self._linear = Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        return self._cell(self._activation(projected) if self._activation else projected, state)


@public(
    "contrib.rnn.OutputProjectionWrapper",
    "nn.rnn_cell.OutputProjectionWrapper",
    "contrib.rnn.python.ops.core_rnn_cell.OutputProjectionWrapper",
)
class OutputProjectionWrapper(_Around):
    """Multiplies a cell's outputs by a matrix, and adds a bias.

    It is faster to do that once, after the loop, for all steps.

    Args:
      cell: the cell.
      output_size: the size of the result.
      activation: a function of the result; none by default.
      reuse: whether the variables exist.

    Raises:
      TypeError: if `cell` is none.
      ValueError: for a size below 1.
    """

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size
        self._activation = activation
        self._linear = None

    @property
    def output_size(self):
        return self._output_size

    def call(self, inputs, state):
        """(output, next state)."""
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(output, self._output_size, True)
        projected = self._linear(output)
        return self._activation(projected) if self._activation else projected, new_state
