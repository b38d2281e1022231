"""Attention mechanisms and AttentionWrapper of tf.contrib.seq2seq."""


def _lib(tf):
    tf.set_random_seed(5)
    return tf.contrib.seq2seq


def _memory(tf, batch=2, time=3, depth=4, known=True):
    numbers = [[[0.1 * (i - t) * (j + 1) for j in range(depth)] for t in range(time)] for i in range(batch)]
    memory = tf.constant(numbers, tf.float32)
    return memory if known else tf.placeholder_with_default(memory, [None, None, depth])


def _cell(tf, size=4):
    return tf.nn.rnn_cell.BasicLSTMCell(size)


def _attended(tf, mechanism, gradients=True, **options):
    """Two steps in a training decoder."""
    mechanisms = mechanism if isinstance(mechanism, list) else [mechanism]
    cell = _lib(tf).AttentionWrapper(_cell(tf), mechanism, **options)
    helper = _lib(tf).TrainingHelper(_memory(tf, time=2, depth=3), [2, 2])
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    outputs, state, lengths = _lib(tf).dynamic_decode(decoder)
    if options.get("alignment_history"):
        histories = state.alignment_history if len(mechanisms) > 1 else [state.alignment_history]
        histories = [history.stack() for history in histories]
        state = state._replace(alignment_history=())
    else:
        histories = []
    result = tf.nest.flatten([outputs, state, lengths, histories])
    if not gradients:
        return result
    gradients = tf.gradients(tf.reduce_sum(outputs.rnn_output), tf.trainable_variables())
    return result + [gradient for gradient in gradients if gradient is not None]


def luong(tf):
    return _attended(tf, _lib(tf).LuongAttention(4, _memory(tf), [3, 2]), attention_layer_size=3)


def luong_scaled(tf):
    memory = _memory(tf, known=False)
    mechanism = _lib(tf).LuongAttention(4, memory, tf.constant([3, 2]), scale=True)
    return _attended(tf, mechanism, alignment_history=True, output_attention=False)


def bahdanau(tf):
    return _attended(tf, _lib(tf).BahdanauAttention(5, _memory(tf)), attention_layer_size=3, alignment_history=True)


def bahdanau_normalized(tf):
    mechanism = _lib(tf).BahdanauAttention(
        5, _memory(tf), tf.constant([2, 3]), normalize=True, probability_fn=_lib(tf).hardmax, score_mask_value=-1e3,
        custom_key_value_fn=lambda keys, values: (keys, values * 2.0), name="mine",
    )  # fmt: skip
    return _attended(tf, mechanism, cell_input_fn=lambda inputs, attention: inputs + attention[:, :3], name="outer")


def several(tf):
    first = _lib(tf).LuongAttention(4, _memory(tf))
    second = _lib(tf).BahdanauAttention(3, _memory(tf, time=2))
    return _attended(tf, [first, second], attention_layer_size=[2, 3], alignment_history=True)


def monotonic(tf):
    mechanism = _lib(tf).BahdanauMonotonicAttention(
        5, _memory(tf), tf.constant([2, 3]), normalize=True, sigmoid_noise=0.5, sigmoid_noise_seed=3,
        score_bias_init=-1.0,
    )  # fmt: skip
    return _attended(tf, mechanism, attention_layer_size=3)


def monotonic_by_the_formula(tf):
    mechanism = _lib(tf).LuongMonotonicAttention(4, _memory(tf), scale=True, mode="recursive")
    return _attended(tf, mechanism, gradients=False)


def monotonic_and_hard(tf):
    mechanism = _lib(tf).LuongMonotonicAttention(4, _memory(tf), mode="hard")
    return _attended(tf, mechanism)


def monotonic_weights(tf):
    chosen = tf.constant([[0.2, 0.7, 1.0], [0.0, 0.5, 0.4]])
    before = tf.constant([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    lib = _lib(tf)
    found = [lib.monotonic_attention(chosen, before, mode) for mode in ("recursive", "parallel", "hard")]
    return [
        *found,
        *tf.gradients(found[1], [chosen, before]),
        lib.safe_cumprod(chosen, axis=1, reverse=True),
        lib.hardmax(chosen),
    ]


def first_states(tf):
    """A cell state that is given, and states that are cloned."""
    cell = _cell(tf)
    first = cell.zero_state(tf.placeholder_with_default(2, []), tf.float32)
    mechanism = _lib(tf).LuongAttention(4, _memory(tf))
    wrapper = _lib(tf).AttentionWrapper(cell, mechanism, initial_cell_state=first)
    state = wrapper.zero_state(2, tf.float32)
    given = tf.nn.rnn_cell.LSTMStateTuple(tf.ones([2, 4]), tf.placeholder_with_default(tf.ones([2, 4]), [None, 4]))
    return tf.nest.flatten([state, state.clone(cell_state=given)])


def layers(tf):
    layer = tf.layers.Dense(3, activation=tf.tanh, name="mine")
    mechanism = _lib(tf).BahdanauAttention(4, _memory(tf), dtype=tf.float32)
    return _attended(tf, mechanism, attention_layer=layer)


def output_layers(tf):
    cell = _cell(tf)
    helper = _lib(tf).TrainingHelper(_memory(tf), [3, 2])
    layer = tf.layers.Dense(5, use_bias=False)
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32), output_layer=layer)
    return tf.nest.flatten(_lib(tf).dynamic_decode(decoder, impute_finished=True))


def beams(tf):
    """Attention in a beam search, with a penalty for what is not covered."""
    lib = _lib(tf)
    memory = lib.tile_batch(_memory(tf, known=False), 2)
    lengths = lib.tile_batch(tf.constant([3, 2]), 2)
    mechanism = lib.LuongAttention(4, memory, lengths)
    cell = lib.AttentionWrapper(_cell(tf), mechanism, attention_layer_size=3, alignment_history=True)
    decoder = lib.BeamSearchDecoder(
        cell, lambda ids: tf.one_hot(ids, 4), tf.constant([0, 1]), 3, cell.zero_state(4, tf.float32), 2,
        output_layer=tf.layers.Dense(4), length_penalty_weight=1.0, coverage_penalty_weight=0.2,
    )  # fmt: skip
    outputs, state, sizes = lib.dynamic_decode(decoder, maximum_iterations=3)
    return tf.nest.flatten([outputs, state, sizes])
