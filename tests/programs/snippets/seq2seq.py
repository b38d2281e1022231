"""tf.contrib.seq2seq: decoders, helpers, losses, beam search."""


def _lib(tf):
    return tf.contrib.seq2seq


def _cell(tf, size=4):
    tf.set_random_seed(5)
    return tf.nn.rnn_cell.BasicLSTMCell(size)


def _inputs(tf, batch=2, time=3, depth=2):
    numbers = [[[0.1 * (i - t) * (j + 1) for j in range(depth)] for t in range(time)] for i in range(batch)]
    return tf.constant(numbers, tf.float32)


def _embedding(tf, symbols=4, size=3):
    return tf.get_variable("embedding", [symbols, size], initializer=tf.random_uniform_initializer(-1, 1, seed=3))


def _flat(tf, result):
    return tf.nest.flatten(result)


def training(tf):
    helper = _lib(tf).TrainingHelper(_inputs(tf), [3, 2])
    cell = _cell(tf)
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    result = _lib(tf).dynamic_decode(decoder)
    loss = tf.reduce_sum(tf.square(result[0].rnn_output))
    return _flat(tf, result) + tf.gradients(loss, tf.trainable_variables())


def training_time_major_and_imputed(tf):
    x = tf.placeholder_with_default(tf.transpose(_inputs(tf), [1, 0, 2]), [None, None, 2])
    helper = _lib(tf).TrainingHelper(x, tf.constant([1, 3]), time_major=True, name="mine")
    cell = tf.nn.rnn_cell.MultiRNNCell([_cell(tf), tf.nn.rnn_cell.GRUCell(3)])
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    result = _lib(tf).dynamic_decode(
        decoder, output_time_major=True, impute_finished=True, maximum_iterations=2, scope="net"
    )
    loss = tf.add_n([tf.reduce_sum(tf.square(state)) for state in _flat(tf, result[1])])
    return _flat(tf, result) + tf.gradients(loss, tf.trainable_variables())


def greedy(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 4)
    helper = _lib(tf).GreedyEmbeddingHelper(_embedding(tf), tf.constant([0, 2]), 3)
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder, maximum_iterations=5))


def greedy_of_a_function(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 4)
    helper = _lib(tf).GreedyEmbeddingHelper(lambda ids: tf.one_hot(ids, 4), [1, 2], tf.constant(0))
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder, maximum_iterations=tf.placeholder_with_default(3, [])))


def sampled(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 4)
    helper = _lib(tf).SampleEmbeddingHelper(_embedding(tf), tf.constant([0, 2]), 3, softmax_temperature=0.5, seed=7)
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder, maximum_iterations=5))


def sampled_without_a_seed(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 4)
    helper = _lib(tf).SampleEmbeddingHelper(_embedding(tf), tf.constant([0, 2]), 3)
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder, maximum_iterations=4))


def scheduled_embedding(tf):
    # In TensorFlow several rounds at once would draw in any order.
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 4)
    helper = _lib(tf).ScheduledEmbeddingTrainingHelper(
        _inputs(tf, depth=3), [3, 2], _embedding(tf), 0.5, seed=3, scheduling_seed=4
    )
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder, parallel_iterations=1))


def scheduled_output(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 2)
    helper = _lib(tf).ScheduledOutputTrainingHelper(_inputs(tf), [3, 2], tf.constant([0.5, 0.9]), seed=3)
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder, parallel_iterations=1))


def scheduled_output_with_more_inputs(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 2)
    helper = _lib(tf).ScheduledOutputTrainingHelper(
        _inputs(tf), [3, 2], 0.7, seed=3, next_inputs_fn=lambda x: x * 2.0, auxiliary_inputs=_inputs(tf, depth=1)
    )
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder, parallel_iterations=1))


def inference(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 2)
    helper = _lib(tf).InferenceHelper(
        sample_fn=tf.tanh,
        sample_shape=[2],
        sample_dtype=tf.float32,
        start_inputs=tf.ones([2, 2]),
        end_fn=lambda ids: tf.reduce_sum(ids, 1) > 1.0,
        next_inputs_fn=lambda ids: ids * 0.5,
    )
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder, maximum_iterations=3))


def custom(tf):
    cell = _cell(tf, 2)
    helper = _lib(tf).CustomHelper(
        initialize_fn=lambda: (tf.constant([False, False]), tf.ones([2, 2])),
        sample_fn=lambda time, outputs, state: tf.cast(tf.argmax(outputs, 1), tf.int32),
        next_inputs_fn=lambda time, outputs, state, sample_ids: (tf.tile([time > 1], [2]), outputs, state),
    )
    decoder = _lib(tf).BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
    return _flat(tf, _lib(tf).dynamic_decode(decoder))


# ---- Beam search --------------------------------------------------------------------------------------------------


def tiled(tf):
    unknown = tf.placeholder_with_default(tf.ones([2, 3]), [None, 3])
    return _flat(tf, _lib(tf).tile_batch({"a": tf.range(3), "b": [unknown, tf.ones([1, 2, 2])]}, 2))


def gathered_tree(tf):
    symbols = tf.constant([[[1, 2, 3]], [[4, 5, 6]], [[7, 8, 9]], [[-1, -1, -1]]])
    parents = tf.constant([[[0, 0, 0]], [[0, 1, 1]], [[2, 1, 2]], [[-1, -1, -1]]])
    return [_lib(tf).gather_tree(symbols, parents, max_sequence_lengths=[3], end_token=10)]


def beams(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 4)
    state = _lib(tf).tile_batch(cell.zero_state(2, tf.float32), 3)
    decoder = _lib(tf).BeamSearchDecoder(cell, _embedding(tf), tf.constant([0, 2]), 3, state, 3)
    return _flat(tf, _lib(tf).dynamic_decode(decoder, maximum_iterations=5))


def beams_with_penalties(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(tf.nn.rnn_cell.MultiRNNCell([_cell(tf), _cell(tf)]), 4)
    tokens = tf.placeholder_with_default(tf.constant([0, 2]), [None])
    state = cell.zero_state(tf.size(tokens) * 2, tf.float32)
    decoder = _lib(tf).BeamSearchDecoder(
        cell, lambda ids: tf.one_hot(ids, 4), tokens, 3, state, 2, length_penalty_weight=0.6
    )
    return _flat(tf, _lib(tf).dynamic_decode(decoder, maximum_iterations=4, output_time_major=True))


# ---- Losses -------------------------------------------------------------------------------------------------------


def losses(tf):
    lib = _lib(tf)
    logits = _inputs(tf, depth=4)
    targets, weights = tf.constant([[0, 1, 2], [3, 2, 1]]), tf.constant([[1.0, 1.0, 0.0], [0.5, 0.0, 0.0]])
    found = [
        lib.sequence_loss(logits, targets, weights),
        lib.sequence_loss(logits, targets, weights, average_across_timesteps=False),
        lib.sequence_loss(logits, targets, weights, average_across_batch=False),
        lib.sequence_loss(logits, targets, weights, False, False, name="mine"),
        lib.sequence_loss(logits, targets, weights, False, False, sum_over_timesteps=True, sum_over_batch=True),
        lib.sequence_loss(logits, targets, weights, False, False, sum_over_batch=True),
        lib.sequence_loss(
            logits, targets, weights, softmax_loss_function=lambda labels, logits: tf.reduce_max(logits, 1)
        ),
    ]
    return [*found, *tf.gradients(found[0], logits)]
