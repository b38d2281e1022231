"""Traces of runs: where steps and constants ran."""

import stillflow as tf


def test_a_trace_has_steps_and_constants_by_device():
    with tf.device("/cpu:1"):
        a = tf.constant(1.0, name="a")
    with tf.device("/cpu:0"):
        b = tf.cumsum(tf.stack([a, a]), name="b")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    x = tf.placeholder(tf.float32, [2])
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run([b, tf.cumsum(x, name="c")], {x: [1.0, 2.0]}, options=options, run_metadata=metadata)
    names = {
        device.device[-5:]: [stats.node_name for stats in device.node_stats]
        for device in metadata.step_stats.dev_stats
    }
    assert names["CPU:1"] == ["a"]
    assert "c" in names["CPU:0"]
