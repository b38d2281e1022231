"""Decoders over lists of inputs that look at the encoder's outputs: attention as in arxiv.org/abs/1412.7449."""

from __future__ import annotations

import copy

from stillflow import ops
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.contrib.legacy_seq2seq.decoders import embedded_argmax, fed_by_choice
from stillflow.contrib.rnn.linear import Linear
from stillflow.contrib.rnn.projections import EmbeddingWrapper, OutputProjectionWrapper
from stillflow.graph import dtypes, nest
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.static import static_rnn
from stillflow.variables.get_variable import get_variable
from stillflow.variables.scope import get_variable_scope, variable_scope


@public("contrib.legacy_seq2seq.attention_decoder", "nn.seq2seq.attention_decoder")
def attention_decoder(
    decoder_inputs, initial_state, attention_states, cell, output_size=None, num_heads=1, loop_function=None,
    dtype=None, scope=None, initial_state_attention=False,
):  # fmt: skip
    """Calls a cell for each input of a list, together with a weighted mean of the attention states.

    In each step the cell gets a linear function of the input and the last means. Its new state gives the weights of
    new means, softmax(v * tanh(W1 * attention state + W2 * state)), and the output is a linear function of the cell's
    and the means.

    Args:
      decoder_inputs: a list of tensors [batch, size].
      initial_state: the first state.
      attention_states: [batch, length, size].
      cell: an RNNCell.
      output_size: the size of outputs; the cell's by default.
      num_heads: how many means there are.
      loop_function: see rnn_decoder.
      dtype: the scope's by default.
      scope: the variable scope, or its name; "attention_decoder" by default.
      initial_state_attention: whether the first means are those for the first state, instead of 0; if decoding goes
        on from what was decoded before.

    Returns (list of outputs, final state).

    Raises ValueError without inputs or heads, and for sizes that are not known.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if dimension_value(attention_states.shape[2]) is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    output_size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as entered:
        batch_size = ops.shape(decoder_inputs[0])[0]
        attention = _Attention(attention_states, num_heads, entered.dtype)
        state, means = initial_state, attention.zeros(batch_size)
        if initial_state_attention:
            means = attention(initial_state)
        outputs, previous = [], None
        for step, values in enumerate(decoder_inputs):
            if step > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and previous is not None:
                with variable_scope("loop_function", reuse=True):
                    values = loop_function(previous, step)
            output, state = cell(_combined(values, means, entered.dtype), state)
            if step == 0 and initial_state_attention:
                with variable_scope(get_variable_scope(), reuse=True):
                    means = attention(state)
            else:
                means = attention(state)
            with variable_scope("AttnOutputProjection"):
                parts = [ops.cast(output, entered.dtype), *means]
                previous = Linear(parts, output_size, True)(parts)
            outputs.append(previous)
    return outputs, state


def _combined(values, means, dtype):
    """A linear function of an input and of means, of the input's size."""
    size = values.shape.with_rank(2)[1]
    if size.value is None:
        raise ValueError(f"Could not infer input size from input: {values.name}")
    parts = [ops.cast(part, dtype) for part in [values, *means]]
    return Linear(parts, size, True)(parts)


class _Attention:
    """Weighted means of attention states, for a query; the weights follow from variables of the current scope."""

    def __init__(self, states, num_heads, dtype):
        self._dtype = dtype
        length = dimension_value(states.shape[1])
        self._length = ops.shape(states)[1] if length is None else length
        self._size = dimension_value(states.shape[2])
        self._hidden = ops.reshape(states, [-1, self._length, 1, self._size])
        self._features, self._vectors = [], []
        for head in range(num_heads):
            kernel = get_variable(f"AttnW_{head}", [1, 1, self._size, self._size], dtype=dtype)
            self._features.append(ops.conv2d(self._hidden, kernel, [1, 1, 1, 1], "SAME"))
            self._vectors.append(get_variable(f"AttnV_{head}", [self._size], dtype=dtype))

    def zeros(self, batch_size):
        """Means that are 0."""
        shape = ops.stack([batch_size, self._size])
        means = [ops.zeros(shape, dtype=self._dtype) for _ in self._vectors]
        for mean in means:
            mean.set_shape([None, self._size])
        return means

    def __call__(self, query):
        """The means, one for each head; `query` is a state."""
        if nest.is_nested(query):
            query = ops.concat(nest.flatten(query), 1)
        return [self._mean(head, query) for head in range(len(self._vectors))]

    def _mean(self, head, query):
        with variable_scope(f"Attention_{head}"):
            place = ops.reshape(Linear(query, self._size, True)(query), [-1, 1, 1, self._size])
            place = ops.cast(place, self._dtype)
            scores = ops.reduce_sum(self._vectors[head] * ops.tanh(self._features[head] + place), [2, 3])
            weights = ops.cast(ops.softmax(ops.cast(scores, dtypes.float32)), self._dtype)
            mean = ops.reduce_sum(ops.reshape(weights, [-1, self._length, 1, 1]) * self._hidden, [1, 2])
            return ops.reshape(mean, [-1, self._size])


@public("contrib.legacy_seq2seq.embedding_attention_decoder", "nn.seq2seq.embedding_attention_decoder")
def embedding_attention_decoder(
    decoder_inputs, initial_state, attention_states, cell, num_symbols, embedding_size, num_heads=1,
    output_size=None, output_projection=None, feed_previous=False, update_embedding_for_previous=True, dtype=None,
    scope=None, initial_state_attention=False,
):  # fmt: skip
    """attention_decoder over ids, which are embedded.

    Arguments are those of attention_decoder and embedding_rnn_decoder; the scope is "embedding_attention_decoder" by
    default. Returns (list of outputs, final state).

    Raises ValueError for a projection of other sizes, and as attention_decoder does.
    """
    output_size = cell.output_size if output_size is None else output_size
    if output_projection is not None:
        biases = convert_to_tensor(output_projection[1], dtype=dtype)
        biases.shape.assert_is_compatible_with([num_symbols])
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = embedded_argmax(embedding, output_projection, update_embedding_for_previous)
        inputs = [embedding_lookup(embedding, ids) for ids in decoder_inputs]
        return attention_decoder(
            inputs, initial_state, attention_states, cell, output_size, num_heads, loop_function,
            initial_state_attention=initial_state_attention,
        )  # fmt: skip


@public("contrib.legacy_seq2seq.embedding_attention_seq2seq", "nn.seq2seq.embedding_attention_seq2seq")
def embedding_attention_seq2seq(
    encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols, embedding_size, num_heads=1,
    output_projection=None, feed_previous=False, dtype=None, scope=None, initial_state_attention=False,
):  # fmt: skip
    """An encoder and a decoder over ids, each with an embedding; the decoder looks at the encoder's outputs.

    Arguments are those of attention_decoder and embedding_rnn_seq2seq; the scope is "embedding_attention_seq2seq" by
    default. Returns (list of outputs, final state).
    """
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as entered:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        encoder_outputs, encoder_state = static_rnn(encoder, encoder_inputs, dtype=entered.dtype)
        states = ops.concat([ops.reshape(each, [-1, 1, cell.output_size]) for each in encoder_outputs], 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feeds, updates):
            return embedding_attention_decoder(
                decoder_inputs, encoder_state, states, cell, num_decoder_symbols, embedding_size, num_heads,
                output_size, output_projection, feeds, updates, initial_state_attention=initial_state_attention,
            )  # fmt: skip

        if isinstance(feed_previous, bool):
            return decode(feed_previous, True)
        return fed_by_choice(
            feed_previous, lambda feeds: decode(feeds, False), len(decoder_inputs), lambda: encoder_state
        )
