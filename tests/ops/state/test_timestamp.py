"""Timestamp: the clock, in each run anew."""

import time

import stillflow as tf


def test_the_time_is_told_in_each_run():
    stamp = tf.timestamp()
    assert stamp.shape == [] and stamp.dtype == tf.float64 and stamp.op.type == "Timestamp"
    before = time.time()
    with tf.Session() as session:
        with tf.control_dependencies([stamp]):
            later = tf.timestamp(name="later")
        first, second = session.run([stamp, later])
        third = session.run(stamp)
    assert before - 1e-3 <= first <= second <= third <= time.time() + 1e-3
