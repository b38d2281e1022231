"""Decoders and attention of tf.contrib.seq2seq that are Keras layers, and their samplers, from its inner modules."""

import importlib

import numpy as np

_LENGTHS = [3, 1]


def _module(tf, name):
    return importlib.import_module(f"{tf.__name__}.contrib.seq2seq.python.ops.{name}")


def _values(*shape):
    return np.sin(np.arange(np.prod(shape)) * 1.7).reshape(shape).astype(np.float32)


def _cell(tf):
    return tf.nn.rnn_cell.GRUCell(4, kernel_initializer=tf.initializers.constant(0.3), name="cell")


def _decoded(tf, sampler, *inputs, **more):
    cell = _cell(tf)
    decoder = _module(tf, "basic_decoder").BasicDecoderV2(cell, sampler, name="decoder", maximum_iterations=4)
    outputs, state, lengths = decoder(*inputs, initial_state=cell.zero_state(2, tf.float32), **more)
    return [tf.global_variables_initializer()], [outputs.rnn_output, outputs.sample_id, state, lengths]


def given_inputs(tf):
    inputs = tf.constant(_values(2, 3, 4))
    return _decoded(tf, _module(tf, "sampler").TrainingSampler(), inputs, sequence_length=_LENGTHS)


def given_inputs_by_time(tf):
    inputs = tf.constant(_values(3, 2, 4))
    return _decoded(tf, _module(tf, "sampler").TrainingSampler(time_major=True), inputs, sequence_length=_LENGTHS)


def scheduled_embeddings(tf):
    sampler = _module(tf, "sampler").ScheduledEmbeddingTrainingSampler(0.5, seed=3, scheduling_seed=4)
    inputs, table = tf.constant(_values(2, 3, 4)), tf.constant(_values(4, 4))
    return _decoded(tf, sampler, inputs, sequence_length=_LENGTHS, embedding=table)


def scheduled_outputs(tf):
    sampler = _module(tf, "sampler").ScheduledOutputTrainingSampler(0.5, seed=5)
    return _decoded(
        tf, sampler, tf.constant(_values(2, 3, 4)), sequence_length=_LENGTHS,
        auxiliary_inputs=tf.constant(_values(2, 3, 2)),
    )  # fmt: skip


def scheduled_functions_of_outputs(tf):
    sampler = _module(tf, "sampler").ScheduledOutputTrainingSampler(0.5, seed=5, next_inputs_fn=lambda x: 2.0 * x)
    return _decoded(tf, sampler, tf.constant(_values(2, 3, 4)), sequence_length=_LENGTHS)


def greedy_embeddings(tf):
    sampler = _module(tf, "sampler").GreedyEmbeddingSampler()
    return _decoded(tf, sampler, tf.constant(_values(4, 4)), start_tokens=[1, 2], end_token=3)


def drawn_embeddings(tf):
    sampler = _module(tf, "sampler").SampleEmbeddingSampler(softmax_temperature=0.5, seed=6)
    return _decoded(tf, sampler, tf.constant(_values(4, 4)), start_tokens=[1, 2], end_token=3)


def outputs_as_inputs(tf):
    sampler = _module(tf, "sampler").InferenceSampler(
        lambda outputs: 2.0 * outputs, [4], tf.float32, lambda samples: tf.reduce_sum(samples, 1) > 1.0
    )
    return _decoded(tf, sampler, tf.constant(_values(2, 4)))


def sampler_of_functions(tf):
    sampler = _module(tf, "sampler").CustomSampler(
        lambda inputs: (tf.constant([False, False]), inputs),
        lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32),
        lambda time, outputs, state, sample_ids: (tf.equal(sample_ids, time), outputs, state),
    )
    return _decoded(tf, sampler, tf.constant(_values(2, 4)))


def _attended(tf, attention):
    alignments, state = attention([tf.constant(_values(2, 4)), tf.constant(_values(2, 3) + 1.0)])
    return [tf.global_variables_initializer()], [alignments, state, *attention.weights]


def _layers(tf):
    ones = tf.keras.initializers.Constant(0.2)
    return {
        "memory_layer": tf.keras.layers.Dense(4, use_bias=False, kernel_initializer=ones, name="memory_layer"),
        "memory": tf.constant(_values(2, 3, 5)),
    }


def luong_attention(tf):
    make = _module(tf, "attention_wrapper").LuongAttentionV2
    return _attended(tf, make(4, memory_sequence_length=_LENGTHS, scale=True, **_layers(tf)))


def luong_monotonic_attention(tf):
    make = _module(tf, "attention_wrapper").LuongMonotonicAttentionV2
    return _attended(tf, make(4, scale=True, score_bias_init=0.1, mode="hard", **_layers(tf)))


def _bahdanau(tf):
    ones = tf.keras.initializers.Constant(0.1)
    layer = tf.keras.layers.Dense(4, use_bias=False, kernel_initializer=ones, name="query_layer")
    return dict(_layers(tf), query_layer=layer, kernel_initializer=ones, normalize=True)


def bahdanau_attention(tf):
    make = _module(tf, "attention_wrapper").BahdanauAttentionV2
    return _attended(tf, make(4, probability_fn="hardmax", **_bahdanau(tf)))


def bahdanau_monotonic_attention(tf):
    make = _module(tf, "attention_wrapper").BahdanauMonotonicAttentionV2
    return _attended(tf, make(4, memory_sequence_length=_LENGTHS, score_bias_init=-0.5, **_bahdanau(tf)))


def attending_cell(tf):
    wrapper = _module(tf, "attention_wrapper")
    mechanism = wrapper.LuongAttentionV2(4, memory_sequence_length=_LENGTHS, **_layers(tf))
    cell = wrapper.AttentionWrapper(_cell(tf), mechanism, alignment_history=True)
    sampler = _module(tf, "sampler").TrainingSampler()
    decoder = _module(tf, "basic_decoder").BasicDecoderV2(cell, sampler, name="decoder")
    outputs, state, lengths = decoder(
        tf.constant(_values(2, 3, 4)), initial_state=cell.get_initial_state(batch_size=2, dtype=tf.float32),
        sequence_length=_LENGTHS,
    )  # fmt: skip
    values = [outputs.rnn_output, state.attention, state.alignment_history.stack(), lengths]
    return [tf.global_variables_initializer()], values


def beams(tf):
    cell = _cell(tf)
    decoder = _module(tf, "beam_search_decoder").BeamSearchDecoderV2(
        cell, 3, length_penalty_weight=0.5, maximum_iterations=3, name="decoder"
    )
    outputs, state, lengths = decoder(
        tf.constant(_values(4, 4)), start_tokens=[1, 2], end_token=3,
        initial_state=cell.zero_state(6, tf.float32),
    )  # fmt: skip
    return [tf.global_variables_initializer()], [outputs.predicted_ids, state.log_probs, state.lengths, lengths]
