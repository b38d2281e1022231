"""Timestamp and the ops of tf.contrib.memory_stats."""

import time

import numpy as np

import stillflow as tf

memory_stats = tf.contrib.memory_stats


def test_timestamp_is_the_time_of_each_run():
    with tf.Session() as session:
        stamp = tf.timestamp()
        assert (stamp.op.name, stamp.dtype, stamp.shape.as_list()) == ("Timestamp", tf.float64, [])
        before = time.time()
        first = session.run(stamp)
        second = session.run(stamp)
    # The clocks of Python and of the kernel are one, which is read in between.
    assert before - 1e-3 <= first <= second <= time.time() + 1e-3


def test_memory_is_that_of_tensors():
    held, most, limit = memory_stats.BytesInUse(), memory_stats.MaxBytesInUse(), memory_stats.BytesLimit()
    assert [each.op.type for each in (held, most, limit)] == ["BytesInUse", "MaxBytesInUse", "BytesLimit"]
    assert {(each.dtype, each.shape.ndims) for each in (held, most, limit)} == {(tf.int64, 0)}
    size = 8 << 20
    kept = tf.Variable(tf.zeros([size // 4]))
    with tf.Session() as session:
        before = session.run(held)
        session.run(kept.initializer)
        after, peak, machine = session.run([held, most, limit])
    assert after - before >= size
    assert peak >= after
    assert machine > peak


def test_the_peak_stays():
    with tf.Session() as session:
        large = tf.reduce_sum(tf.random_uniform([4 << 20]))
        session.run(large)
        peak = session.run(memory_stats.MaxBytesInUse())
        assert peak >= 16 << 20
        np.testing.assert_array_less(session.run(memory_stats.BytesInUse()), peak)
