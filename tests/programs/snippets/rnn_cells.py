"""Cells of tf.nn.rnn_cell: one step, variables, options, wrappers."""


def _x(tf, depth=3, batch=2, name="x"):
    numbers = [[0.1 * (i + 1) * (j - 1) for j in range(depth)] for i in range(batch)]
    return tf.constant(numbers, tf.float32, name=name)


def _flat(tf, result):
    return tf.nest.flatten(result)


def _steps(tf, cell, depth=3, count=2):
    """A few steps from the zero state, and the gradients of the last output with respect to all variables."""
    tf.set_random_seed(3)
    x = _x(tf, depth)
    state = cell.zero_state(2, tf.float32)
    output = x
    for _ in range(count):
        output, state = cell(x, state)
    return _flat(tf, (output, state)) + tf.gradients(tf.reduce_sum(output), tf.trainable_variables())


def basic_rnn(tf):
    return _steps(tf, tf.nn.rnn_cell.BasicRNNCell(4))


def basic_rnn_with_relu(tf):
    return _steps(tf, tf.nn.rnn_cell.BasicRNNCell(4, activation=tf.nn.relu, name="mine"))


def basic_rnn_with_a_named_activation(tf):
    return _steps(tf, tf.nn.rnn_cell.BasicRNNCell(4, activation="sigmoid"))


def gru(tf):
    return _steps(tf, tf.nn.rnn_cell.GRUCell(4))


def gru_with_initializers(tf):
    cell = tf.nn.rnn_cell.GRUCell(
        4,
        kernel_initializer=tf.random_uniform_initializer(-1, 1, seed=5),
        bias_initializer=tf.constant_initializer(0.5),
        activation=tf.nn.softsign,
    )
    return _steps(tf, cell)


def basic_lstm(tf):
    return _steps(tf, tf.nn.rnn_cell.BasicLSTMCell(4))


def basic_lstm_of_one_state(tf):
    return _steps(tf, tf.nn.rnn_cell.BasicLSTMCell(4, forget_bias=0.0, state_is_tuple=False))


def lstm(tf):
    return _steps(tf, tf.nn.rnn_cell.LSTMCell(4))


def lstm_of_one_state(tf):
    return _steps(tf, tf.nn.rnn_cell.LSTMCell(4, state_is_tuple=False, num_proj=3, cell_clip=0.3))


def lstm_with_peepholes(tf):
    cell = tf.nn.rnn_cell.LSTMCell(
        4, use_peepholes=True, cell_clip=0.2, forget_bias=0.5, initializer=tf.random_uniform_initializer(-1, 1)
    )
    return _steps(tf, cell)


def lstm_with_a_projection(tf):
    return _steps(tf, tf.nn.rnn_cell.LSTMCell(4, num_proj=3, proj_clip=0.1, activation=tf.nn.relu))


def lstm_in_shards(tf):
    return _steps(tf, tf.nn.rnn_cell.LSTMCell(4, num_proj=4, num_unit_shards=2, num_proj_shards=2))


def lstm_of_doubles(tf):
    cell = tf.nn.rnn_cell.LSTMCell(4, dtype=tf.float64)
    tf.set_random_seed(1)
    return _flat(tf, cell(tf.cast(_x(tf), tf.float64), cell.zero_state(2, tf.float64)))


def several(tf):
    cells = [tf.nn.rnn_cell.BasicLSTMCell(4), tf.nn.rnn_cell.GRUCell(3)]
    return _steps(tf, tf.nn.rnn_cell.MultiRNNCell(cells))


def several_of_one_state(tf):
    cells = [tf.nn.rnn_cell.BasicLSTMCell(4, state_is_tuple=False), tf.nn.rnn_cell.GRUCell(3)]
    return _steps(tf, tf.nn.rnn_cell.MultiRNNCell(cells, state_is_tuple=False))


def scopes(tf):
    """The variables' names follow the scope of the first call."""
    tf.set_random_seed(3)
    x = _x(tf)
    cell = tf.nn.rnn_cell.GRUCell(3)
    with tf.variable_scope("here", initializer=tf.ones_initializer()):
        output, state = cell(x, cell.zero_state(2, tf.float32))
    output, state = cell(output, state, scope="there")
    other = tf.nn.rnn_cell.GRUCell(3, reuse=True, name="gru_cell")
    with tf.variable_scope("here"):
        output, state = other(x, state)
    third = tf.nn.rnn_cell.BasicRNNCell(3)
    with tf.variable_scope("here"):
        return [third(x, state, scope="named")[0], cell(x, state)[0]]


