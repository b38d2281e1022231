"""The cells of tf.contrib.rnn whose step, or whole sequence, is one node."""


def _x(tf):
    return tf.constant([[0.1 * (i + 1) * (j - 1) for j in range(3)] for i in range(2)], tf.float32, name="x")


def _steps(tf, cell, count=2):
    """A few steps from the zero state, and the gradients of what they yield with respect to input and variables."""
    tf.set_random_seed(3)
    x = _x(tf)
    state = cell.zero_state(2, tf.float32)
    with tf.variable_scope("net") as scope:
        for _ in range(count):
            output, state = cell(x, state)
            scope.reuse_variables()
    result = tf.nest.flatten((output, state))
    gradients = tf.gradients([tf.reduce_sum(tf.square(each)) for each in result], [x, *tf.trainable_variables()])
    return result + [g for g in gradients if g is not None]


def lstm_cell(tf):
    return _steps(tf, tf.contrib.rnn.LSTMBlockCell(4))


def lstm_cell_with_peepholes(tf):
    return _steps(tf, tf.contrib.rnn.LSTMBlockCell(4, forget_bias=0.5, cell_clip=0.05, use_peephole=True), 3)


def gru_cell(tf):
    return _steps(tf, tf.contrib.rnn.GRUBlockCell(4), 3)


def gru_cell_with_the_names_of_others(tf):
    return _steps(tf, tf.contrib.rnn.GRUBlockCellV2(4))


def _sequence(tf):
    numbers = [[[0.1 * (i - t) * (j + 1) for j in range(3)] for i in range(2)] for t in range(4)]
    return tf.constant(numbers, tf.float32)


def _run(tf, cell, inputs, **options):
    tf.set_random_seed(3)
    result = tf.nest.flatten(cell(inputs, **options))
    gradients = tf.gradients(
        [tf.reduce_sum(tf.square(each)) for each in result], [*tf.nest.flatten(inputs), *tf.trainable_variables()]
    )
    return result + [g for g in gradients if g is not None]


def lstm_of_a_sequence(tf):
    return _run(tf, tf.contrib.rnn.LSTMBlockFusedCell(4), _sequence(tf), dtype=tf.float32)


def lstm_of_sequences_that_end(tf):
    cell = tf.contrib.rnn.LSTMBlockFusedCell(4, use_peephole=True, cell_clip=0.2)
    state = tf.ones([2, 4]) * 0.1, tf.ones([2, 4]) * -0.2
    return _run(tf, cell, _sequence(tf), initial_state=state, sequence_length=[3, 1])


def gru_in_a_loop(tf):
    tf.set_random_seed(3)
    cell = tf.contrib.rnn.GRUBlockCellV2(4)
    return tf.nest.flatten(tf.nn.dynamic_rnn(cell, _sequence(tf), dtype=tf.float32, time_major=True))
