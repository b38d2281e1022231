"""Monitored sessions beyond what TensorFlow's show: killed and resumed, recovered, and with many threads."""

import contextlib
import json
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import stillflow as tf

PROGRAM = """
import json
import os
import signal
import sys

import stillflow as tf

folder, last_step, kill_at = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
tf.set_random_seed(7)
step = tf.train.get_or_create_global_step()
data = tf.random_uniform([16, 4], seed=3)
noise = tf.random_normal([16, 1], stddev=0.01)
weights = tf.get_variable("weights", [4, 1], initializer=tf.glorot_uniform_initializer(seed=1))
wanted = tf.matmul(data, [[1.0], [2.0], [3.0], [4.0]]) + noise
loss = tf.losses.mean_squared_error(wanted, tf.matmul(data, weights)) if hasattr(tf, "losses") else (
    tf.reduce_mean(tf.squared_difference(wanted, tf.matmul(data, weights))))
tf.summary.scalar("loss", loss)
rate = tf.train.exponential_decay(0.1, step, 10, 0.9)
train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)


class Killer(tf.train.SessionRunHook):
    def before_run(self, run_context):
        return tf.train.SessionRunArgs(step)

    def after_run(self, run_context, run_values):
        if run_context.session.run(step) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)


hooks = [
    tf.train.StopAtStepHook(last_step=last_step),
    tf.train.NanTensorHook(loss),
    tf.train.LoggingTensorHook({"loss": loss}, every_n_iter=10),
    Killer(),
]
options = dict(save_checkpoint_steps=5, save_summaries_steps=5, log_step_count_steps=10)
with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, **options) as session:
    while not session.should_stop():
        session.run(train)
reader = tf.train.load_checkpoint(folder)
print(json.dumps({
    "step": int(reader.get_tensor("global_step")),
    "weights": reader.get_tensor("weights").tobytes().hex(),
}))
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "train.py"
    path.write_text(PROGRAM)
    return path


def run(program, folder, last_step, kill_at=-1):
    command = [sys.executable, program, str(folder), str(last_step), str(kill_at)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def test_a_training_that_is_killed_and_resumed_ends_with_the_same_bits(program, tmp_path):
    straight = run(program, tmp_path / "straight", 60)
    assert straight.returncode == 0, straight.stderr
    for kill_at in (17, 36, 41):
        killed = run(program, tmp_path / "killed", 60, kill_at)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = run(program, tmp_path / "killed", 60)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout) == json.loads(straight.stdout)
    assert json.loads(resumed.stdout)["step"] == 60


def test_a_training_that_is_killed_at_any_instant_goes_on(program, tmp_path):
    straight = run(program, tmp_path / "straight", 300)
    rng = random.Random(0)
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, program, str(tmp_path / "killed"), "200", "-1"],  # where it is over, it makes a step
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(rng.uniform(0.3, 0.9))
        process.kill()
        process.wait()
    resumed = run(program, tmp_path / "killed", 300)
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout) == json.loads(straight.stdout)


def test_a_damaged_checkpoint_is_passed_over(tmp_path):
    step = tf.train.create_global_step()
    train = tf.assign_add(step, 1)
    folder = str(tmp_path)
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=2) as session:
        for _ in range(4):
            session.run(train)
    with open(f"{folder}/model.ckpt-4.data-00000-of-00001", "r+b") as file:
        file.write(b"\xff")
    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as session:
        assert session.run(step) == 2


def test_queues_are_filled_again_after_a_recovery(tmp_path):
    names = tf.train.string_input_producer(["a", "b", "c"], shuffle=False)
    value = names.dequeue()
    fails = iter([False, False, True, False, False])

    class Failing(tf.train.SessionRunHook):
        def before_run(self, run_context):
            if next(fails):
                raise tf.errors.UnavailableError(None, None, "away")

    with tf.train.MonitoredSession(hooks=[Failing()]) as session:
        assert [session.run(value) for _ in range(4)] == [b"a", b"b", b"a", b"b"]


def test_threads_have_stopped_when_the_session_is_closed():
    queue = tf.FIFOQueue(5, tf.float32)
    enqueue = queue.enqueue(1.0)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue] * 4))
    value = queue.dequeue()
    threads = []

    class Keeper(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            threads.extend(coord._registered_threads)

    with tf.train.MonitoredSession(hooks=[Keeper()]) as session:
        for _ in range(20):
            assert session.run(value) == 1.0
    assert len(threads) == 5
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("kind", ["stop", "error", "abort", "leave"])
def test_stopping_at_any_instant_never_hangs(kind):
    rng = random.Random(kind)
    errors = {"error": ValueError("x"), "abort": tf.errors.AbortedError(None, None, "lost"), "stop": None}

    class Stopper(tf.train.SessionRunHook):
        has_begun = False

        def after_create_session(self, session, coord):
            if kind != "leave" and not self.has_begun:
                self.has_begun = True
                threading.Timer(rng.uniform(0, 0.01), self.stop, [coord]).start()

        def stop(self, coord):
            with contextlib.suppress(ValueError, tf.errors.AbortedError):  # raised here when all is over
                coord.request_stop(errors[kind])

    for _ in range(15):
        with tf.Graph().as_default():
            queue = tf.FIFOQueue(3, tf.float32)
            tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)] * 3))
            value = queue.dequeue()
            end = time.monotonic() + 0.02
            start = time.monotonic()
            with (
                contextlib.suppress(ValueError, tf.errors.OpError),
                tf.train.MonitoredSession(hooks=[Stopper()], stop_grace_period_secs=30) as session,
            ):
                while not session.should_stop() and time.monotonic() < end:
                    session.run(value)
            assert time.monotonic() - start < 20


def test_an_error_in_a_queue_runner_is_raised_by_the_run_or_the_end():
    queue = tf.FIFOQueue(5, tf.float32)
    bad = tf.py_func(lambda: np.float32(1 / 0), [], tf.float32)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(bad)]))
    value = queue.dequeue()
    with pytest.raises((tf.errors.OpError, ZeroDivisionError)), tf.train.MonitoredSession() as session:
        while not session.should_stop():
            session.run(value)


def test_a_step_costs_little_more_than_without_hooks():
    step = tf.train.create_global_step()
    train = tf.assign_add(step, 1)
    hooks = [tf.train.StopAtStepHook(last_step=10**9), tf.train.StepCounterHook(every_n_steps=10**8)]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        session.run(train)
        start = time.perf_counter()
        for _ in range(2000):
            session.run(train)
        each = (time.perf_counter() - start) / 2000
    assert each < 1e-3


def test_options_of_the_caller_reach_the_run():
    x = tf.constant(1.0) + 1.0
    metadata = tf.RunMetadata()
    with tf.train.MonitoredSession() as session:
        session.run(x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    assert len(metadata.step_stats.dev_stats) == 1


def test_profiles_can_be_read(tmp_path):
    step = tf.train.create_global_step()
    train = tf.assign_add(step, 1)
    hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        for _ in range(3):
            session.run(train)
    (path,) = tmp_path.glob("timeline-*.json")
    assert json.loads(path.read_text())["traceEvents"]


def test_interrupting_a_training_leaves_the_graph_usable(tmp_path):
    step = tf.train.create_global_step()
    train = tf.assign_add(step, 1)

    class Interrupting(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            if run_context.session.run(step) == 3:
                raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path), hooks=[Interrupting()]) as session,
    ):
        while not session.should_stop():
            session.run(train)
    assert not tf.get_default_graph().finalized
    assert (tmp_path / "checkpoint").exists()
    with tf.train.MonitoredTrainingSession(checkpoint_dir=str(tmp_path)) as session:
        assert session.run(step) == 0


def test_an_abstract_session_creator_cannot_be_made():
    with pytest.raises(TypeError):
        tf.train.SessionCreator()
