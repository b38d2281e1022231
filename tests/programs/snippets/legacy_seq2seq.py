"""tf.contrib.legacy_seq2seq: decoders, models and losses over lists."""


def _lib(tf):
    return tf.contrib.legacy_seq2seq


def _ids(tf, *columns):
    return [tf.constant(column, tf.int32) for column in columns]


def _inputs(tf):
    return _ids(tf, [1, 2], [3, 0], [2, 2]), _ids(tf, [0, 3], [1, 1])


def _cell(tf, size=2):
    tf.set_random_seed(5)
    return tf.nn.rnn_cell.GRUCell(size)


def _all(tf, result):
    flat = tf.nest.flatten(result)
    loss = tf.add_n([tf.reduce_sum(tf.square(tensor)) for tensor in flat])
    return flat + [g for g in tf.gradients(loss, tf.trainable_variables()) if isinstance(g, tf.Tensor)]


def rnn_decoder(tf):
    inputs = [tf.ones([2, 3]), tf.ones([2, 3]) * 0.5]
    plain = _lib(tf).rnn_decoder(inputs, tf.zeros([2, 3]), _cell(tf, 3))
    fed = _lib(tf).rnn_decoder(
        inputs, tf.zeros([2, 3]), _cell(tf, 3), loop_function=lambda prev, i: prev * i, scope="fed"
    )
    return _all(tf, [plain, fed])


def basic(tf):
    inputs = [tf.ones([2, 3]), tf.ones([2, 3]) * 0.5]
    cell = tf.nn.rnn_cell.MultiRNNCell([_cell(tf), tf.nn.rnn_cell.BasicLSTMCell(2)])
    return _all(tf, _lib(tf).basic_rnn_seq2seq(inputs, inputs[:1], cell))


def tied(tf):
    inputs = [tf.ones([2, 2]), tf.ones([2, 2]) * 0.5]
    return _all(tf, _lib(tf).tied_rnn_seq2seq(inputs, inputs, _cell(tf), loop_function=lambda prev, _: prev))


def embedding_decoder_that_feeds_itself(tf):
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), 4, activation=tf.tanh)
    _, decoder = _inputs(tf)
    result = _lib(tf).embedding_rnn_decoder(decoder, tf.ones([2, 2]), cell, 4, 3, feed_previous=True)
    return _all(tf, result)


def embedding_decoder_with_a_projection(tf):
    w, b = tf.get_variable("w", [2, 4], initializer=tf.ones_initializer()), tf.zeros([4])
    _, decoder = _inputs(tf)
    result = _lib(tf).embedding_rnn_decoder(
        decoder, tf.ones([2, 2]), _cell(tf), 4, 3, output_projection=(w, b), feed_previous=True,
        update_embedding_for_previous=False,
    )  # fmt: skip
    return _all(tf, result)


def embedding(tf):
    return _all(tf, _lib(tf).embedding_rnn_seq2seq(*_inputs(tf), _cell(tf), 4, 5, 3))


def embedding_that_may_feed_itself(tf):
    tf.set_random_seed(5)
    feeds = tf.placeholder_with_default(True, [])
    cell = tf.nn.rnn_cell.BasicLSTMCell(2)
    return _all(tf, _lib(tf).embedding_rnn_seq2seq(*_inputs(tf), cell, 4, 5, 3, feed_previous=feeds))


def embedding_tied(tf):
    first = _lib(tf).embedding_tied_rnn_seq2seq(*_inputs(tf), _cell(tf), 4, 3)
    second = _lib(tf).embedding_tied_rnn_seq2seq(
        *_inputs(tf), _cell(tf), 4, 3, num_decoder_symbols=3, feed_previous=tf.constant(False), scope="second"
    )
    return _all(tf, [first, second])


def one_to_many(tf):
    encoder, decoder = _inputs(tf)
    result = _lib(tf).one2many_rnn_seq2seq(
        encoder, {"a": decoder}, _cell(tf), {"a": _cell(tf)}, 4, {"a": 5}, 3, feed_previous=True
    )
    return _all(tf, result)


def attention_decoder(tf):
    inputs = [tf.ones([2, 3]), tf.ones([2, 3]) * 0.5]
    states = tf.reshape(tf.range(16.0), [2, 2, 4]) * 0.1
    result = _lib(tf).attention_decoder(inputs, tf.ones([2, 2]), states, _cell(tf), output_size=3, num_heads=2)
    return _all(tf, result)


def attention_from_the_first_state(tf):
    inputs = [tf.ones([2, 3]), tf.ones([2, 3]) * 0.5]
    states = tf.placeholder_with_default(tf.ones([2, 2, 4]), [None, None, 4])
    tf.set_random_seed(5)
    cell = tf.nn.rnn_cell.BasicLSTMCell(2)
    result = _lib(tf).attention_decoder(
        inputs, cell.zero_state(2, tf.float32), states, cell, initial_state_attention=True, scope="mine"
    )
    return _all(tf, result)


def embedding_attention(tf):
    return _all(tf, _lib(tf).embedding_attention_seq2seq(*_inputs(tf), _cell(tf), 4, 5, 3))


def embedding_attention_that_may_feed_itself(tf):
    feeds = tf.placeholder_with_default(True, [])
    w, b = tf.get_variable("w", [2, 5], initializer=tf.ones_initializer()), tf.zeros([5])
    cell = tf.nn.rnn_cell.MultiRNNCell([_cell(tf), tf.nn.rnn_cell.BasicLSTMCell(2)])
    result = _lib(tf).embedding_attention_seq2seq(
        *_inputs(tf), cell, 4, 5, 3, output_projection=(w, b), feed_previous=feeds
    )
    return _all(tf, result)


def losses(tf):
    lib = _lib(tf)
    logits = [tf.constant([[0.5, 1.0], [2.0, -1.0]]), tf.constant([[0.0, 1.0], [0.3, 0.3]])]
    targets, weights = _ids(tf, [0, 1], [1, 1]), [tf.constant([1.0, 0.0]), tf.constant([0.5, 2.0])]

    def squares(labels, logits):
        return tf.reduce_sum(tf.square(logits), 1) * tf.to_float(labels)

    return [
        lib.sequence_loss_by_example(logits, targets, weights),
        lib.sequence_loss_by_example(logits, targets, weights, average_across_timesteps=False),
        lib.sequence_loss(logits, targets, weights, softmax_loss_function=squares),
        lib.sequence_loss(logits, targets, weights, average_across_batch=False, name="mine"),
        *tf.gradients(lib.sequence_loss(logits, targets, weights), logits),
    ]


def buckets(tf):
    encoder, decoder = _inputs(tf)
    weights = [tf.ones([2])] * 2

    def seq2seq(x, y):
        return _lib(tf).embedding_rnn_seq2seq(x, y, _cell(tf), 4, 5, 3)

    first = _lib(tf).model_with_buckets(encoder, decoder, decoder, weights, [(1, 1), (3, 2)], seq2seq)
    return tf.nest.flatten(first)


def projections(tf):
    tf.set_random_seed(5)
    cell = tf.contrib.rnn.InputProjectionWrapper(_cell(tf), 3, activation=tf.nn.relu)
    cell = tf.contrib.rnn.OutputProjectionWrapper(cell, 4)
    cell = tf.contrib.rnn.EmbeddingWrapper(cell, 5, 2)
    result = tf.nn.static_rnn(cell, _ids(tf, [[1], [2]], [[3], [4]]), dtype=tf.float32)
    return _all(tf, result)
