"""Loops of cells along sequences: dynamic_rnn, static_rnn, raw_rnn and their kin, with gradients."""


def _inputs(tf, batch=2, time=4, depth=3, known=True):
    numbers = [[[0.1 * (i - t) * (j + 1) for j in range(depth)] for t in range(time)] for i in range(batch)]
    x = tf.constant(numbers, tf.float32, name="x")
    return x if known else tf.placeholder_with_default(x, [None, None, depth])


def _lstm(tf, units=2):
    tf.set_random_seed(7)
    return tf.nn.rnn_cell.BasicLSTMCell(units)


def _gru(tf, units=2):
    tf.set_random_seed(7)
    return tf.nn.rnn_cell.GRUCell(units)


def _all(tf, result, gradients=True):
    flat = tf.nest.flatten(result)
    if not gradients:
        return flat
    loss = tf.add_n([tf.reduce_sum(tf.square(tensor)) for tensor in flat])
    return flat + tf.gradients(loss, tf.trainable_variables())


# ---- dynamic_rnn --------------------------------------------------------------------------------------------------


def dynamic(tf):
    return _all(tf, tf.nn.dynamic_rnn(_lstm(tf), _inputs(tf), dtype=tf.float32))


def dynamic_of_unknown_sizes(tf):
    return _all(tf, tf.nn.dynamic_rnn(_gru(tf), _inputs(tf, known=False), dtype=tf.float32))


def dynamic_with_lengths(tf):
    x = _inputs(tf, known=False)
    return _all(tf, tf.nn.dynamic_rnn(_lstm(tf), x, sequence_length=tf.constant([4, 2]), dtype=tf.float32))


def dynamic_with_lengths_that_are_known(tf):
    return _all(tf, tf.nn.dynamic_rnn(_lstm(tf), _inputs(tf), sequence_length=[3, 1], dtype=tf.float32))


def dynamic_with_long_lengths(tf):
    lengths = tf.placeholder_with_default(tf.constant([0, 2], tf.int64), [None])
    return _all(tf, tf.nn.dynamic_rnn(_gru(tf), _inputs(tf), lengths, dtype=tf.float32), gradients=False)


def dynamic_of_time_major(tf):
    x = tf.transpose(_inputs(tf, known=False), [1, 0, 2])
    return _all(tf, tf.nn.dynamic_rnn(_gru(tf), x, dtype=tf.float32, time_major=True, swap_memory=True))


def dynamic_from_a_state(tf):
    state = tf.nn.rnn_cell.LSTMStateTuple(tf.ones([2, 2]), tf.ones([2, 2]) * 0.5)
    result = tf.nn.dynamic_rnn(_lstm(tf), _inputs(tf), initial_state=state, parallel_iterations=1, scope="mine")
    return _all(tf, result)


def dynamic_of_several_cells(tf):
    tf.set_random_seed(5)
    cells = [tf.nn.rnn_cell.BasicLSTMCell(2), tf.nn.rnn_cell.GRUCell(3)]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    return _all(tf, tf.nn.dynamic_rnn(cell, _inputs(tf), sequence_length=[4, 2], dtype=tf.float32))


def dynamic_with_dropout(tf):
    tf.set_random_seed(9)
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(2), 0.5, 0.5)
    return _all(tf, tf.nn.dynamic_rnn(cell, _inputs(tf), dtype=tf.float32))


def dynamic_of_structures(tf):
    class Cell(tf.nn.rnn_cell.RNNCell):
        @property
        def state_size(self):
            return [3, (2,)]

        @property
        def output_size(self):
            return {"a": 3, "b": tf.TensorShape([2, 2])}

        def call(self, inputs, state):
            one, two = inputs
            output = {"a": one + state[0], "b": tf.stack([two, two], 1)}
            return output, [one * 0.5, (state[1][0] + two,)]

    tf.set_random_seed(2)
    two = _inputs(tf, depth=2)
    result = tf.nn.dynamic_rnn(Cell(), (_inputs(tf), two), dtype=tf.float32)
    return _all(tf, result, gradients=False) + tf.gradients(result[0]["a"], [two])[:0]


def dynamic_twice(tf):
    """The second loop uses the variables of the first."""
    cell = _gru(tf)
    with tf.variable_scope("net") as scope:
        first, _ = tf.nn.dynamic_rnn(cell, _inputs(tf), dtype=tf.float32)
        scope.reuse_variables()
        second, _ = tf.nn.dynamic_rnn(cell, first * 2.0 @ tf.ones([2, 2, 3]), dtype=tf.float32)
    return _all(tf, [first, second])


def dynamic_in_a_loop(tf):
    cell, x = _gru(tf), _inputs(tf)

    def body(i, total):
        outputs, _ = tf.nn.dynamic_rnn(cell, x * total, dtype=tf.float32)
        return i + 1, total + tf.reduce_sum(outputs)

    return list(tf.while_loop(lambda i, _: i < 2, body, [0, tf.constant(1.0)]))


def dynamic_with_resource_variables(tf):
    cell = _lstm(tf)
    with tf.variable_scope("net", use_resource=True):
        return _all(tf, tf.nn.dynamic_rnn(cell, _inputs(tf), dtype=tf.float32))