def a_cell_of_ones_own(tf):
    class Cell(tf.nn.rnn_cell.RNNCell):
        @property
        def state_size(self):
            return 3

        @property
        def output_size(self):
            return 3

        def call(self, inputs, state):
            w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
            new = tf.tanh(inputs * w + state)
            return new, new

    cell, x = Cell(), _x(tf)
    state = cell.zero_state(2, tf.float32)
    with tf.variable_scope("outer") as scope:
        _, state = cell(x, state)
        scope.reuse_variables()
        _, state = cell(x, state)
    with tf.variable_scope("other"):
        return [cell(x, state, scope="deep")[0], *(tf.identity(v) for v in cell.trainable_weights)]


def a_cell_of_ones_own_by_call(tf):
    """Programs of 2016 have __call__ and open a scope themselves."""

    class Cell(tf.nn.rnn_cell.RNNCell):
        def __init__(self, size):
            self.size = size

        @property
        def state_size(self):
            return self.size

        @property
        def output_size(self):
            return self.size

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or type(self).__name__):
                w = tf.get_variable("w", [3, self.size], initializer=tf.ones_initializer())
                new = tf.tanh(tf.matmul(inputs, w) + state)
            return new, new

    cell = Cell(2)
    return list(tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 3]), dtype=tf.float32))


def zero_states(tf):
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(2), tf.nn.rnn_cell.BasicRNNCell(3)])
    batch = tf.placeholder_with_default(2, [])
    x = tf.placeholder_with_default(_x(tf), [None, 3])
    return [
        *_flat(tf, cell.zero_state(2, tf.float32)),
        *_flat(tf, cell.zero_state(batch, tf.float64)),
        *_flat(tf, cell.get_initial_state(x)),
        *_flat(tf, cell.get_initial_state(_x(tf))),
        *_flat(tf, cell.get_initial_state(batch_size=1, dtype=tf.float32)),
    ]


# ---- Wrappers -----------------------------------------------------------------------------------------------------


def dropout(tf):
    cell = tf.nn.rnn_cell.BasicLSTMCell(4)
    cell = tf.nn.rnn_cell.DropoutWrapper(cell, input_keep_prob=0.8, output_keep_prob=0.7, state_keep_prob=0.6, seed=7)
    return _steps(tf, cell)


def dropout_without_a_seed(tf):
    tf.set_random_seed(11)
    cells = [
        tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=0.5),
        tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(3), 1.0, 0.5),
    ]
    return _steps(tf, tf.nn.rnn_cell.MultiRNNCell(cells))


def dropout_of_a_placeholder(tf):
    keep = tf.placeholder_with_default(0.5, [])
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), keep, keep, seed=1)
    return _steps(tf, cell)


def variational_dropout(tf):
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.LSTMCell(4), 0.8, 0.5, 0.6, variational_recurrent=True, input_size=3, dtype=tf.float32, seed=2
    )
    return _steps(tf, cell)


def variational_dropout_in_a_loop(tf):
    tf.set_random_seed(1)
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(2), tf.nn.rnn_cell.GRUCell(3)]),
        state_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32,
    )  # fmt: skip
    return _flat(tf, tf.nn.dynamic_rnn(cell, tf.ones([2, 4, 3]), dtype=tf.float32))


def dropout_of_chosen_states(tf):
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(4), tf.nn.rnn_cell.GRUCell(3)])

    def visitor(substate):
        if isinstance(substate, tf.nn.rnn_cell.LSTMStateTuple):
            return tf.nn.rnn_cell.LSTMStateTuple(c=True, h=False)
        return isinstance(substate, tuple)

    cell = tf.nn.rnn_cell.DropoutWrapper(cell, state_keep_prob=0.5, seed=4, dropout_state_filter_visitor=visitor)
    return _steps(tf, cell)


def residual(tf):
    cells = [tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.BasicLSTMCell(3)) for _ in range(2)]
    return _steps(tf, tf.nn.rnn_cell.MultiRNNCell(cells))


def residual_with_a_function(tf):
    cell = tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(4), lambda x, y: tf.concat([x, y], 1))
    return _steps(tf, cell)


def device(tf):
    cell = tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.BasicLSTMCell(4), "/cpu:0")
    return _steps(tf, cell)
