"""tf.train.SyncReplicasOptimizer: steps of several replicas, and what is refused."""

import threading

import numpy as np
import pytest

import stillflow as tf

# The chief's thread is still waiting for gradients when its session closes, and then says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.fixture(autouse=True)
def _threads_end_with_their_test():
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(60)


def model(replicas, backups=0):
    step = tf.train.get_or_create_global_step()
    x = tf.get_variable("x", initializer=[1.0, -2.0])
    target = tf.placeholder_with_default([0.0, 0.0], [2])
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(0.25), replicas, total_num_replicas=replicas + backups
    )
    train = optimizer.minimize(tf.reduce_sum(tf.square(x - target)), global_step=step)
    return x, step, target, optimizer, train


def test_one_replica_trains_as_its_optimizer_does():
    server = tf.train.Server.create_local_server()
    x, step, _, optimizer, train = model(1)
    hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=0)
    with tf.train.MonitoredTrainingSession(
        server.target, is_chief=True, hooks=[hook], stop_grace_period_secs=0.1
    ) as session:
        for _ in range(3):
            session.run(train)
        assert session.run(step) == 3
        np.testing.assert_array_equal(session.run(x), [0.125, -0.25])


def test_a_step_takes_the_mean_of_all_replicas():
    target = tf.train.Server.create_local_server().target
    x, _, wanted, optimizer, train = model(2)
    hooks = [optimizer.make_session_run_hook(is_chief, num_tokens=0) for is_chief in (True, False)]
    is_ready = threading.Event()
    seen = []

    def work(is_chief, target_value):
        with (
            x.graph.as_default(),
            tf.train.MonitoredTrainingSession(
                target, is_chief=is_chief, hooks=[hooks[not is_chief]], stop_grace_period_secs=0.1
            ) as session,
        ):
            is_ready.set()
            session.run(train, {wanted: target_value})
            seen.append(session.run(x))

    chief = threading.Thread(target=work, args=(True, [4.0, 0.0]))
    chief.start()
    assert is_ready.wait(60)  # a worker that comes too early looks again only half a minute later
    work(False, [0.0, 8.0])
    chief.join()
    # x - 0.25 * mean(2 (x - target))
    np.testing.assert_array_equal(seen, [[1.5, 1.0]] * 2)


def test_what_is_refused():
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), 4, total_num_replicas=2)
    with pytest.raises(ValueError, match="Must supply at least one variable"):
        optimizer.apply_gradients([])
    x = tf.get_variable("x", initializer=[1.0, -2.0])
    with pytest.raises(ValueError, match="Global step is required to check staleness"):
        optimizer.minimize(tf.reduce_sum(x))
    with pytest.raises(ValueError, match="Should be called after"):
        optimizer.get_chief_queue_runner()
    with pytest.raises(ValueError, match="should be called after"):
        optimizer.get_init_tokens_op()
    with pytest.raises(ValueError, match="should be called before using the hook"):
        optimizer.make_session_run_hook(True).begin()
    optimizer.minimize(tf.reduce_sum(x), global_step=tf.train.get_or_create_global_step())
    with pytest.raises(ValueError, match=r"Too few tokens to finish the first step: 1 \(given\) vs 2 \(needed\)"):
        optimizer.get_init_tokens_op(1)