def dynamic_trained(tf):
    outputs, _ = tf.nn.dynamic_rnn(_lstm(tf), _inputs(tf), dtype=tf.float32)
    loss = tf.reduce_mean(tf.square(outputs[:, -1] - 0.5))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        return [tf.identity(loss)]


def bidirectional(tf):
    tf.set_random_seed(3)
    cells = tf.nn.rnn_cell.LSTMCell(2), tf.nn.rnn_cell.GRUCell(3)
    return _all(tf, tf.nn.bidirectional_dynamic_rnn(*cells, inputs=_inputs(tf), dtype=tf.float32))


def bidirectional_with_lengths(tf):
    tf.set_random_seed(3)
    cells = tf.nn.rnn_cell.LSTMCell(2), tf.nn.rnn_cell.GRUCell(3)
    lengths = tf.placeholder_with_default(tf.constant([4, 2]), [None])
    x = tf.transpose(_inputs(tf, known=False), [1, 0, 2])
    result = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32, time_major=True, scope="both")
    return _all(tf, result)


# ---- Unrolled -----------------------------------------------------------------------------------------------------


def static(tf):
    return _all(tf, tf.nn.static_rnn(_lstm(tf), tf.unstack(_inputs(tf), axis=1), dtype=tf.float32))


def static_of_an_unknown_batch(tf):
    x = tf.placeholder_with_default(_inputs(tf), [None, 4, 3])
    return _all(tf, tf.nn.static_rnn(_gru(tf), tf.unstack(x, axis=1), dtype=tf.float32, scope="mine"))


def static_with_lengths(tf):
    x = tf.unstack(tf.placeholder_with_default(_inputs(tf), [None, 4, 3]), axis=1)
    lengths = tf.placeholder_with_default(tf.constant([3, 2], tf.int64), [None])
    return _all(tf, tf.nn.static_rnn(_lstm(tf), x, dtype=tf.float32, sequence_length=lengths))


def static_from_a_state(tf):
    x = tf.unstack(_inputs(tf), axis=1)
    cell = _gru(tf)
    return _all(tf, tf.nn.static_rnn(cell, x, initial_state=tf.ones([2, 2]), sequence_length=[4, 1]))


def static_bidirectional(tf):
    tf.set_random_seed(3)
    x = tf.unstack(_inputs(tf), axis=1)
    cells = tf.nn.rnn_cell.LSTMCell(2), tf.nn.rnn_cell.LSTMCell(2)
    return _all(tf, tf.nn.static_bidirectional_rnn(*cells, inputs=x, dtype=tf.float32))


def static_bidirectional_with_lengths(tf):
    tf.set_random_seed(3)
    x = tf.unstack(_inputs(tf), axis=1)
    cells = tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.GRUCell(2)
    result = tf.nn.static_bidirectional_rnn(*cells, inputs=x, dtype=tf.float32, sequence_length=[4, 3])
    return _all(tf, result, gradients=False)


class _Saver:
    def __init__(self, tf):
        self.tf = tf
        self.saved = {}

    def state(self, name):
        return self.tf.ones([2, 2], name=f"first_{name}")

    def save_state(self, name, state):
        self.saved[name] = self.tf.identity(state, name=f"saved_{name}")
        return self.saved[name]


def static_with_a_state_saver(tf):
    x = tf.unstack(_inputs(tf), axis=1)
    saver = _Saver(tf)
    first = tf.nn.static_state_saving_rnn(_lstm(tf), x, saver, ("c", "h"))
    second = tf.nn.static_state_saving_rnn(_gru(tf), x, _Saver(tf), "s", sequence_length=[4, 2], scope="second")
    return _all(tf, [first, second, saver.saved], gradients=False)


# ---- raw_rnn ------------------------------------------------------------------------------------------------------


def _feed(tf, x, lengths, emit=None, loop_state=None):
    """A loop_fn that reads x [batch, time, depth]."""
    inputs = tf.TensorArray(tf.float32, size=4).unstack(tf.transpose(x, [1, 0, 2]))

    def loop_fn(time, cell_output, cell_state, state):
        finished = time >= lengths
        next_input = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([2, 3], tf.float32), lambda: inputs.read(time))
        if cell_output is None:
            return finished, next_input, loop_fn.cell.zero_state(2, tf.float32), emit, loop_state
        emitted = cell_output if emit is None else tf.nest.map_structure(lambda _: cell_output[:, :1], emit)
        return finished, next_input, cell_state, emitted, None if state is None else state + 1

    return loop_fn


def raw(tf):
    loop_fn = _feed(tf, _inputs(tf), tf.constant([4, 2]))
    loop_fn.cell = _lstm(tf)

    def without_loop_state(time, output, state, _):
        return loop_fn(time, output, state, None)

    arrays, state, nothing = tf.nn.raw_rnn(loop_fn.cell, without_loop_state)
    assert nothing is None
    return _all(tf, [arrays.stack(), state])


def raw_with_states_and_outputs_of_its_own(tf):
    emit = (tf.zeros([1]), {"a": tf.zeros([1])})
    loop_fn = _feed(tf, _inputs(tf), tf.constant([4, 2]), emit=emit, loop_state=tf.constant([0.5]))
    loop_fn.cell = _gru(tf)
    arrays, state, loop_state = tf.nn.raw_rnn(loop_fn.cell, loop_fn, parallel_iterations=2, scope="mine")
    return [arrays[0].stack(), arrays[1]["a"].stack(), state, loop_state]
