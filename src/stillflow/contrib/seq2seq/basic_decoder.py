"""BasicDecoder: a cell, fed by a helper; and the same as a Keras layer, fed by a sampler."""

from __future__ import annotations

import collections

from stillflow.contrib.seq2seq.decoder import BaseDecoder, Decoder
from stillflow.contrib.seq2seq.helper_base import Helper
from stillflow.contrib.seq2seq.samplers import Sampler
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


def output_types(sizes, dtype, sample_ids_dtype):
    """The types of a BasicDecoder's outputs, of which the cell's have these sizes."""
    return BasicDecoderOutput(nest.map_structure(lambda _: dtype, sizes), sample_ids_dtype)


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
        return output_types(sizes, dtype, self._helper.sample_ids_dtype)

    def initialize(self, name=None):
        """(finished, first inputs, first state)."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time, inputs, state, name=None):
        """(BasicDecoderOutput, next state, next inputs, finished)."""
        with name_scope(name, "BasicDecoderStep", (time, inputs, state)):
            return take_step(self._cell, self._output_layer, self._helper, time, inputs, state)


def take_step(cell, output_layer, source, time, inputs, state):
    """(BasicDecoderOutput, next state, next inputs, finished); `source` is a helper or a sampler."""
    outputs, state = cell(inputs, state)
    if output_layer is not None:
        outputs = output_layer(outputs)
    sample_ids = source.sample(time=time, outputs=outputs, state=state)
    finished, next_inputs, next_state = source.next_inputs(
        time=time, outputs=outputs, state=state, sample_ids=sample_ids
    )
    return BasicDecoderOutput(outputs, sample_ids), next_state, next_inputs, finished


@public("contrib.seq2seq.python.ops.basic_decoder.BasicDecoderV2")
class BasicDecoderV2(BaseDecoder):
    """Calls a cell; a sampler samples from its outputs, and says what comes next.

    The layer is called with what the sampler's `initialize` takes, and with `initial_state`, the first state.

    Args:
      cell: an RNNCell, or a Keras cell.
      sampler: a Sampler.
      output_layer: a layer that outputs go through before anything is sampled, or None.
      kwargs: see BaseDecoder.

    Raises TypeError for anything else.
    """

    def __init__(self, cell, sampler, output_layer=None, **kwargs):
        assert_like_rnncell("cell", cell)
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sampler must be a Sampler, received: {sampler}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {output_layer}")
        self.cell = cell
        self.sampler = sampler
        self.output_layer = output_layer
        super().__init__(**kwargs)

    def initialize(self, inputs, initial_state=None, **kwargs):
        """(finished, first inputs, first state)."""
        self._cell_dtype = nest.flatten(initial_state)[0].dtype
        return (*self.sampler.initialize(inputs, **kwargs), initial_state)

    @property
    def batch_size(self):
        return self.sampler.batch_size

    def _rnn_output_size(self):
        return sizes_after(self.output_layer, TensorShape(self.cell.output_size))

    @property
    def output_size(self):
        return BasicDecoderOutput(self._rnn_output_size(), self.sampler.sample_ids_shape)

    @property
    def output_dtype(self):
        """The type of the first state for outputs, the sampler's for what is sampled."""
        return output_types(self._rnn_output_size(), self._cell_dtype, self.sampler.sample_ids_dtype)

    def step(self, time, inputs, state):
        """(BasicDecoderOutput, next state, next inputs, finished)."""
        return take_step(self.cell, self.output_layer, self.sampler, time, inputs, state)
