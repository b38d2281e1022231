"""Layers that compute what they were given again: gradients are those of layers that keep it."""

import numpy as np
import pytest

import stillflow as tf


def _layer(x, side=None):
    scale = tf.get_variable("scale", [3], initializer=tf.random_normal_initializer(seed=2))
    return tf.tanh(x * scale) + (0.0 if side is None else tf.reduce_sum(side[0]))


def _results_of_a_block(is_training):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        x1, x2 = (tf.random_normal([4, 3], seed=seed) for seed in (3, 4))
        side = tf.constant([0.25, 0.5])
        ys = tf.contrib.layers.rev_block(
            x1, x2, _layer, _layer, num_layers=3, f_side_input=[side], is_training=is_training
        )
        loss = tf.reduce_sum(ys[0] * ys[1])
        grads = tf.gradients(loss, [x1, x2, side, *tf.trainable_variables()])
        session.run(tf.global_variables_initializer())
        return session.run([*ys, *grads])


def test_gradients_of_reversible_layers_are_the_same_without_what_they_were_given():
    for found, expected in zip(_results_of_a_block(True), _results_of_a_block(False), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_reversible_layers_run_backwards():
    with tf.Graph().as_default(), tf.Session() as session:
        x1, x2 = tf.random_normal([4, 3]), tf.random_normal([4, 3])
        block = tf.contrib.layers.RevBlock(_layer, _layer, num_layers=2)
        given = block.backward(*block.forward(x1, x2))
        assert len(block.trainable_variables) == 4
        session.run(tf.global_variables_initializer())
        found = session.run([x1, x2, *given])
    np.testing.assert_allclose(found[:2], found[2:], rtol=1e-4, atol=1e-5)


def test_a_list_of_functions_has_one_for_each_layer():
    with pytest.raises(AssertionError):
        tf.contrib.layers.RevBlock([_layer], _layer, num_layers=2)


def test_recomputed_functions_use_no_tensors_but_their_arguments():
    with tf.Graph().as_default():
        outer = tf.constant(1.0)
        with pytest.raises(ValueError, match="closes over Tensor Const:0"):
            tf.contrib.layers.recompute_grad(lambda x: x * outer)
        with pytest.raises(ValueError, match="All inputs to function must be Tensors"):
            tf.contrib.layers.recompute_grad(lambda x: x)(1.0)


@pytest.mark.parametrize("options", [{"use_data_dep": True}, {"tupleize_grads": True}])
def test_recomputed_gradients_wait_for_others(options):
    with tf.Graph().as_default(), tf.Session() as session:
        layer = tf.contrib.layers.recompute_grad(_layer, **options)
        x = tf.constant([[0.5, 1.0, -1.0]])
        with tf.variable_scope("kept", use_resource=True):
            kept = tf.gradients(_layer(x), [x, *tf.trainable_variables("kept")])
        with tf.variable_scope("recomputed", use_resource=True):
            result = layer(x)
        recomputed = tf.gradients(result, [x, *tf.trainable_variables("recomputed")])
        session.run(tf.global_variables_initializer())
        session.run([tf.assign(tf.trainable_variables()[1], tf.trainable_variables()[0])])
        found = session.run([kept, recomputed[: len(kept)]])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
