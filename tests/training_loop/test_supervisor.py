"""Supervisors beyond what TensorFlow's show: a program of 2016, killed and resumed, and its services."""

import signal
import subprocess
import sys
import threading
import time

import pytest

import stillflow as tf

# As tutorials of 2016 to 2018 wrote them.
PROGRAM = """
import os
import signal
import sys
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("logdir", "", "where to write")
flags.DEFINE_integer("max_steps", 100, "how many steps")
flags.DEFINE_integer("kill_at", -1, "step at which to die")
FLAGS = flags.FLAGS


def main(_):
    with tf.Graph().as_default():
        global_step = tf.Variable(0, name="global_step", trainable=False)
        x = tf.placeholder(tf.float32, [None, 1], name="x")
        y = tf.placeholder(tf.float32, [None, 1], name="y")
        w = tf.Variable(tf.zeros([1, 1]), name="w")
        b = tf.Variable(tf.zeros([1]), name="b")
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        tf.summary.scalar("loss", loss)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)
        summary_op = tf.summary.merge_all()
        init_op = tf.global_variables_initializer()
        saver = tf.train.Saver(max_to_keep=3)
        sv = tf.train.Supervisor(
            logdir=FLAGS.logdir, init_op=init_op, summary_op=None, saver=saver, global_step=global_step,
            save_model_secs=0,
        )
        points = np.linspace(-1, 1, 20)[:, None]
        feed = {x: points, y: 3 * points + 1}
        with sv.managed_session() as sess:
            step = sess.run(global_step)
            print("begins at", step)
            while not sv.should_stop() and step < FLAGS.max_steps:
                _, step, value = sess.run([train_op, global_step, loss], feed_dict=feed)
                step = sess.run(global_step)
                if step % 10 == 0:
                    sv.summary_computed(sess, sess.run(summary_op, feed_dict=feed))
                    sv.saver.save(sess, sv.save_path, global_step=step)
                if step == FLAGS.kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
            print("ends at", step, sess.run([w, b]))
            sv.request_stop()


if __name__ == "__main__":
    tf.app.run()
"""


def test_a_program_of_its_time_is_killed_and_goes_on(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(PROGRAM)

    def run(folder, *options):
        command = [sys.executable, "-m", "stillflow", "run", program, f"--logdir={tmp_path / folder}", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=100)

    straight = run("straight")
    assert straight.returncode == 0, straight.stderr
    assert run("killed", "--kill_at=37").returncode == -signal.SIGKILL
    resumed = run("killed")
    assert resumed.returncode == 0, resumed.stderr
    assert "begins at 30" in resumed.stdout
    assert resumed.stdout.splitlines()[-1] == straight.stdout.splitlines()[-1]
    state = tf.train.get_checkpoint_state(tmp_path / "killed")
    assert [path.rpartition("-")[2] for path in state.all_model_checkpoint_paths] == ["80", "90", "100"]
    steps = [
        event.step
        for path in sorted((tmp_path / "killed").glob("*tfevents*"))
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
        if value.tag == "loss"  # the steps per second are written by a thread, which may come late
    ]
    assert steps == sorted(steps)
    assert steps[-1] == 100


def test_services_write_again_and_again_until_the_end(tmp_path):
    step = tf.train.create_global_step()
    tf.summary.scalar("steps", tf.cast(step, tf.float32))
    train = tf.assign_add(step, 1)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_summaries_secs=0.05, save_model_secs=0.05)
    with supervisor.managed_session() as session:
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            session.run(train)
            time.sleep(0.001)
    (path,) = tmp_path.glob("*tfevents*")
    tags = [value.tag for event in tf.train.summary_iterator(str(path)) for value in event.summary.value]
    assert tags.count("steps") > 4
    assert tags.count("global_step/sec") > 4
    assert tf.train.latest_checkpoint(str(tmp_path))
    assert not [thread for thread in threading.enumerate() if type(thread).__name__.startswith("SV")]


def test_one_supervisor_manages_one_session_after_another(tmp_path):
    step = tf.train.create_global_step()
    train = tf.assign_add(step, 1)
    supervisor = tf.train.Supervisor(logdir=str(tmp_path), save_model_secs=0, save_summaries_secs=0)
    for run in range(3):
        with supervisor.managed_session() as session:
            assert session.run(step) == run
            session.run(train)
            supervisor.saver.save(session, supervisor.save_path, global_step=step)


def test_what_cannot_be_prepared_raises_why(tmp_path):
    tf.get_variable("x", shape=[2], initializer=tf.zeros_initializer())
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, str(tmp_path / "model.ckpt"))
    with tf.Graph().as_default():
        tf.get_variable("x", shape=[3], initializer=tf.zeros_initializer())
        supervisor = tf.train.Supervisor(logdir=str(tmp_path))
        with pytest.raises((tf.errors.InvalidArgumentError, RuntimeError)), supervisor.managed_session():
            pass
