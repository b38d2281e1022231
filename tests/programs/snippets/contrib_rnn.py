"""Cells of tf.contrib.rnn, and nets of several layers in both directions."""


def _x(tf, depth=3, batch=2):
    numbers = [[0.1 * (i + 1) * (j - 1) for j in range(depth)] for i in range(batch)]
    return tf.constant(numbers, tf.float32, name="x")


def _steps(tf, cell, depth=3, count=2):
    """A few steps from the zero state, and the gradients of the last output with respect to all variables."""
    tf.set_random_seed(3)
    x = _x(tf, depth)
    state = cell.zero_state(2, tf.float32)
    output = x
    with tf.variable_scope("net") as scope:
        for _ in range(count):
            output, state = cell(x, state)
            scope.reuse_variables()
    gradients = tf.gradients(tf.reduce_sum(output), tf.trainable_variables())
    return tf.nest.flatten((output, state)) + [g for g in gradients if g is not None]


def nas(tf):
    return _steps(tf, tf.contrib.rnn.NASCell(4))


def nas_with_a_projection(tf):
    return _steps(tf, tf.contrib.rnn.NASCell(4, num_proj=3, use_bias=True))


def update_gate(tf):
    return _steps(tf, tf.contrib.rnn.UGRNNCell(4, initializer=tf.ones_initializer()))


def intersection(tf):
    return _steps(tf, tf.contrib.rnn.IntersectionRNNCell(3))


def intersection_with_a_projection(tf):
    return _steps(tf, tf.contrib.rnn.IntersectionRNNCell(4, num_in_proj=4))


def highway(tf):
    return _steps(tf, tf.contrib.rnn.HighwayWrapper(tf.nn.rnn_cell.GRUCell(3)))


def highway_of_two_gates(tf):
    cell = tf.nn.rnn_cell.BasicRNNCell(3)
    return _steps(tf, tf.contrib.rnn.HighwayWrapper(cell, couple_carry_transform_gates=False, carry_bias_init=0.5))


def attention(tf):
    return _steps(tf, tf.contrib.rnn.AttentionCellWrapper(tf.nn.rnn_cell.LSTMCell(4), 3))


def attention_of_one_state(tf):
    cell = tf.contrib.rnn.AttentionCellWrapper(
        tf.nn.rnn_cell.GRUCell(4), 2, attn_size=3, attn_vec_size=2, input_size=5, state_is_tuple=False
    )
    return _steps(tf, cell)


def _inputs(tf):
    numbers = [[[0.1 * (i - t) * (j + 1) for j in range(3)] for t in range(4)] for i in range(2)]
    return tf.constant(numbers, tf.float32)


def stacked(tf):
    tf.set_random_seed(3)
    cells = [[tf.nn.rnn_cell.GRUCell(2) for _ in range(2)] for _ in range(2)]
    result = tf.contrib.rnn.stack_bidirectional_rnn(
        *cells, tf.unstack(_inputs(tf), axis=1), dtype=tf.float32, initial_states_fw=[tf.ones([2, 2])] * 2
    )
    return tf.nest.flatten(result)


def stacked_in_loops(tf):
    tf.set_random_seed(3)
    cells = [[tf.nn.rnn_cell.GRUCell(2) for _ in range(2)] for _ in range(2)]
    result = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        *cells, _inputs(tf), dtype=tf.float32, sequence_length=[4, 2], scope="mine"
    )
    return tf.nest.flatten(result)
