"""Optimizers outside the graph: scipy's, and one's own."""

import numpy as np
import pytest

import stillflow as tf

pytest.importorskip("scipy")
ScipyOptimizerInterface = tf.contrib.opt.ScipyOptimizerInterface


def minimized(session, interface, *variables, **options):
    session.run(tf.global_variables_initializer())
    interface.minimize(session, **options)
    return session.run(variables)


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "CG", "SLSQP"])
def test_rosenbrock_is_minimized_where_it_is_zero(method):
    x = tf.Variable([-1.2, 1.0, 0.5], dtype=tf.float64)
    y = tf.Variable(-0.5, dtype=tf.float64)
    v = tf.concat([x, [y]], 0)
    loss = tf.reduce_sum(100.0 * tf.square(v[1:] - tf.square(v[:-1])) + tf.square(1.0 - v[:-1]))
    interface = ScipyOptimizerInterface(loss, method=method, options={"maxiter": 500})
    with tf.Session() as session:
        found_x, found_y = minimized(session, interface, x, y)
    np.testing.assert_allclose([*found_x, found_y], np.ones(4), atol=2e-3)


def test_bounds_and_constraints_hold():
    v = tf.Variable([7.0, 7.0], name="v")
    free = tf.Variable(3.0, name="free")
    loss = tf.reduce_sum(tf.square(v)) + tf.square(free - 1.0)
    bounded = ScipyOptimizerInterface(loss, var_to_bounds={v: ([1.0, -np.inf], np.inf)})
    with tf.Session() as session:
        v_found, free_found = minimized(session, bounded, v, free)
    np.testing.assert_allclose(v_found, [1.0, 0.0], atol=1e-5)
    np.testing.assert_allclose(free_found, 1.0, atol=1e-4)

    constrained = ScipyOptimizerInterface(loss, equalities=[v[1] - 2.0], inequalities=[v[0] - 1.0], method="SLSQP")
    with tf.Session() as session:
        v_found, _ = minimized(session, constrained, v, free)
    np.testing.assert_allclose(v_found, [1.0, 2.0], atol=1e-4)


def test_callbacks_get_steps_and_fetches():
    target = tf.placeholder(tf.float32, [2])
    v = tf.Variable([3.0, 4.0])
    loss = tf.reduce_sum(tf.square(v - target))
    steps, losses = [], []
    interface = ScipyOptimizerInterface(loss, [v])
    with tf.Session() as session:
        (found,) = minimized(
            session, interface, v, feed_dict={target: [1.0, -1.0]}, fetches=[loss, v],
            step_callback=lambda position: steps.append(position.copy()),
            loss_callback=lambda *values: losses.append(values),
        )  # fmt: skip
    np.testing.assert_allclose(found, [1.0, -1.0], atol=1e-5)
    np.testing.assert_allclose(steps[-1], found, atol=1e-6)
    assert len(losses[0]) == 2
    assert losses[0][0] == 29.0


def test_arguments_that_the_interface_sets_itself_are_refused():
    v = tf.Variable([1.0])
    loss = tf.reduce_sum(v * v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="Bounds must be set using the var_to_bounds argument"):
            ScipyOptimizerInterface(loss, bounds=[(0, 1)]).minimize(session)
        with pytest.raises(ValueError, match="'jac' is set automatically and cannot be injected manually"):
            ScipyOptimizerInterface(loss, jac=False).minimize(session)
        with pytest.raises(NotImplementedError, match="subclass from it and implement the _minimize"):
            tf.contrib.opt.ExternalOptimizerInterface(loss).minimize(session)
