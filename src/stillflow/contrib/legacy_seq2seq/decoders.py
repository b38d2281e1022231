"""Decoders over lists of inputs, without attention."""

from __future__ import annotations

import copy

from stillflow import ops
from stillflow.composites.dense_layer import xw_plus_b
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.graph import dtypes, nest
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.static import static_rnn
from stillflow.variables.get_variable import get_variable
from stillflow.variables.scope import get_variable_scope, variable_scope


@public("contrib.legacy_seq2seq.python.ops.seq2seq._extract_argmax_and_embed")
def embedded_argmax(embedding, output_projection=None, update_embedding=True):
    """A loop_function: the embedding of the symbol that the last output says is likeliest.

    Args:
      embedding: [symbols, size].
      output_projection: (weights, biases) to apply to outputs, or None.
      update_embedding: whether gradients go into the embedding.
    """

    def loop_function(prev, _):
        if output_projection is not None:
            prev = xw_plus_b(prev, output_projection[0], output_projection[1])
        found = embedding_lookup(embedding, ops.argmax(prev, 1))
        return found if update_embedding else ops.stop_gradient(found)

    return loop_function


@public("contrib.legacy_seq2seq.rnn_decoder", "nn.seq2seq.rnn_decoder")
def rnn_decoder(decoder_inputs, initial_state, cell, loop_function=None, scope=None):
    """Calls a cell for each input of a list.

    Args:
      decoder_inputs: a list of tensors [batch, size].
      initial_state: the first state.
      cell: an RNNCell.
      loop_function: a function of (last output, number of the step) that returns what is the input instead of the
        list's, in all steps but the first.
      scope: the variable scope, or its name; "rnn_decoder" by default.

    Returns (list of outputs, final state).
    """
    state, outputs, previous = initial_state, [], None
    with variable_scope(scope or "rnn_decoder"):
        for step, values in enumerate(decoder_inputs):
            if loop_function is not None and previous is not None:
                with variable_scope("loop_function", reuse=True):
                    values = loop_function(previous, step)
            if step > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(values, state)
            outputs.append(output)
            previous = output
    return outputs, state


@public("contrib.legacy_seq2seq.basic_rnn_seq2seq", "nn.seq2seq.basic_rnn_seq2seq")
def basic_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, dtype=dtypes.float32, scope=None):
    """A cell along the encoder's inputs, and one like it from its final state along the decoder's.

    Args:
      encoder_inputs, decoder_inputs: lists of tensors [batch, size].
      cell: an RNNCell; the encoder has a copy.
      dtype: the type of the first state.
      scope: the variable scope, or its name; "basic_rnn_seq2seq" by default.

    Returns (list of outputs, final state).
    """
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


@public("contrib.legacy_seq2seq.tied_rnn_seq2seq", "nn.seq2seq.tied_rnn_seq2seq")
def tied_rnn_seq2seq(encoder_inputs, decoder_inputs, cell, loop_function=None, dtype=dtypes.float32, scope=None):
    """Like basic_rnn_seq2seq, but encoder and decoder have the same variables. `loop_function`: see rnn_decoder."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def check_projection(output_projection, num_symbols, dtype):
    """Raises ValueError for a projection (weights, biases) to another number of symbols."""
    weights = convert_to_tensor(output_projection[0], dtype=dtype)
    weights.shape.assert_is_compatible_with([None, num_symbols])
    biases = convert_to_tensor(output_projection[1], dtype=dtype)
    biases.shape.assert_is_compatible_with([num_symbols])


@public("contrib.legacy_seq2seq.embedding_rnn_decoder", "nn.seq2seq.embedding_rnn_decoder")
def embedding_rnn_decoder(
    decoder_inputs, initial_state, cell, num_symbols, embedding_size, output_projection=None, feed_previous=False,
    update_embedding_for_previous=True, scope=None,
):  # fmt: skip
    """rnn_decoder over ids, which are embedded.

    Args:
      decoder_inputs: a list of int32 tensors [batch].
      initial_state, cell: see rnn_decoder.
      num_symbols, embedding_size: the sizes of the embedding.
      output_projection: (weights [output_size, num_symbols], biases) that make logits of outputs that are fed back.
      feed_previous: whether only the first input counts, and each further one is the symbol that was the likeliest
        output before.
      update_embedding_for_previous: whether gradients go into the embedding of such symbols.
      scope: the variable scope, or its name; "embedding_rnn_decoder" by default.

    Returns (list of outputs, final state).

    Raises ValueError for a projection of other sizes.
    """
    with variable_scope(scope or "embedding_rnn_decoder") as entered:
        if output_projection is not None:
            check_projection(output_projection, num_symbols, entered.dtype)
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = embedded_argmax(embedding, output_projection, update_embedding_for_previous)
        # Looked up one after the other, as the decoder asks for them.
        inputs = (embedding_lookup(embedding, ids) for ids in decoder_inputs)
        return rnn_decoder(inputs, initial_state, cell, loop_function=loop_function)


def fed_by_choice(feed_previous, decode, count, state_like):
    """(outputs, state) of one of two decoders with the same variables: one feeds itself, the other does not.

    Args:
      feed_previous: a bool, or a bool scalar.
      decode: a function of a bool that builds a decoder and returns (outputs, state).
      count: the number of outputs.
      state_like: a function that returns a state, for its structure.
    """

    def flat(feeds):
        with variable_scope(get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds)
            return outputs + (nest.flatten(state) if nest.is_nested(state) else [state])

    results = cond(feed_previous, lambda: flat(True), lambda: flat(False))
    outputs, states = results[:count], results[count:]
    like = state_like()
    return outputs, nest.pack_sequence_as(like, states) if nest.is_nested(like) else states[0]
