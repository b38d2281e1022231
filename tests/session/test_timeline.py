"""timeline.Timeline: step traces for chrome://tracing."""

import json

import numpy as np
from stillflow.python.client import timeline

import stillflow as tf


def trace(**options):
    x = tf.placeholder(tf.float32, [64, 64], name="x")
    y = tf.matmul(x, x, name="y")
    z = tf.reduce_sum(tf.matmul(y, y, name="yy"), name="z")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(z, {x: np.ones((64, 64))}, options=full, run_metadata=metadata)
    text = timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(**options)
    return json.loads(text)["traceEvents"]


def test_operations_stand_in_order(new_graph):
    events = trace()
    (process,) = [event for event in events if event["ph"] == "M"]
    assert process["args"]["name"].endswith("device:CPU:0 Compute")
    operations = {event["args"]["name"]: event for event in events if event["ph"] == "X"}
    assert operations["y"]["name"] == "MatMul"
    assert operations["y"]["args"] == {"name": "y", "op": "MatMul", "input0": "x", "input1": "x"}
    assert operations["yy"]["args"]["input0"] == "y"
    assert operations["y"]["ts"] <= operations["yy"]["ts"] <= operations["z"]["ts"]
    assert all(event["dur"] >= 1 and event["pid"] == process["pid"] for event in operations.values())
    arrows = [event for event in events if event["ph"] in "st"]
    assert [event["ph"] for event in arrows] == ["s", "t"] * 4  # y to yy twice, yy and a constant to z
    assert arrows[0]["id"] == arrows[1]["id"]
    assert arrows[0]["id"] != arrows[2]["id"]
    assert arrows[0]["name"] == "y"


def test_dataflow_and_memory_are_shown_on_demand(new_graph):
    events = trace(show_dataflow=False, show_memory=True)
    assert not [event for event in events if event["ph"] in "st"]
    memory = [event["args"]["bytes"] for event in events if event["ph"] == "C"]
    assert max(memory) >= 64 * 64 * 4
    assert min(memory) >= 0
    assert memory[-1] == 0


def test_operations_that_overlap_lie_in_different_rows_and_nothing_is_nothing():
    stats = tf.RunMetadata().step_stats
    assert json.loads(timeline.Timeline(stats).generate_chrome_trace_format()) == {"traceEvents": []}
    device = stats.dev_stats.add(device="d")
    for start, length in ((0, 10), (5, 10), (10, 5), (12, 1)):
        device.node_stats.add(node_name="n", all_start_micros=start, all_end_rel_micros=length, timeline_label="?")
    events = json.loads(timeline.Timeline(stats).generate_chrome_trace_format())["traceEvents"]
    assert [event["tid"] for event in events if event["ph"] == "X"] == [0, 1, 0, 2]
    assert events[1]["args"] == {"name": "n", "op": "unknown"}


def test_maximums_of_allocators_are_found(new_graph):
    x = tf.placeholder(tf.float32, [64, 64], name="x")
    z = tf.matmul(tf.matmul(x, x, name="y"), x, name="z")
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(z, {x: np.ones((64, 64))}, options=full, run_metadata=metadata)
    analysis = timeline.Timeline(metadata.step_stats).analyze_step_stats()
    maximum = analysis.allocator_maximums["cpu"]
    assert maximum.num_bytes >= 64 * 64 * 4
    assert maximum.tensors <= {"x", "y", "z"}
    assert maximum.timestamp > 0
    events = json.loads(analysis.chrome_trace.format_to_string())["traceEvents"]
    assert max(event["args"]["bytes"] for event in events if event["ph"] == "C") == maximum.num_bytes
