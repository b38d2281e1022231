"""Cells of tf.contrib.grid_rnn, those that go with tf.contrib.cudnn_rnn, and losses of replicas."""


def _steps(tf, cell, depth=3, count=2):
    """A few steps from the zero state, and the gradients of the last output with respect to all variables."""
    tf.set_random_seed(3)
    x = tf.constant([[0.1 * (i + 1) * (j - 1) for j in range(depth)] for i in range(2)], tf.float32, name="x")
    state = cell.zero_state(2, tf.float32)
    with tf.variable_scope("net", initializer=tf.truncated_normal_initializer(stddev=0.5, seed=5)) as scope:
        for _ in range(count):
            output, state = cell(x, state)
            scope.reuse_variables()
    gradients = tf.gradients(tf.add_n([tf.reduce_sum(each) for each in tf.nest.flatten(output)]),
                             tf.trainable_variables())  # fmt: skip
    return tf.nest.flatten((output, state)) + [each for each in gradients if each is not None]


def one_dimension(tf):
    return _steps(tf, tf.contrib.grid_rnn.Grid1LSTMCell(4, use_peepholes=True))


def one_dimension_side_by_side(tf):
    return _steps(tf, tf.contrib.grid_rnn.Grid1BasicLSTMCell(4, state_is_tuple=False, output_is_tuple=False))


def basic_lstms_of_one_dimension(tf):
    return _steps(tf, tf.contrib.grid_rnn.Grid1BasicLSTMCell(4, forget_bias=0.5))


def two_dimensions(tf):
    return _steps(tf, tf.contrib.grid_rnn.Grid2LSTMCell(4))


def two_tied_dimensions(tf):
    return _steps(tf, tf.contrib.grid_rnn.Grid2BasicLSTMCell(4, tied=True))


def a_layer_in_two_dimensions(tf):
    return _steps(tf, tf.contrib.grid_rnn.Grid2BasicRNNCell(4, non_recurrent_fn=tf.nn.tanh))


def two_dimensions_of_gru(tf):
    return _steps(tf, tf.contrib.grid_rnn.Grid2GRUCell(4, tied=True))


def three_dimensions_with_a_layer(tf):
    return _steps(tf, tf.contrib.grid_rnn.Grid3LSTMCell(3, non_recurrent_fn=tf.nn.relu))


def dimensions_of_all_kinds(tf):
    cell = tf.contrib.grid_rnn.GridRNNCell(
        3, num_dims=4, input_dims=[0, 2], output_dims=[1, 3], priority_dims=1, non_recurrent_dims=[0, 2]
    )
    return _steps(tf, cell, depth=4)


def grid_in_a_loop(tf):
    tf.set_random_seed(3)
    x = tf.constant([[[0.1 * i * t] * 3 for t in range(4)] for i in range(2)], tf.float32)
    cell = tf.contrib.grid_rnn.Grid2LSTMCell(3, output_is_tuple=False)
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
    return [outputs, *tf.nest.flatten(state)]


def cudnn_compatible_lstm(tf):
    return _steps(tf, tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4))


def cudnn_compatible_gru(tf):
    return _steps(tf, tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4))


def average_losses(tf):
    losses = tf.constant([[1.0, 2.0], [3.0, 4.5]], tf.float64)
    unknown = tf.placeholder_with_default(tf.constant([1.0, 2.0, 5.0]), None)
    return [
        tf.nn.compute_average_loss(losses),
        tf.nn.compute_average_loss(losses, sample_weight=[0.5, 2.0], global_batch_size=8),
        tf.nn.compute_average_loss(losses, sample_weight=tf.constant([[1], [3]])),
        tf.nn.compute_average_loss(unknown),
        tf.nn.scale_regularization_loss([tf.nn.l2_loss([3.0, 4.0]), 2.0]),
    ]
