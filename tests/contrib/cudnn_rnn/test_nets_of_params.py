"""The nets of cudnn_rnn_ops: the layers' outputs from the layers' parameters."""

import numpy as np
import pytest

import stillflow as tf

cudnn_rnn_ops = tf.contrib.cudnn_rnn.python.ops.cudnn_rnn_ops
_LAYERS, _UNITS, _DEPTH, _TIME, _BATCH = 2, 3, 4, 5, 2


@pytest.mark.parametrize("time_major", [True, False])
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
@pytest.mark.parametrize("name", ["CudnnLSTM", "CudnnGRU", "CudnnRNNTanh", "CudnnRNNRelu"])
def test_outputs_are_those_of_the_layer(name, direction, time_major):
    inputs = np.random.RandomState(1).randn(_TIME, _BATCH, _DEPTH).astype(np.float32)
    layer = getattr(tf.contrib.cudnn_rnn, name)(_LAYERS, _UNITS, direction=direction)
    shapes = layer.state_shape(_BATCH)
    states = [np.random.RandomState(i).randn(*shape).astype(np.float32) for i, shape in enumerate(shapes)]
    expected, ends = layer(inputs, tuple(map(tf.constant, states)))
    net = getattr(cudnn_rnn_ops, name)(_LAYERS, _UNITS, _DEPTH, direction=direction)

    def turned(value):
        return value if time_major else np.transpose(value, (1, 0, 2))

    outputs = net(turned(inputs), *map(turned, states), params=layer.kernel, time_major=time_major)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected, ends, outputs, size, kernel = session.run(
            [expected, ends, outputs, net.params_size(), layer.kernel]
        )
    for value, wanted in zip(outputs, [expected, *ends], strict=True):
        np.testing.assert_array_equal(turned(value), wanted)
    assert size == kernel.size


def test_parameters_fall_into_parts_and_come_together_again():
    net = cudnn_rnn_ops.CudnnGRU(1, _UNITS, _DEPTH)
    with tf.Session() as session:
        params = np.arange(session.run(net.params_size()), dtype=np.float32)
        weights, biases = net.params_to_canonical(params)
        assert [len(weights), len(biases)] == [cudnn_rnn_ops.CUDNN_GRU_PARAMS_PER_LAYER] * 2
        np.testing.assert_array_equal(session.run(net.canonical_to_params(weights, biases)), params)


def test_directions_are_checked():
    with pytest.raises(ValueError, match="Invalid direction: sideways"):
        cudnn_rnn_ops.CudnnLSTM(1, 2, 3, direction="sideways")
    assert cudnn_rnn_ops.CUDNN_RNN_BIDIRECTION == "bidirectional"
