"""The LSTMs of tf.contrib.rnn: normalized, coupled, phased, over images, of groups, along frequencies."""

import importlib

from programs.snippets.contrib_rnn import _steps, _x


def layer_norm_basic(tf):
    return _steps(tf, tf.contrib.rnn.LayerNormBasicLSTMCell(4, norm_gain=0.9, norm_shift=0.1))


def layer_norm_basic_with_dropout(tf):
    cell = tf.contrib.rnn.LayerNormBasicLSTMCell(4, layer_norm=False, dropout_keep_prob=0.5, dropout_prob_seed=7)
    return _steps(tf, cell)


def coupled(tf):
    return _steps(tf, tf.contrib.rnn.CoupledInputForgetGateLSTMCell(4, use_peepholes=True, num_unit_shards=3))


def coupled_with_all_options(tf):
    cell = tf.contrib.rnn.CoupledInputForgetGateLSTMCell(
        4, True, num_proj=3, proj_clip=0.1, num_proj_shards=2, state_is_tuple=False, layer_norm=True
    )
    return _steps(tf, cell)


def groups(tf):
    return _steps(tf, tf.contrib.rnn.GLSTMCell(4, number_of_groups=2), depth=6)


def groups_with_a_projection(tf):
    cell = tf.contrib.rnn.GLSTMCell(6, initializer=tf.ones_initializer(), num_proj=3, number_of_groups=3)
    return _steps(tf, cell)


def independent(tf):
    return _steps(tf, tf.contrib.rnn.IndRNNCell(4))


def independent_gru(tf):
    return _steps(tf, tf.contrib.rnn.IndyGRUCell(4, kernel_initializer=tf.ones_initializer()))


def independent_lstm(tf):
    return _steps(tf, tf.contrib.rnn.IndyLSTMCell(4, forget_bias=0.5, activation=tf.nn.relu))


def simple(tf):
    return _steps(tf, tf.contrib.rnn.SRUCell(3))


def phased(tf):
    tf.set_random_seed(5)
    cell = tf.contrib.rnn.PhasedLSTMCell(4, use_peepholes=True, period_init_min=2.0, period_init_max=9.0)
    state = cell.zero_state(2, tf.float32)
    for time in (1.5, 4.0):
        output, state = cell((tf.constant([[time], [2 * time]], tf.float64), _x(tf)), state)
        tf.get_variable_scope().reuse_variables()
    gradients = tf.gradients(tf.reduce_sum(output), tf.trainable_variables())
    return [output] + list(state) + gradients


def _images(tf, cell, *sizes):
    tf.set_random_seed(5)
    count = 1
    for size in sizes:
        count *= size
    images = tf.reshape(tf.range(count) * 7 % 13, sizes)
    images = tf.cast(images, tf.float32) / 13
    state = cell.zero_state(sizes[0], tf.float32)
    for _ in range(2):
        output, state = cell(images, state)
        tf.get_variable_scope().reuse_variables()
    return [output] + list(state) + tf.gradients(tf.reduce_sum(output), tf.trainable_variables())


def lines(tf):
    return _images(
        tf, tf.contrib.rnn.Conv1DLSTMCell(input_shape=[5, 2], output_channels=3, kernel_shape=[3]), 2, 5, 2
    )


def images(tf):
    cell = tf.contrib.rnn.Conv2DLSTMCell(
        input_shape=[4, 5, 2], output_channels=3, kernel_shape=[3, 2], use_bias=False, forget_bias=0.5
    )
    return _images(tf, cell, 2, 4, 5, 2)


def volumes(tf):
    cell = tf.contrib.rnn.Conv3DLSTMCell(input_shape=[3, 4, 5, 1], output_channels=2, kernel_shape=[1, 3, 2])
    return _images(tf, cell, 1, 3, 4, 5, 1)


def images_with_a_skip_connection(tf):
    tf.set_random_seed(5)
    cell = tf.contrib.rnn.ConvLSTMCell(
        2, input_shape=[3, 3, 2], output_channels=3, kernel_shape=[2, 2], skip_connection=True
    )
    output, state = cell(tf.ones([1, 3, 3, 2]), cell.zero_state(1, tf.float32))
    assert cell.output_size == tf.TensorShape([3, 3, 5])
    return [output] + list(state)


def frequencies(tf):
    tf.set_random_seed(5)
    cell = tf.contrib.rnn.TimeFreqLSTMCell(
        3, use_peepholes=True, cell_clip=0.2, num_unit_shards=2, feature_size=2, frequency_skip=2
    )
    output, state = cell(_x(tf, 6), tf.ones([2, 18]) * 0.1)
    return [output, state] + tf.gradients(tf.reduce_sum(output), tf.trainable_variables())


