"""Recurrent models of tf.contrib.learn.models and sequences of tf.contrib.learn.ops, of lists of steps."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.composites.cross_entropy import softmax_cross_entropy_with_logits
from stillflow.contrib.rnn.attention_cell import AttentionCellWrapper
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.rnn.basic_cells import BasicRNNCell, GRUCell
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.lstm_cells import BasicLSTMCell
from stillflow.rnn.multi_cell import MultiRNNCell
from stillflow.rnn.static import static_rnn
from stillflow.variables.scope import get_variable_scope, variable_scope

_CELLS = {
    "rnn": BasicRNNCell,
    "gru": GRUCell,
    "lstm": functools.partial(BasicLSTMCell, state_is_tuple=False),
}


def _reversed(steps, lengths):
    """Steps from the last to the first; of sequences whose lengths are given, as far as they go."""
    if lengths is None:
        return list(reversed(steps))
    return ops.unstack(ops.reverse_sequence(ops.stack(steps), lengths, 0, 1))


@public("contrib.learn.models.bidirectional_rnn")
def bidirectional_rnn(
    cell_fw, cell_bw, inputs, initial_state_fw=None, initial_state_bw=None, dtype=None, sequence_length=None,
    scope=None,
):  # fmt: skip
    """(outputs, a list of [batch, both sizes]; the last states side by side) of cells that run both ways.

    Args:
      cell_fw, cell_bw: cells with tensors as states.
      inputs: a list of [batch, size].
      initial_state_fw, initial_state_bw: the first states, or None for zeros of type `dtype`.
      sequence_length: [batch], how many steps each sequence has, or None for all.
      scope: what names of variables begin with, by default "BiRNN".

    Raises:
      TypeError: for cells that are none, and inputs that are no list.
      ValueError: for no inputs.
    """
    for name, cell in (("cell_fw", cell_fw), ("cell_bw", cell_bw)):
        if not isinstance(cell, RNNCell):
            raise TypeError(f"{name} must be an instance of RNNCell")
    if not isinstance(inputs, list):
        raise TypeError("inputs must be a list")
    if not inputs:
        raise ValueError("inputs must not be empty")
    name = scope or "BiRNN"
    with variable_scope(f"{name}_FW"):
        forwards, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length)
    with variable_scope(f"{name}_BW"):
        turned = _reversed(inputs, sequence_length)
        backwards, state_bw = static_rnn(cell_bw, turned, initial_state_bw, dtype, sequence_length)
    backwards = _reversed(backwards, sequence_length)
    outputs = [ops.concat(both, 1) for both in zip(forwards, backwards, strict=True)]
    return outputs, ops.concat([state_fw, state_bw], 1)


@public("contrib.learn.models.get_rnn_model")
def get_rnn_model(
    rnn_size, cell_type, num_layers, input_op_fn, bidirectional, target_predictor_fn, sequence_length, initial_state,
    attn_length, attn_size, attn_vec_size,
):  # fmt: skip
    """A function of features and labels that makes a recurrent network, and returns what `target_predictor_fn` does.

    Args:
      rnn_size: the size of cells.
      cell_type: "rnn", "gru" or "lstm".
      num_layers: how many cells are stacked.
      input_op_fn: makes a list of steps, [batch, size], of the features.
      bidirectional: whether cells run both ways.
      target_predictor_fn: a function of the last state and the labels.
      sequence_length: [batch], how many steps each sequence has, or None for all.
      initial_state: the first state, or None for zeros.
      attn_length: how far back attention reaches, or None for none.
      attn_size, attn_vec_size: the sizes of what attention gives, and of its layer.

    The function raises ValueError for other types of cells.
    """

    def layer(make):
        if attn_length is None:
            return make(rnn_size)
        return AttentionCellWrapper(
            make(rnn_size),
            attn_length=attn_length,
            attn_size=attn_size,
            attn_vec_size=attn_vec_size,
            state_is_tuple=False,
        )

    def rnn_estimator(x, y):
        x = input_op_fn(x)
        if cell_type not in _CELLS:
            raise ValueError(f"cell_type {cell_type} is not supported. ")

        def stack():
            return MultiRNNCell([layer(_CELLS[cell_type]) for _ in range(num_layers)], state_is_tuple=False)

        given = {"dtype": dtypes.float32, "sequence_length": sequence_length}
        if bidirectional:
            _, encoding = bidirectional_rnn(
                stack(), stack(), x, initial_state_fw=initial_state, initial_state_bw=initial_state, **given
            )
        else:
            _, encoding = static_rnn(stack(), x, initial_state=initial_state, **given)
        return target_predictor_fn(encoding, y)

    return rnn_estimator


# ---- From sequences to sequences ----------------------------------------------------------------------------


@public("contrib.learn.ops.sequence_classifier")
def sequence_classifier(decoding, labels, sampling_decoding=None, name=None):
    """(probabilities [batch, time, classes], the sum of all cross entropies).

    Args:
      decoding: a list of logits, [batch, classes].
      labels: a list of one-hot labels.
      sampling_decoding: logits that the probabilities are made of instead, or None.
    """
    with name_scope(name, "sequence_classifier", [decoding, labels]):
        predictions, losses = [], []
        for i, logits in enumerate(decoding):
            losses.append(
                softmax_cross_entropy_with_logits(labels=labels[i], logits=logits, name=f"sequence_loss/xent_raw{i}")
            )
            predictions.append(ops.softmax(sampling_decoding[i] if sampling_decoding else logits))
        total = ops.add_n(losses, name="sequence_loss/xent")
        loss = ops.reduce_sum(total, name="sequence_loss")
        return ops.stack(predictions, axis=1), loss


@public("contrib.learn.ops.seq2seq_inputs")
def seq2seq_inputs(x, y, input_length, output_length, sentinel=None, name=None):
    """(inputs of the encoder, inputs of the decoder, what it is to put out), lists of steps.

    Args:
      x, y: [batch, time, size].
      input_length, output_length: not used.
      sentinel: what stands before the decoder's inputs and behind its outputs; zeros by default.
    """
    with name_scope(name, "seq2seq_inputs", [x, y]):
        inputs = ops.unstack(x, axis=1)
        outputs = ops.unstack(y, axis=1)
        if sentinel is None:
            sentinel = ops.zeros(ops.stack([ops.shape(x)[0], outputs[0].shape[1]]))
            sentinel.set_shape(outputs[0].shape)
        return inputs, [sentinel, *outputs], [*outputs, sentinel]


@public("contrib.learn.ops.rnn_decoder")
def rnn_decoder(decoder_inputs, initial_state, cell, scope=None):
    """(outputs, states, outputs and states of a cell whose inputs are its outputs): lists, with the first state.

    Args:
      decoder_inputs: a list of [batch, size].
      initial_state: the first state.
      cell: the cell.
      scope: the variable scope, by default "dnn_decoder".
    """
    with variable_scope(scope or "dnn_decoder"):
        states, outputs = [initial_state], []
        with name_scope("training", values=[decoder_inputs, initial_state]):
            for i, step in enumerate(decoder_inputs):
                if i > 0:
                    get_variable_scope().reuse_variables()
                output, state = cell(step, states[-1])
                outputs.append(output)
                states.append(state)
        sampled_states, sampled = [initial_state], []  # type: ignore[var-annotated]
        with name_scope("sampling", values=[initial_state]):
            for i in range(len(decoder_inputs)):
                output, state = (outputs[0], states[0]) if i == 0 else cell(sampled[-1], sampled_states[-1])
                sampled.append(output)
                sampled_states.append(state)
    return outputs, states, sampled, sampled_states


@public("contrib.learn.ops.rnn_seq2seq")
def rnn_seq2seq(encoder_inputs, decoder_inputs, encoder_cell, decoder_cell=None, dtype=dtypes.float32, scope=None):
    """What `rnn_decoder` returns, from the last state of an encoder.

    Args:
      encoder_inputs, decoder_inputs: lists of [batch, size].
      encoder_cell, decoder_cell: the cells; the decoder's is the encoder's by default.
      dtype: the type of the first state.
      scope: the variable scope, by default "rnn_seq2seq".
    """
    with variable_scope(scope or "rnn_seq2seq"):
        _, last_state = static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, last_state, decoder_cell or encoder_cell)
