"""Whole models over lists of ids: encoders, decoders and embeddings."""

from __future__ import annotations

import copy

from stillflow import ops
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.contrib.legacy_seq2seq.decoders import (
    check_projection,
    embedded_argmax,
    embedding_rnn_decoder,
    fed_by_choice,
    tied_rnn_seq2seq,
)
from stillflow.contrib.rnn.projections import EmbeddingWrapper, OutputProjectionWrapper
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.static import static_rnn
from stillflow.variables.get_variable import get_variable
from stillflow.variables.scope import variable_scope


@public("contrib.legacy_seq2seq.embedding_rnn_seq2seq", "nn.seq2seq.embedding_rnn_seq2seq")
def embedding_rnn_seq2seq(
    encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols, embedding_size,
    output_projection=None, feed_previous=False, dtype=None, scope=None,
):  # fmt: skip
    """An encoder and a decoder over ids, each with an embedding of its own.

    Args:
      encoder_inputs, decoder_inputs: lists of int32 tensors [batch].
      cell: an RNNCell; the encoder has a copy.
      num_encoder_symbols, num_decoder_symbols, embedding_size: the sizes of the embeddings.
      output_projection: None: outputs are projected to the symbols; or (weights, biases) that do so where the
        decoder's outputs are fed back, and outputs are left as they are.
      feed_previous: whether the decoder gets only its first input, and then what it said itself; a bool, or a bool
        scalar: then both are built.
      dtype: the type of the first state; the scope's by default.
      scope: the variable scope, or its name; "embedding_rnn_seq2seq" by default.

    Returns (list of outputs, final state).
    """
    with variable_scope(scope or "embedding_rnn_seq2seq") as entered:
        if dtype is not None:
            entered.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, encoder_state = static_rnn(encoder, encoder_inputs, dtype=entered.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds, updates):
            return embedding_rnn_decoder(
                decoder_inputs, encoder_state, cell, num_decoder_symbols, embedding_size, output_projection, feeds,
                updates,
            )  # fmt: skip

        if isinstance(feed_previous, bool):
            return decode(feed_previous, True)
        return fed_by_choice(
            feed_previous, lambda feeds: decode(feeds, False), len(decoder_inputs), lambda: encoder_state
        )


@public("contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq", "nn.seq2seq.embedding_tied_rnn_seq2seq")
def embedding_tied_rnn_seq2seq(
    encoder_inputs, decoder_inputs, cell, num_symbols, embedding_size, num_decoder_symbols=None,
    output_projection=None, feed_previous=False, dtype=None, scope=None,
):  # fmt: skip
    """An encoder and a decoder over ids, with one embedding and the same variables.

    Arguments are those of embedding_rnn_seq2seq, but for `num_decoder_symbols`, the number of symbols that outputs
    are projected to if they are fewer than `num_symbols`.
    """
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as entered:
        dtype = entered.dtype
        if output_projection is not None:
            check_projection(output_projection, num_symbols, dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        inputs = [embedding_lookup(embedding, ids) for ids in encoder_inputs]
        targets = [embedding_lookup(embedding, ids) for ids in decoder_inputs]
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_symbols if num_decoder_symbols is None else num_decoder_symbols)

        def decode(feeds, updates):
            loop_function = embedded_argmax(embedding, output_projection, updates) if feeds else None
            return tied_rnn_seq2seq(inputs, targets, cell, loop_function=loop_function, dtype=dtype)

        if isinstance(feed_previous, bool):
            return decode(feed_previous, True)
        return fed_by_choice(
            feed_previous, lambda feeds: decode(feeds, False), len(decoder_inputs),
            lambda: cell.zero_state(_batch_size(encoder_inputs), dtype),
        )  # fmt: skip


def _batch_size(inputs):
    batch = inputs[0].shape.dims[0]
    for ids in inputs[1:]:
        batch.merge_with(ids.shape.dims[0])
    return ops.shape(inputs[0])[0] if batch.value is None else batch.value


@public("contrib.legacy_seq2seq.one2many_rnn_seq2seq", "nn.seq2seq.one2many_rnn_seq2seq")
def one2many_rnn_seq2seq(
    encoder_inputs, decoder_inputs_dict, enc_cell, dec_cells_dict, num_encoder_symbols, num_decoder_symbols_dict,
    embedding_size, feed_previous=False, dtype=None, scope=None,
):  # fmt: skip
    """One encoder and several decoders, for several tasks.

    Args:
      encoder_inputs: a list of int32 tensors [batch].
      decoder_inputs_dict, dec_cells_dict, num_decoder_symbols_dict: {name of a decoder: its inputs, cell, number of
        symbols}.
      enc_cell, num_encoder_symbols: those of the encoder.
      embedding_size, feed_previous, dtype: see embedding_rnn_seq2seq.
      scope: the variable scope, or its name; "one2many_rnn_seq2seq" by default.

    Returns ({name: list of outputs}, {name: final state}).

    Raises:
      TypeError: for cells that are no RNNCells.
      ValueError: if there are not as many cells as inputs.
    """
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decodre_inputs_dict")
    for cell in dec_cells_dict.values():
        if not isinstance(cell, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(cell)}")
    outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as entered:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, encoder_state = static_rnn(encoder, encoder_inputs, dtype=entered.dtype)
        for name, inputs in decoder_inputs_dict.items():
            with variable_scope(f"one2many_decoder_{name}"):
                outputs[name], states[name] = _decoded(
                    inputs, encoder_state, dec_cells_dict[name], num_decoder_symbols_dict[name], embedding_size,
                    feed_previous,
                )  # fmt: skip
    return outputs, states


def _decoded(inputs, encoder_state, cell, num_symbols, embedding_size, feed_previous):
    cell = OutputProjectionWrapper(cell, num_symbols)

    def decode(feeds):
        return embedding_rnn_decoder(inputs, encoder_state, cell, num_symbols, embedding_size, feed_previous=feeds)

    if isinstance(feed_previous, bool):
        return decode(feed_previous)
    return fed_by_choice(feed_previous, decode, len(inputs), lambda: encoder_state)
