"""BasicDecoder: a cell, fed by a helper."""

from __future__ import annotations

import collections

from stillflow.contrib.seq2seq.decoder import Decoder
from stillflow.contrib.seq2seq.helper_base import Helper
from stillflow.graph import nest
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.rnn.states import assert_like_rnncell


@public("contrib.seq2seq.BasicDecoderOutput")
class BasicDecoderOutput(collections.namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """What a BasicDecoder returns: the cell's output, and what the helper has sampled from it."""


def check_output_layer(output_layer):
    """Raises TypeError for what is neither a layer nor None."""
    if output_layer is not None and not isinstance(output_layer, Layer):
        raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")


def sizes_after(output_layer, sizes):
    """The sizes of a cell's outputs, without the batch, after the layer that they go through, if there is one."""
    if output_layer is None:
        return sizes
    shapes = nest.map_structure(lambda size: TensorShape([None]).concatenate(size), sizes)
    return nest.map_structure(lambda shape: shape[1:], output_layer.compute_output_shape(shapes))


@public("contrib.seq2seq.BasicDecoder")
class BasicDecoder(Decoder):
    """Calls a cell; a helper samples from its outputs, and says what comes next.

    Args:
      cell: an RNNCell.
      helper: a Helper.
      initial_state: the first state.
      output_layer: a layer that outputs go through before anything is sampled, or None.

    Raises TypeError for anything else.
    """

    def __init__(self, cell, helper, initial_state, output_layer=None):
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self):
        return self._helper.batch_size

    @property
    def output_size(self):
        sizes = sizes_after(self._output_layer, self._cell.output_size)
        return BasicDecoderOutput(sizes, self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        """The type of the first state for outputs, the helper's for what is sampled."""
        dtype = nest.flatten(self._initial_state)[0].dtype
        sizes = sizes_after(self._output_layer, self._cell.output_size)
        return BasicDecoderOutput(nest.map_structure(lambda _: dtype, sizes), self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        """(finished, first inputs, first state)."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time, inputs, state, name=None):
        """(BasicDecoderOutput, next state, next inputs, finished)."""
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            sample_ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )
        return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished
