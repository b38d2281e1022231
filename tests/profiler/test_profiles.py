"""tf.profiler against what TensorFlow 1.15.5 reports of the same graphs, and what it makes of runs."""

import json
from pathlib import Path

import pytest
from profiler import profile_scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "profiles.json").read_text())


@pytest.fixture(scope="module")
def found():
    return json.loads(json.dumps(profile_scenarios.outcomes(tf)))


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_as_tensorflow_does(name, found):
    assert found[name] == RECORDED[name]


@pytest.fixture
def traced():
    """A graph with a product, and the RunMetadata of a run of it."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 20], name="x")
        with tf.name_scope("part"):
            y = tf.matmul(tf.nn.relu(x), tf.ones([20, 30]), name="product")
        run = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        with tf.Session() as sess:
            sess.run(y, {x: [[1.0] * 20] * 10}, options=options, run_metadata=run)
        yield graph, run


def _named(proto, name):
    if proto.name == name:
        return proto
    return next((found for child in proto.children if (found := _named(child, name))), None)


def test_a_run_tells_shapes_times_and_bytes(traced):
    graph, run = traced
    builder = tf.profiler.ProfileOptionBuilder
    floats = builder(builder.float_operation()).with_empty_output().build()
    assert tf.profiler.profile(graph, options=floats).total_float_ops == 0
    proto = tf.profiler.profile(graph, run, options=floats)
    product = _named(proto, "part/product")
    assert product.float_ops == proto.total_float_ops == 2 * 10 * 20 * 30
    assert product.run_count == 1 and product.exec_micros == product.cpu_exec_micros >= 1
    assert product.output_bytes >= 10 * 30 * 4
    assert product.devices == ["/job:localhost/replica:0/task:0/device:cpu:0"]


def test_profiler_takes_the_mean_of_steps(traced, tmp_path):
    graph, run = traced
    profiler = tf.profiler.Profiler(graph)
    profiler.add_step(0, run)
    slow = tf.RunMetadata()
    slow.CopyFrom(run)
    for device in slow.step_stats.dev_stats:
        for stats in device.node_stats:
            stats.op_end_rel_micros = stats.all_end_rel_micros = 1000
    profiler.add_step(7, slow)
    builder = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.time_and_memory()).with_empty_output()

    def micros(step):
        return _named(profiler.profile_operations(builder.with_step(step).build()), "MatMul").exec_micros

    assert micros(7) == 1000 and micros(-1) == (micros(0) + 1000) // 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="-step=3 not found.\nAvailable steps: 0 7"):
        micros(3)
    path = tmp_path / "timeline"
    profiler.profile_name_scope(builder.with_step(7).with_timeline_output(str(path)).build())
    events = json.loads(path.read_text())["traceEvents"]
    assert any(event.get("dur") == 1000 for event in events)


def test_report_on_standard_output(traced, capsys):
    graph, _ = traced
    analyzer = tf.contrib.tfprof.model_analyzer
    options = {**analyzer.FLOAT_OPS_OPTIONS, "min_float_ops": 0}
    analyzer.print_model_analysis(graph, tfprof_options=options)
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == 25 * "=" + "Options" + 29 * "="
    assert "-max_depth                  10000" in lines and "-select                     float_ops" in lines
    assert "_TFProfRoot (--/0 flops)" in lines and "    part/product (0/0 flops)" in lines
    assert lines[-1] == 22 * "=" + "End of Report" + 26 * "="


@pytest.mark.parametrize(
    ("cmd", "output", "message"),
    [
        ("files", "none", "unknown cmd: files"),
        ("scope", "paper", "Unknown output type: paper, Valid types: file,none,pprof,stdout,timeline"),
        ("scope", "file", "Missing required output_options for file"),
        ("op", "file:name=x", "Unrecognized options name for output_type: file"),
    ],
)
def test_refusals(cmd, output, message):
    with tf.Graph().as_default() as graph, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.profiler.profile(graph, cmd=cmd, options={"output": output})