def _grid(tf, make, depth=6, **kwargs):
    tf.set_random_seed(5)
    cell = make(3, feature_size=2, **kwargs)
    state = cell.zero_state(2, tf.float32)
    for _ in range(2):
        output, state = cell(_x(tf, depth), state)
        tf.get_variable_scope().reuse_variables()
    gradients = tf.gradients(tf.reduce_sum(output), tf.trainable_variables())
    parts = list(state) if isinstance(state, tuple) else [state]
    return [output] + parts + [g for g in gradients if g is not None]


def grid(tf):
    return _grid(tf, tf.contrib.rnn.GridLSTMCell, frequency_skip=2, num_frequency_blocks=[3], use_peepholes=True)


def grid_with_shared_weights(tf):
    return _grid(
        tf, tf.contrib.rnn.GridLSTMCell, frequency_skip=2, num_frequency_blocks=[3], cell_clip=0.1,
        use_peepholes=True, share_time_frequency_weights=True, state_is_tuple=False,
    )  # fmt: skip


def coupled_grid_of_blocks(tf):
    return _grid(
        tf, tf.contrib.rnn.GridLSTMCell, frequency_skip=1, num_frequency_blocks=[1, 2], start_freqindex_list=[0, 2],
        end_freqindex_list=[2, 5], couple_input_forget_gates=True, num_unit_shards=2, use_peepholes=True,
    )  # fmt: skip


def grid_in_both_directions(tf):
    return _grid(
        tf, tf.contrib.rnn.BidirectionalGridLSTMCell, frequency_skip=2, num_frequency_blocks=[3],
        backward_slice_offset=1,
    )  # fmt: skip


def grid_in_both_directions_moved_back(tf):
    return _grid(
        tf, tf.contrib.rnn.BidirectionalGridLSTMCell, frequency_skip=2, num_frequency_blocks=[3],
        backward_slice_offset=-1, use_peepholes=True,
    )  # fmt: skip


def _sequence(tf):
    return tf.stack([_x(tf) * float(i + 1) for i in range(3)])


def adapted(tf):
    tf.set_random_seed(5)
    cell = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.BasicRNNCell(4))
    outputs, state = cell(_sequence(tf), dtype=tf.float32, sequence_length=[3, 2], scope="net")
    return [outputs, state]


def adapted_to_lists(tf):
    tf.set_random_seed(5)
    cell = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.BasicRNNCell(4), use_dynamic_rnn=True)
    outputs, state = tf.contrib.rnn.TimeReversedFusedRNN(cell)(tf.unstack(_sequence(tf)), dtype=tf.float32)
    return outputs + [state]


def reversed_time(tf):
    tf.set_random_seed(5)
    cell = tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(4))
    outputs, state = cell(_sequence(tf), dtype=tf.float32, sequence_length=[3, 2])
    whole, _ = cell(_sequence(tf), initial_state=state)
    return [outputs] + list(state) + [whole]


def compiled(tf):
    cell = tf.contrib.rnn.CompiledWrapper(tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(3), 0.5, seed=3))
    return _steps(tf, cell)


def compiled_apart(tf):
    x = _x(tf)
    with tf.contrib.compiler.jit.experimental_jit_scope(separate_compiled_gradients=True):
        y = tf.square(x)
    with tf.contrib.compiler.jit.experimental_jit_scope(compile_ops=False):
        y = tf.tanh(y)
    return tf.gradients(y, x)


def compiled_with_all_nodes(tf):
    return _steps(tf, tf.contrib.rnn.CompiledWrapper(tf.nn.rnn_cell.BasicRNNCell(3), compile_stateful=True))


def _inner(tf, name):
    """A cell that TensorFlow keeps in its inner module."""
    tf.contrib.rnn  # noqa: B018  TensorFlow loads it when it is asked for
    return getattr(importlib.import_module(f"{tf.__name__}.contrib.rnn.python.ops.rnn_cell"), name)


def layer_norm(tf):
    return _steps(tf, _inner(tf, "LayerNormLSTMCell")(4, True, 0.3, num_proj=3, proj_clip=0.2, layer_norm=True))


def layer_norm_without_any(tf):
    return _steps(tf, _inner(tf, "LayerNormLSTMCell")(4))


def weight_norm(tf):
    return _steps(tf, _inner(tf, "WeightNormLSTMCell")(4, use_peepholes=True, num_proj=3, cell_clip=0.5))


def weight_norm_without_any(tf):
    return _steps(tf, _inner(tf, "WeightNormLSTMCell")(4, norm=False))


def minimal(tf):
    return _steps(tf, _inner(tf, "MinimalRNNCell")(4))


def chaos_free(tf):
    return _steps(tf, _inner(tf, "CFNCell")(4, activation="relu", bias_initializer="zeros"))
