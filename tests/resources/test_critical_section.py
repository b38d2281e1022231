"""Parts of graphs that exclude each other."""

import threading

import numpy as np
import pytest

import stillflow as tf


def test_runs_side_by_side_take_turns():
    inside, most = [], []
    lock = threading.Lock()

    def enter(value):
        with lock:
            inside.append(1)
            most.append(len(inside))
        for _ in range(1000):
            pass
        with lock:
            inside.pop()
        return np.float32(value + 1)

    with tf.Graph().as_default(), tf.Session() as session:
        section = tf.CriticalSection(name="section")
        result = section.execute(lambda: tf.py_func(enter, [tf.constant(1.0)], tf.float32))
        threads = [threading.Thread(target=session.run, args=(result,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == [1] * 8


def test_a_run_that_fails_gives_the_lock_back():
    with tf.Graph().as_default(), tf.Session() as session:
        section, x = tf.CriticalSection(), tf.placeholder(tf.float32)
        result = section.execute(lambda: tf.check_numerics(x, "bad"))
        for value in (np.nan, 1.0, np.inf, 2.0):
            if np.isfinite(value):
                assert session.run(result, {x: value}) == value
            else:
                with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
                    session.run(result, {x: value})


def test_a_section_within_itself_is_refused():
    with tf.Graph().as_default():
        section = tf.CriticalSection()
        with pytest.raises(ValueError, match="attempts to directly access the CriticalSection"):
            section.execute(lambda: section.execute(lambda: tf.constant(1)))


def test_another_section_may_not_use_the_same_resource_unless_both_say_so():
    with tf.Graph().as_default():
        variable = tf.get_variable("v", initializer=0.0, use_resource=True)
        one, other = tf.CriticalSection(name="one"), tf.CriticalSection(name="other")
        one.execute(lambda: variable.assign_add(1.0), exclusive_resource_access=False)
        other.execute(lambda: variable.assign_add(1.0), exclusive_resource_access=False)
        with pytest.raises(ValueError, match="requested exclusive resource access"):
            tf.CriticalSection(name="third").execute(lambda: variable.assign_add(1.0))
