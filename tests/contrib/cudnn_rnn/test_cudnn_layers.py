"""tf.contrib.cudnn_rnn's layers: the same outputs as their cells from the same checkpoint, both ways."""

import numpy as np
import pytest

import stillflow as tf

cudnn = tf.contrib.cudnn_rnn
_LAYERS, _UNITS, _DEPTH, _TIME, _BATCH = 2, 4, 3, 5, 2
_NETS = {
    "CudnnLSTM": lambda: cudnn.CudnnCompatibleLSTMCell(_UNITS),
    "CudnnGRU": lambda: cudnn.CudnnCompatibleGRUCell(_UNITS),
    "CudnnRNNTanh": lambda: tf.nn.rnn_cell.BasicRNNCell(_UNITS, activation=tf.tanh),
    "CudnnRNNRelu": lambda: tf.nn.rnn_cell.BasicRNNCell(_UNITS, activation=tf.nn.relu),
}
_DIRECTIONS = ("unidirectional", "bidirectional")


def _inputs():
    return tf.constant(np.random.RandomState(1).randn(_TIME, _BATCH, _DEPTH), tf.float32)


def _of_layer(name, direction, lengths):
    layer = getattr(cudnn, name)(
        _LAYERS, _UNITS, direction=direction, bias_initializer=tf.random_normal_initializer()
    )
    outputs, states = layer(_inputs(), sequence_lengths=lengths)
    return [outputs, *states]


def _of_cells(name, direction, lengths):
    scope = {"CudnnLSTM": "cudnn_lstm", "CudnnGRU": "cudnn_gru", "CudnnRNNTanh": "cudnn_rnn_tanh"}
    with tf.variable_scope(scope.get(name, "cudnn_rnn_relu")):
        return _of_cells_in_scope(name, direction, lengths)


def _of_cells_in_scope(name, direction, lengths):
    cells = [[_NETS[name]() for _ in range(_LAYERS)] for _ in range(2)]
    if direction == "unidirectional":
        cell = tf.nn.rnn_cell.MultiRNNCell(cells[0])
        outputs, finals = tf.nn.dynamic_rnn(cell, _inputs(), lengths, dtype=tf.float32, time_major=True)
    else:
        outputs, forward, backward = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
            cells[0], cells[1], _inputs(), sequence_length=lengths, dtype=tf.float32, time_major=True
        )
        finals = [final for pair in zip(forward, backward, strict=True) for final in pair]
    if name == "CudnnLSTM":
        return [outputs, tf.stack([final.h for final in finals]), tf.stack([final.c for final in finals])]
    return [outputs, tf.stack(list(finals))]


def _values(make, name, direction, lengths, path, restores):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        results = make(name, direction, lengths)
        gradients = tf.gradients([tf.reduce_sum(results[0] ** 2)], tf.trainable_variables())
        if restores:  # Savers also save the one variable, which a checkpoint of cells does not have.
            tf.train.Saver(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS) or None).restore(session, path)
        else:
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, path)
        assert all(each is not None for each in gradients)
        return session.run(results)


@pytest.mark.parametrize("direction", _DIRECTIONS)
@pytest.mark.parametrize("name", list(_NETS))
def test_layers_and_cells_restore_each_other(name, direction, tmp_path):
    """Time-major inputs, and sequences of different lengths; the second net has the values of the first."""
    for makes, lengths in (((_of_layer, _of_cells), None), ((_of_cells, _of_layer), [5, 3])):
        path = str(tmp_path / makes[0].__name__)
        saved = _values(makes[0], name, direction, lengths, path, False)
        restored = _values(makes[1], name, direction, lengths, path, True)
        for one, other in zip(saved, restored, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("kind", "cells", "count"), [("LSTM", 8, 1), ("GRU", 6, 3), ("Tanh", 2, 1), ("Relu", 2, 1)])
