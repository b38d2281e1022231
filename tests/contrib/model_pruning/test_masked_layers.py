"""Layers and cells with masks: their variables, graphs and collections, and what a mask does."""

import numpy as np
import pytest

import stillflow as tf

pruning = tf.contrib.model_pruning


def _names(collection):
    return [variable.op.name for variable in tf.get_collection(collection)]


def test_a_masked_convolution_has_a_mask_and_a_threshold(new_graph):
    images = tf.ones([1, 4, 4, 2])
    outputs = pruning.masked_conv2d(images, 3, [3, 3], scope="conv")
    assert outputs.shape.as_list() == [1, 4, 4, 3]
    assert [v.op.name for v in tf.global_variables()] == [
        "conv/mask",
        "conv/weights",
        "conv/threshold",
        "conv/biases",
    ]
    assert _names("masks") == ["conv/mask"]
    assert _names("thresholds") == ["conv/threshold"]
    assert _names("masked_weights") == ["conv/weights/masked_weight"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.abs(session.run(outputs)).sum() > 0
        session.run(tf.get_collection("masks")[0].assign(tf.zeros([3, 3, 2, 3])))
        assert np.abs(session.run(outputs)).sum() == 0


def test_a_masked_dense_layer_is_dense_with_a_mask_of_ones(new_graph):
    x = tf.constant(np.random.RandomState(0).rand(2, 3, 4).astype(np.float32))
    masked = pruning.masked_fully_connected(x, 5, scope="a", weights_initializer=tf.ones_initializer())
    plain = tf.contrib.layers.fully_connected(x, 5, scope="b", weights_initializer=tf.ones_initializer())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(*session.run([masked, plain]))


@pytest.mark.parametrize("kind", ["MaskedBasicLSTMCell", "MaskedLSTMCell"])
def test_cells_apply_their_mask_at_each_step(kind, new_graph):
    cell = getattr(pruning, kind)(4)
    inputs = [tf.ones([2, 3])] * 3
    outputs, _ = tf.nn.static_rnn(cell, inputs, dtype=tf.float32)
    assert len(tf.get_collection("masks")) == 1
    assert tf.get_collection("masks")[0].shape.as_list() == [7, 16]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.abs(session.run(outputs[-1])).sum() > 0
        session.run(tf.get_collection("masks")[0].assign(tf.zeros([7, 16])))
        assert np.abs(session.run(outputs[-1])).sum() == 0


def test_other_ranks_are_refused(new_graph):
    with pytest.raises(ValueError, match="Sparse Convolution not supported"):
        pruning.masked_convolution(tf.ones([1, 4, 2]), 3, 3)
