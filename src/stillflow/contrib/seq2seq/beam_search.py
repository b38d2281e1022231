"""BeamSearchDecoder: keeps the best few sequences at every step. Also as a Keras layer."""

from __future__ import annotations

import collections
import logging

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.contrib.seq2seq.basic_decoder import check_output_layer, sizes_after
from stillflow.contrib.seq2seq.beam_scores import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    Scoring,
    search_step,
)
from stillflow.contrib.seq2seq.beam_tensors import Beams, gather_tree_from_array
from stillflow.contrib.seq2seq.decoder import BaseDecoder, Decoder
from stillflow.contrib.seq2seq.helpers import embedding_function
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.states import assert_like_rnncell


@public("contrib.seq2seq.FinalBeamSearchDecoderOutput")
class FinalBeamSearchDecoderOutput(
    collections.namedtuple("FinalBeamDecoderOutput", ["predicted_ids", "beam_search_decoder_output"])
):
    """What a beam search returns: predicted_ids, int32 [batch, time, beam], the best first; each step's output."""


_REORDERING = (
    "Consider setting reorder_tensor_arrays to False to disable TensorArray reordering during the beam search."
)


class _BeamSearch:
    """What a beam search does in each step, whatever it begins with."""

    _beams: Beams

    def _take_settings(
        self, cell, output_layer, length_penalty_weight, coverage_penalty_weight, reorder_tensor_arrays
    ):  # fmt: skip
        assert_like_rnncell("cell", cell)
        check_output_layer(output_layer)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._scoring = Scoring(length_penalty_weight, coverage_penalty_weight)

    def _take_start(self, embedding_fn, start_tokens, end_token, initial_state, beam_width):
        """Makes the first inputs and the first state for beams. Raises ValueError for tokens of another rank."""
        self._embedding_fn = embedding_fn
        tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        if tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._beams = Beams(ops.size(start_tokens), beam_width)
        self._initial_cell_state = nest.map_structure(self._beams.split_state, initial_state, self._cell.state_size)
        self._start_tokens = ops.tile(ops.expand_dims(tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        places = ops.zeros([self.batch_size], dtype=dtypes.int32)
        self._finished = ops.one_hot(places, beam_width, on_value=False, off_value=True, dtype=dtypes.bool_)

    @property
    def batch_size(self):
        return self._beams.batch_size

    @property
    def tracks_own_finished(self):
        return True

    @property
    def output_size(self):
        width = self._beams.width
        return BeamSearchDecoderOutput(TensorShape([width]), TensorShape([width]), TensorShape([width]))

    @property
    def _first_dtype(self):
        return nest.flatten(self._initial_cell_state)[0].dtype

    @property
    def output_dtype(self):
        """The type of the first state for scores, int32 for ids."""
        dtype = self._first_dtype
        sizes = sizes_after(self._output_layer, self._cell.output_size)
        return BeamSearchDecoderOutput(nest.map_structure(lambda _: dtype, sizes), dtypes.int32, dtypes.int32)

    def _first_step(self):
        """(finished, first inputs, first state): only one beam is alive at first."""
        dtype = self._first_dtype
        places = ops.zeros([self.batch_size], dtype=dtypes.int32)
        log_probs = ops.one_hot(
            places, self._beams.width, on_value=convert_to_tensor(0.0, dtype=dtype),
            off_value=convert_to_tensor(-np.inf, dtype=dtype), dtype=dtype,
        )  # fmt: skip
        attention = self._scoring.attention_probs(self._initial_cell_state)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=ops.zeros([self.batch_size, self._beams.width], dtype=dtypes.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    def step(self, time, inputs, state, name=None):
        """(BeamSearchDecoderOutput, next BeamSearchDecoderState, next inputs, finished)."""
        beams = self._beams
        with name_scope(name, "BeamSearchDecoderStep", (time, inputs, state)):
            inputs = nest.map_structure(lambda part: beams.merge(part, part.shape[2:]), inputs)
            cell_state = nest.map_structure(beams.merge_state, state.cell_state, self._cell.state_size)
            outputs, cell_state = self._cell(inputs, cell_state)
            outputs = nest.map_structure(lambda part: beams.split(part, part.shape[1:]), outputs)
            cell_state = nest.map_structure(beams.split_state, cell_state, self._cell.state_size)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, next_state = search_step(time, outputs, cell_state, state, beams, self._end_token, self._scoring)
            next_inputs = cond(
                ops.reduce_all(next_state.finished), lambda: self._start_inputs,
                lambda: self._embedding_fn(output.predicted_ids),
            )  # fmt: skip
        return output, next_state, next_inputs, next_state.finished

    def finalize(self, outputs, final_state, sequence_lengths):
        """(FinalBeamSearchDecoderOutput, final state): beams are followed back from their ends."""
        longest = ops.cast(ops.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        ids = ops.gather_tree(
            outputs.predicted_ids, outputs.parent_ids, max_sequence_lengths=longest, end_token=self._end_token
        )
        if self._reorder_tensor_arrays:
            cell_state = nest.map_structure(
                lambda part: self._sorted(part, outputs.parent_ids, final_state.lengths), final_state.cell_state
            )
            final_state = final_state._replace(cell_state=cell_state)
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state

    def _sorted(self, array, parent_ids, lengths):
        """A TensorArray's elements in the order of the final beams; anything else as it is."""
        if not isinstance(array, TensorArray):
            return array
        shape = array.element_shape
        if shape.ndims is None or shape.ndims < 1:
            _warn(
                "The TensorArray %s in the cell state is not amenable to sorting based on the beam search result. "
                "For a TensorArray to be sorted, its elements shape must be defined and have at least a rank of 1, "
                "but saw shape: %s",
                array.handle.name, shape,
            )  # fmt: skip
            return array
        if not _may_be_beams(shape, self._beams):
            return array
        elements = array.stack()
        with get_default_graph().control_dependencies(
            [_check_batch_beam(elements, self._beams.batch_size, self._beams.width)]
        ):
            return gather_tree_from_array(elements, parent_ids, lengths)


@public("contrib.seq2seq.BeamSearchDecoder")
class BeamSearchDecoder(_BeamSearch, Decoder):
    """Beam search: in each step the best `beam_width` sequences are kept.

    The first state must be made for batch * beam_width sequences; what an encoder has made for the batch, and an
    AttentionWrapper's memory, have to go through tf.contrib.seq2seq.tile_batch.

    Args:
      cell: an RNNCell.
      embedding: a function of ids, or what tf.nn.embedding_lookup looks them up in.
      start_tokens: int32 [batch], the first symbols.
      end_token: an int32 scalar, the symbol that ends a sequence.
      initial_state: the first state.
      beam_width: an int.
      output_layer: a layer that outputs go through, or None.
      length_penalty_weight: scores are divided by ((5 + length) / 6) to this power; 0 for none.
      coverage_penalty_weight: the weight of the coverage penalty; 0 for none.
      reorder_tensor_arrays: whether TensorArrays in the state are put in the order of the final beams.

    Raises:
      TypeError: if `cell` or `output_layer` is none.
      ValueError: for tokens of another rank.
    """

    def __init__(
        self, cell, embedding, start_tokens, end_token, initial_state, beam_width, output_layer=None,
        length_penalty_weight=0.0, coverage_penalty_weight=0.0, reorder_tensor_arrays=True,
    ):  # fmt: skip
        self._take_settings(cell, output_layer, length_penalty_weight, coverage_penalty_weight, reorder_tensor_arrays)
        self._take_start(embedding_function(embedding), start_tokens, end_token, initial_state, beam_width)

    def initialize(self, name=None):
        """(finished, first inputs, first state)."""
        return self._first_step()


@public("contrib.seq2seq.python.ops.beam_search_decoder.BeamSearchDecoderV2")
class BeamSearchDecoderV2(_BeamSearch, BaseDecoder):
    """BeamSearchDecoder as a Keras layer.

    The layer is called with a table to look ids up in, None if there is a function; start_tokens, int32 [batch];
    end_token, an int32 scalar; and initial_state, the first state.

    Args:
      cell: an RNNCell.
      beam_width: an int.
      embedding_fn: a function of ids, or None.
      output_layer, length_penalty_weight, coverage_penalty_weight, reorder_tensor_arrays: see BeamSearchDecoder.
      kwargs: see BaseDecoder.

    Raises:
      TypeError: if `cell` or `output_layer` is none.
      ValueError: for a function that cannot be called; in calls, for tokens of another rank, and both a table and a
        function.
    """

    def __init__(
        self, cell, beam_width, embedding_fn=None, output_layer=None, length_penalty_weight=0.0,
        coverage_penalty_weight=0.0, reorder_tensor_arrays=True, **kwargs,
    ):  # fmt: skip
        self._take_settings(cell, output_layer, length_penalty_weight, coverage_penalty_weight, reorder_tensor_arrays)
        super().__init__(**kwargs)
        if embedding_fn is not None and not callable(embedding_fn):
            raise ValueError(f"embedding_fn is expected to be a callable, got {type(embedding_fn)}")
        self._given_embedding_fn = embedding_fn
        self._beam_width = beam_width

    def call(self, embedding, start_tokens, end_token, initial_state, **kwargs):
        """(FinalBeamSearchDecoderOutput, BeamSearchDecoderState, lengths)."""
        return super().call(
            embedding, start_tokens=start_tokens, end_token=end_token, initial_state=initial_state, **kwargs
        )

    def initialize(self, embedding, start_tokens, end_token, initial_state):
        """(finished, first inputs, first state)."""
        if embedding is not None and self._given_embedding_fn is not None:
            raise ValueError("embedding and embedding_fn cannot be provided at same time")
        embedding_fn = self._given_embedding_fn if embedding is None else embedding_function(embedding)
        self._take_start(embedding_fn, start_tokens, end_token, initial_state, self._beam_width)
        return self._first_step()


def _warn(text, *arguments):
    logging.getLogger("tensorflow").warning(text, *arguments)


def _may_be_beams(shape, beams):
    """Whether elements of that shape are put in order; a warning says so if not.

    As in TensorFlow, those are not whose second size is known.
    """
    batch, first = beams.known_batch_size, shape.dims[0].value
    if batch is None or first is None:
        return True
    second = shape.dims[1].value if shape.ndims >= 2 else None
    if first == batch * beams.width and (second is None or (first == batch and second == beams.width)):
        return True
    _warn(
        f"TensorArray reordering expects elements to be reshapable to %s which is incompatible with the current "
        f"shape %s. {_REORDERING}",
        TensorShape([batch, beams.width, None]), shape,
    )  # fmt: skip
    return False


@public("contrib.seq2seq.python.ops.beam_search_decoder._check_batch_beam")
def _check_batch_beam(t, batch_size, beam_width):
    """An operation that fails unless elements are [batch * beam, ...] or [batch, beam, ...]."""
    message = (
        "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, -1] which is "
        f"incompatible with the dynamic shape of {t.name} elements. {_REORDERING}"
    )
    shape = ops.shape(t)
    if t.shape.ndims == 2:
        return assert_that(ops.equal(shape[1], batch_size * beam_width), [message])
    is_merged = ops.equal(shape[1], batch_size * beam_width)
    is_split = ops.logical_and(ops.equal(shape[1], batch_size), ops.equal(shape[2], beam_width))
    return assert_that(ops.logical_or(is_merged, is_split), [message])
