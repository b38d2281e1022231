"""The gradients of While: first, second, nested, imported; of variables, lists and what a round has drawn."""

import numpy as np
import pytest
from stillflow.python.framework.function import Defun
from stillflow.python.ops import functional_ops, list_ops

import stillflow as tf
from stillflow.functions.control_flow_v2 import cond_v2


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


@Defun(tf.int32, tf.float32, tf.float32)
def _is_not_done(n, y, w):
    return n > 0


@Defun(tf.int32, tf.float32, tf.float32)
def _times_w(n, y, w):
    return n - 1, y * w, w


def _power(n, x, w):
    """x w^n."""
    return functional_ops.While([n, x, w], _is_not_done, _times_w)[1]


@pytest.mark.parametrize("n", [0, 1, 5])
def test_first_and_second_derivatives(session, n):
    count, x, w = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    y = _power(count, x, w)
    first = tf.gradients(y, [x, w])
    second = tf.gradients(first[1], [x, w])
    found = session.run([y, *first, *second], {count: n, x: 3.0, w: 2.0})
    expected = [
        3 * 2.0**n, 2.0**n, 3 * n * 2.0 ** (n - 1), n * 2.0 ** (n - 1), 3 * n * (n - 1) * 2.0 ** (n - 2),
    ]  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_imported_graph_has_them_too(session):
    with tf.Graph().as_default() as graph:
        x, w = tf.constant(3.0, name="x"), tf.constant(2.0, name="w")
        name = _power(4, x, w).name
    tf.import_graph_def(graph.as_graph_def(), name="")
    x, w, y = (session.graph.get_tensor_by_name(tensor) for tensor in ("x:0", "w:0", name))
    assert session.run(tf.gradients(y, [x, w])) == [16.0, 96.0]


def test_the_node_is_saved_with_its_gradient(session):
    x, w = tf.constant(3.0), tf.constant(2.0)
    (grad,) = tf.gradients(_power(4, x, w), w, name="backward")
    graph_def = session.graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as again:
        (loaded,) = tf.import_graph_def(graph_def, return_elements=[grad.name])
        assert again.run(loaded) == 96.0


def test_two_gradients_of_one_loop(session):
    x, w = tf.constant(3.0), tf.constant(2.0)
    y = _power(4, x, w)
    (of_x,), (of_w,) = tf.gradients(y, x), tf.gradients(y, w)
    assert session.run([y, of_x, of_w]) == [48.0, 16.0, 96.0]


def test_a_run_before_does_not_matter(session):
    x, w = tf.constant(3.0), tf.constant(2.0)
    y = _power(4, x, w)
    assert session.run(y) == 48.0
    assert session.run([y, *tf.gradients(y, w)]) == [48.0, 96.0]


def test_integers_have_none_and_neither_has_what_nothing_depends_on(session):
    n, x, w = tf.constant(4), tf.constant(3.0), tf.constant(2.0)
    outputs = functional_ops.While([n, x, w], _is_not_done, _times_w)
    assert tf.gradients(outputs[1], n) == [None]
    assert tf.gradients(outputs[2], x) == [None]
    assert session.run(tf.gradients(outputs[2], w)) == [1.0]


def test_a_variable_that_is_set_anew_has_zero(session):
    @Defun(tf.int32, tf.float32, tf.float32)
    def body(n, y, w):
        return n - 1, w * w, w

    n, x, w = tf.placeholder(tf.int32, []), tf.constant([3.0, 4.0]), tf.constant([2.0, 1.0])
    y = functional_ops.While([n, x, w], _is_not_done, body)[1]
    grads = tf.gradients(y, [x, w])
    np.testing.assert_array_equal(session.run(grads, {n: 3}), [[0, 0], [4, 2]])
    np.testing.assert_array_equal(session.run(grads, {n: 0}), [[1, 1], [0, 0]])


def test_branches_and_loops_inside(session):
    @Defun(tf.int32, tf.float32, tf.float32)
    def body(n, y, w):
        inner = functional_ops.While([n, y, w], _is_not_done, _times_w)[1]
        return n - 1, cond_v2(y > 4.0, lambda: tf.sin(inner), lambda: inner * y), w

    x, w = tf.placeholder(tf.float64, []), tf.placeholder(tf.float64, [])
    y = functional_ops.While([3, tf.cast(x, tf.float32), tf.cast(w, tf.float32)], _is_not_done, body)[1]
    grads = tf.gradients(y, [x, w])

    def by_hand(x, w):
        for n in (3, 2, 1):
            inner = x * w**n
            x = np.sin(inner) if x > 4 else inner * x
        return x

    for at in ((1.1, 0.9), (5.0, 1.2)):
        found, step = session.run([y, *grads], dict(zip((x, w), at, strict=True))), 1e-6
        expected = [
            by_hand(*at),
            (by_hand(at[0] + step, at[1]) - by_hand(at[0] - step, at[1])) / (2 * step),
            (by_hand(at[0], at[1] + step) - by_hand(at[0], at[1] - step)) / (2 * step),
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_what_a_round_has_drawn_is_read(session):
    @Defun(tf.int32, tf.float32, tf.float32)
    def body(n, y, w):
        return n - 1, y * tf.random_uniform([]), w

    x = tf.constant(2.0)
    y = functional_ops.While([5, x, 1.0], _is_not_done, body)[1]
    y, grad = session.run([y, *tf.gradients(y, x)])
    np.testing.assert_allclose(y, 2 * grad, rtol=1e-6)


def test_lists_are_gone_back_through(session):
    """h <- tanh(h + x_t), the sum of all h: the gradient of each x_t by hand."""

    @Defun(tf.int32, tf.float32, tf.variant, tf.variant)
    def is_not_done(t, h, xs, hs):
        return t < 4

    @Defun(tf.int32, tf.float32, tf.variant, tf.variant)
    def body(t, h, xs, hs):
        h = tf.tanh(h + list_ops.tensor_list_get_item(xs, t, tf.float32, [2]))
        return t + 1, h, xs, list_ops.tensor_list_set_item(hs, t, h)

    x = tf.constant([[0.1, 0.2], [0.3, -0.4], [0.5, 0.6], [-0.7, 0.8]])
    xs = list_ops.tensor_list_from_tensor(x, [2])
    hs = list_ops.tensor_list_reserve([2], 4, tf.float32)
    _, last, _, hs = functional_ops.While([0, tf.zeros([2]), xs, hs], is_not_done, body)
    y = list_ops.tensor_list_stack(hs, tf.float32, element_shape=[2])
    found, of_last, inputs = session.run([*tf.gradients(y, x), *tf.gradients(last, x), x])

    def by_hand(with_all):
        h, states = np.zeros(2), []
        for row in inputs:
            h = np.tanh(h + row)
            states.append(h)
        grads, grad = [], np.zeros(2)
        for t in (3, 2, 1, 0):
            grad = (grad + (1 if with_all or t == 3 else 0)) * (1 - states[t] ** 2)
            grads.append(grad)
        return grads[::-1]

    np.testing.assert_allclose(found, by_hand(True), rtol=1e-5)
    np.testing.assert_allclose(of_last, by_hand(False), rtol=1e-5)
