"""The order of effects inside and outside of branches in functions. Values are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import stillflow as tf


def run(function, at):
    with tf.Graph().as_default():
        v = tf.Variable(np.arange(6.0).reshape(3, 2), use_resource=True)
        result = tf.function(lambda i: function(v, i))(tf.constant([at]))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(result)


def train_on_gathered_rows(v, i):
    with tf.GradientTape() as tape:
        rows = tf.cond(i[0] > 0, lambda: tf.gather(v, i) ** 2, lambda: tf.gather(v, i) + 1)
    gradient = tape.gradient(rows, v)
    tf.train.GradientDescentOptimizer(0.1).apply_gradients([(gradient, v)])
    return tf.gather(v, [0, 1, 2])


@pytest.mark.parametrize(("at", "expected"), [(1, [[0, 1], [1.6, 2.4], [4, 5]]), (0, [[-0.1, 0.9], [2, 3], [4, 5]])])
def test_rows_gathered_in_branches_are_trained(at, expected):
    np.testing.assert_allclose(run(train_on_gathered_rows, at), expected, rtol=1e-12)


def gather_around_an_update(v, i):
    def outer():
        rows = tf.cond(i[0] > 1, lambda: tf.gather(v, i), lambda: v.sparse_read(i) * 2)
        v.assign_add(tf.ones_like(v))
        return rows + tf.gather(v, i)

    return tf.cond(i[0] > 0, outer, lambda: tf.gather(v, i)), v.read_value()


@pytest.mark.parametrize(("at", "rows", "added"), [(0, [0, 1], 0), (1, [7, 10], 1), (2, [9, 11], 1)])
def test_branches_in_branches_are_in_order(at, rows, added):
    found, after = run(gather_around_an_update, at)
    assert found.tolist() == [rows]
    assert after.tolist() == (np.arange(6.0).reshape(3, 2) + added).tolist()


def update_in_one_of_two(v, i):
    def double():
        v.assign(v * 2)
        return tf.gather(v, i)

    first = tf.cond(i[0] > 0, double, lambda: tf.gather(v, i))
    second = tf.cond(i[0] > 1, lambda: tf.gather(v, i), double)
    return first, second, v.read_value()


@pytest.mark.parametrize(
    ("at", "first", "second"), [(0, [0, 1], [0, 2]), (1, [4, 6], [8, 12]), (2, [8, 10], [8, 10])]
)
def test_one_branch_after_another(at, first, second):
    found = run(update_in_one_of_two, at)
    assert [found[0].tolist(), found[1].tolist()] == [[first], [second]]
    assert found[2][at].tolist() == second


def train_through_a_loop_that_fills_an_array(v, i):
    with tf.GradientTape() as tape:
        squares = tf.TensorArray(tf.float64, size=3)
        at = 0
        for row in v.read_value():
            squares = squares.write(at, row * row)
            at += 1  # noqa: SIM113 - a loop that is converted
        total = tf.reduce_sum(squares.stack())
    v.assign_sub(0.25 * tape.gradient(total, v))
    return v.read_value()


def test_gradients_of_loops_come_after_their_effects():
    assert run(train_through_a_loop_that_fills_an_array, 0).tolist() == (np.arange(6.0).reshape(3, 2) / 2).tolist()