def test_converters_take_back_what_they_gave(kind, cells, count):
    """Matrices come back as they were; of two biases that are added in a cell only the sum does."""
    converter = getattr(cudnn, f"CudnnParamsFormatConverter{kind}")(2, 4, 3, direction="bidirectional")
    weights = cells // 2 * (4 * 3 + 4 * 4) * 2 + cells // 2 * (4 * 8 + 4 * 4) * 2
    size = weights + cells * 4 * 4
    params = np.random.RandomState(2).randn(size).astype(np.float32)
    with tf.Session() as session:
        kernels, biases = converter.opaque_to_tf_canonical(tf.constant(params))
        assert len(kernels) == len(biases) == 4 * count
        back = converter.tf_canonical_to_opaque(kernels + biases)
        again = converter.opaque_to_tf_canonical(back)
        first, vector, second = session.run([kernels + biases, back, again[0] + again[1]])
    np.testing.assert_array_equal(vector[:weights], params[:weights])
    for one, other in zip(first, second, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_names_of_variables_and_of_what_is_saved():
    """The names that TensorFlow 1.15.5 gives: one variable, and a cell's names in checkpoints."""
    with tf.variable_scope("net"):
        layer = cudnn.CudnnLSTM(1, 2)
        layer(tf.zeros([3, 1, 2]))
    assert [variable.name for variable in tf.global_variables()] == ["net/cudnn_lstm/opaque_kernel:0"]
    (saveable,) = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
    assert layer.saveable is saveable
    assert saveable.name == "net/cudnn_lstm/opaque_kernel_saveable"
    prefix = "net/cudnn_lstm/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell/"
    assert [spec.name for spec in saveable.specs] == [prefix + "kernel", prefix + "bias"]


def test_batch_major_inputs_skipped_inputs_and_dropout():
    values = np.random.RandomState(1).randn(_TIME, _BATCH, _UNITS).astype(np.float32)
    layer = cudnn.CudnnGRU(2, _UNITS, input_mode="auto_select", dropout=0.5, seed=3)
    dropped, _ = layer(values, training=True)
    outputs, (state,) = layer(values, training=False)
    initial = (tf.zeros([_BATCH, 2, _UNITS]),)
    other, (other_state,) = layer(values.transpose(1, 0, 2), initial, time_major=False, training=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dropped, outputs, state, other, other_state = session.run([dropped, outputs, state, other, other_state])
    assert not np.allclose(dropped, outputs)
    np.testing.assert_array_equal(outputs, other.transpose(1, 0, 2))
    np.testing.assert_array_equal(state, other_state.transpose(1, 0, 2))
    np.testing.assert_array_equal(outputs[-1], state[-1])


def test_what_is_refused():
    with pytest.raises(ValueError, match="Invalid direction: up, expecting unidirectional or bidirectional"):
        cudnn.CudnnGRU(1, 2, direction="up")
    with pytest.raises(ValueError, match="Invalid input_mode: no, expect one of"):
        cudnn.CudnnGRU(1, 2, input_mode="no")
    with pytest.raises(ValueError, match="Only support float16, float32, float64, provided <dtype: 'int32'>"):
        cudnn.CudnnGRU(1, 2, dtype=tf.int32)
    layer = cudnn.CudnnGRU(1, 2)
    with pytest.raises(ValueError, match="'input_size' is unknown since layer has not been built."):
        _ = layer.input_size
    with pytest.raises(ValueError, match="Expecting input_shape with 3 dims, got 2"):
        layer.build([3, 2])
    with pytest.raises(ValueError, match="needs inputs of size 2, got 3"):
        cudnn.CudnnGRU(1, 2, input_mode="skip_input").build([None, None, 3])
    with pytest.raises(TypeError, match="Invalid initial_state type"):
        cudnn.CudnnGRU(1, 2)(tf.zeros([1, 1, 2]), initial_state=[tf.zeros([1, 1, 2])])
