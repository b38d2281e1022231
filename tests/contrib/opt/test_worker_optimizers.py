"""Optimizers of tf.contrib.opt for workers of a cluster: each trains variables of its own."""

import numpy as np
import pytest

import stillflow as tf

_WORKER = "/job:worker/task:0/cpu:0"


def _variables(getter, **options):
    place = tf.train.replica_device_setter(worker_device=_WORKER, ps_device="/job:ps/task:0/cpu:0", ps_tasks=1)
    with tf.variable_scope("", custom_getter=getter), tf.device(place):
        step = tf.train.get_or_create_global_step()
        return step, tf.get_variable("v", initializer=[0.0, 1.0], **options)


def _values_of_steps(optimizer, step, v, center, hook, count):
    """(the worker's variable, the shared one, the global step) after each of `count` steps of gradient -1."""
    train_op = optimizer.apply_gradients([(tf.constant([-1.0, -1.0]), v)], step)
    workers, _ = tf.test.create_local_cluster(1, 1)
    found = []
    with tf.train.MonitoredTrainingSession(workers[0].target, hooks=[hook()]) as session:
        for _ in range(count):
            session.run(train_op)
            found.append(session.run([v, center, step]))
    return found


def _assert_first(found, expected):
    for (v, center, step), (expected_v, expected_center, expected_step) in zip(found, expected, strict=True):
        np.testing.assert_allclose([v[0], center[0]], [expected_v, expected_center], rtol=1e-6)
        assert (v[1], center[1]) == (v[0] + 1, center[0] + 1)
        assert step == expected_step


def test_elastic_averages():
    getter = tf.contrib.opt.ElasticAverageCustomGetter(_WORKER)
    step, v = _variables(getter)
    optimizer = tf.contrib.opt.ElasticAverageOptimizer(
        tf.train.MomentumOptimizer(1.0, 0.5), 1, getter, communication_period=2, moving_rate=0.25
    )
    center = next(each for each in tf.global_variables() if each.op.name == "global_center_variable/v")
    found = _values_of_steps(
        optimizer, step, v, center, lambda: optimizer.make_session_run_hook(is_chief=True, task_index=0), 3
    )
    # Momentum moves by 1, 1.5, 1.75; a quarter of the difference of 2.5 is exchanged after the second step.
    _assert_first(found, [(1.0, 0.0, 0), (1.875, 0.625, 1), (3.625, 0.625, 1)])
    assert "v/Momentum" in {each.op.name for each in tf.local_variables()}
    assert tf.trainable_variables() == [] or tf.trainable_variables() == [v]


def test_saver_of_elastic_averages_has_the_center(tmp_path):
    getter = tf.contrib.opt.ElasticAverageCustomGetter("/cpu:0")
    with tf.variable_scope("", custom_getter=getter):
        tf.get_variable("v", initializer=1.0)
    optimizer = tf.contrib.opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 1, getter)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.global_variables()[0].assign(5.0))
        path = optimizer.swapping_saver().save(session, str(tmp_path / "model"))
    assert tf.train.load_variable(path, "v") == 5.0


def test_model_averages():
    getter = tf.contrib.opt.ModelAverageCustomGetter(_WORKER)
    step, v = _variables(getter)
    optimizer = tf.contrib.opt.ModelAverageOptimizer(
        tf.train.GradientDescentOptimizer(1.0), 1, is_chief=True, ma_custom_getter=getter, interval_steps=2
    )
    center = next(each for each in tf.global_variables() if each.op.name == "global_center_variable/v")
    found = _values_of_steps(optimizer, step, v, center, optimizer.make_session_run_hook, 3)
    _assert_first(found, [(1.0, 0.0, 0), (2.0, 2.0, 1), (3.0, 2.0, 1)])
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.apply_gradients([(tf.constant(1.0), v)])


def test_accumulated_gradients():
    getter = tf.contrib.opt.AGNCustomGetter(_WORKER)
    step, v = _variables(getter)
    optimizer = tf.contrib.opt.AGNOptimizer(tf.train.GradientDescentOptimizer(0.5), 1, getter, communication_period=2)
    center = next(each for each in tf.global_variables() if each.op.name == "global_center_variable/v")
    found = _values_of_steps(
        optimizer, step, v, center, lambda: optimizer.make_session_run_hook(is_chief=True, task_index=0), 3
    )
    # The center follows the mean of two gradients; the worker goes on from there.
    _assert_first(found, [(0.5, 0.0, 0), (0.5, 0.5, 1), (1.0, 0.5, 1)])


@pytest.mark.parametrize(("staleness", "dropped"), [(0, 0), (-1, 1)])
def test_stale_gradients_are_dropped(staleness, dropped):
    step = tf.train.create_global_step()
    v = tf.Variable(3.0)
    optimizer = tf.contrib.opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(1.0), staleness)
    train_op = optimizer.minimize(2 * v, step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(train_op) == dropped
        assert session.run([v, step]) == [3.0 if dropped else 1.0, 1 - dropped]
