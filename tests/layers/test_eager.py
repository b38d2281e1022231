"""Layers where operations run when they are called."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph
from stillflow.layers.core.layer import Layer


@pytest.fixture(autouse=True)
def new_graph():
    with EagerGraph().as_default() as graph:
        yield graph


class Counted(tf.layers.Layer):
    def build(self, input_shape):
        self.w = self.add_weight("w", input_shape[1:], initializer=tf.ones_initializer(), regularizer=tf.reduce_sum)
        self.count = self.add_weight("count", (), initializer=tf.zeros_initializer(), trainable=False)
        self.built = True

    def call(self, inputs):
        self.add_update(lambda: self.count.assign_add(1.0))
        return inputs * self.w


def test_variables_updates_and_losses():
    layer = Counted()
    y = layer(np.ones((2, 3), np.float32))
    layer(y)
    np.testing.assert_array_equal(y.numpy(), np.ones((2, 3)))
    assert [v.name for v in layer.variables] == ["counted/w:0", "counted/count:0"]
    assert layer.count.numpy() == 2
    assert layer.updates == []
    assert [loss.numpy() for loss in layer.losses] == [3]
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    assert layer.get_weights()[1] == 2
    layer.set_weights([np.full(3, 5.0), np.float32(7.0)])
    assert layer.count.numpy() == 7
    layer.trainable = False
    layer(y)
    assert layer.count.numpy() == 7


def test_gradients_reach_the_weights():
    layer = Counted()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant([[1.0, 2.0]])) ** 2) + layer.losses[0]
    (grad,) = tape.gradient(loss, layer.trainable_variables)
    np.testing.assert_array_equal(grad.numpy(), [3.0, 9.0])


def test_activity_losses_are_those_of_the_last_call():
    layer = Layer(activity_regularizer=tf.reduce_sum)
    layer(tf.ones([2, 3]))
    layer(tf.ones([2, 4]))
    assert [loss.numpy() for loss in layer.losses] == [4]
    with pytest.raises(ValueError, match="Expected a symbolic Tensors or a callable for the loss value"):
        layer.add_loss(tf.constant(1.0))


def test_shapes_of_outputs_are_found_by_a_call():
    class Doubled(Layer):
        def call(self, inputs):
            return tf.concat([inputs, inputs], -1)

    assert Doubled().compute_output_shape((None, 3)).as_list() == [None, 6]


def test_an_optimizer_trains_a_layer():
    layer = Counted()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    for _ in range(3):
        optimizer.minimize(lambda: tf.reduce_sum(layer(tf.ones([1, 2]))))
    np.testing.assert_allclose(layer.w.numpy(), [0.7, 0.7], rtol=1e-6)
