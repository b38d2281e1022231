"""The gradients of If: first, second, nested, imported; a branch with random numbers runs once."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.functions.control_flow_v2 import cond_v2

# x, pred -> y, dy/dx, dy/dw, d2y/dx2 of the program below, by hand.
_E = np.exp(3.0)
_F = np.exp(0.25)
_EXPECTED = {
    (0.5, True): (0.75 * _E, 3 * _E, _E, 6 * _E),
    (0.5, False): (np.sin(0.5) + _F, np.cos(0.5) + _F, 0, -np.sin(0.5) + 3 * _F),
    (-0.5, False): (np.sin(-0.5) - 0.5, np.cos(0.5) + 1, 0, np.sin(0.5)),
}


def _program():
    x, w = tf.placeholder(tf.float32, [], "x"), tf.constant(3.0, name="w")
    pred = tf.placeholder(tf.bool, [], "pred")

    def inner():
        return cond_v2(x > 0.0, lambda: tf.exp(x * x), lambda: x)

    y = cond_v2(pred, lambda: x * x * w * tf.exp(w), lambda: tf.sin(x) + inner())
    return x, w, pred, y


@pytest.mark.parametrize("at", _EXPECTED)
def test_first_and_second_derivatives_go_through_the_branch_that_ran(at):
    with tf.Graph().as_default(), tf.Session() as session:
        x, w, pred, y = _program()
        first = tf.gradients(y, [x, w])
        second = tf.gradients(first[0], x)
        found = session.run([y, *first, *second], {x: at[0], pred: at[1]})
        np.testing.assert_allclose(found, _EXPECTED[at], rtol=1e-6)


def test_an_imported_graph_has_them_too():
    with tf.Graph().as_default() as graph:
        _, _, _, y = _program()
        name = y.name
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph.as_graph_def(), name="")
        x, w, pred, y = (session.graph.get_tensor_by_name(n) for n in ("x:0", "w:0", "pred:0", name))
        found = session.run([y, *tf.gradients(y, [x, w])], {x: -0.5, pred: False})
        np.testing.assert_allclose(found, _EXPECTED[-0.5, False][:3], rtol=1e-6)


def test_the_gradient_reads_what_the_branch_has_drawn():
    with tf.Graph().as_default(), tf.Session() as session:
        x, pred = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.bool, [])
        y = cond_v2(pred, lambda: x * tf.random_uniform([4]), lambda: x)
        (grad,) = tf.gradients(y, x)
        y, grad = session.run([y, grad], {x: [2.0] * 4, pred: True})
        np.testing.assert_array_equal(y, 2 * grad)


def test_an_integer_and_an_input_that_nothing_depends_on_have_none():
    with tf.Graph().as_default():
        x, n = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
        y = cond_v2(n > 0, lambda: x * tf.cast(n, tf.float32), lambda: x)
        assert tf.gradients(y, n) == [None]
        assert y.op.inputs[0].op.type == "StatelessIf"


def test_a_variable_that_one_branch_reads():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        pred = tf.placeholder(tf.bool, [])
        y = cond_v2(pred, lambda: tf.reduce_sum(v * v), lambda: tf.constant(0.0))
        (grad,) = tf.gradients(y, v)
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run(grad, {pred: True}), [2, 4])
        np.testing.assert_array_equal(session.run(grad, {pred: False}), [0, 0])
