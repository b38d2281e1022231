"""Runs with watched tensors against what TensorFlow 1.15.5 has written of the same programs."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from debug import watched_programs
from real_tensorflow import run_tensorflow
from stillflow.python import debug as tf_debug

import stillflow as tf

RECORDED = json.loads((Path(__file__).parent.parent / "golden" / "watched_runs.json").read_text())


@pytest.fixture(autouse=True)
def new_graph():
    tf.reset_default_graph()


def _watching(url, graph=None, **arguments):
    options = tf.RunOptions(output_partition_graphs=True)
    tf_debug.watch_graph(options, graph or tf.get_default_graph(), debug_urls=url, **arguments)
    return options


def _watch(url, name, slot=0, **arguments):
    options = tf.RunOptions()
    tf_debug.add_debug_tensor_watch(options, name, slot, debug_urls=url, **arguments)
    return options


@pytest.fixture
def url(tmp_path):
    return f"file://{tmp_path / 'dumps'}"


@pytest.fixture
def dump_dir(tmp_path):
    return lambda **arguments: tf_debug.DebugDumpDir(str(tmp_path / "dumps"), **arguments)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_every_tensor_is_written_as_by_tensorflow(name):
    found = watched_programs.record(tf, tf_debug, name)
    assert json.loads(json.dumps(found)) == RECORDED[name]


@pytest.mark.peer
def test_the_record_is_tensorflows():
    assert json.loads(run_tensorflow("tf1", watched_programs.__file__)) == RECORDED


def test_a_watched_run_computes_the_same_bits(url):
    x = tf.placeholder(tf.float32, [40, 30])
    w = tf.Variable(tf.random_normal([30, 20], seed=3))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.ones([40, 20]) / 20, logits=x @ w))
    train = tf.train.AdamOptimizer().minimize(loss)
    feeds = {x: np.random.default_rng(0).standard_normal((40, 30))}
    results = []
    for options in (None, _watching(url)):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            steps = [session.run([loss, train], feeds, options=options)[0] for _ in range(3)]
            results.append([np.array(steps).tobytes(), session.run(w).tobytes()])
    assert results[0] == results[1]


def test_metadata_tells_of_the_run(url, dump_dir):
    x = tf.placeholder(tf.float32, name="x")
    y, train = tf.add(x, 1.0, name="y"), tf.no_op(name="train")
    options = _watch(url, "y", global_step=7)
    with tf.Session() as session:
        for _ in range(3):
            session.run([y, train], {x: 1.0}, options=options)
    found = sorted(dump_dir().core_metadata, key=lambda run: run.session_run_index)
    assert [run.executor_step_index for run in found] == [0, 1, 2]
    first = found[0].session_run_index
    assert [run.session_run_index for run in found] == [first, first + 1, first + 2]
    assert found[0][3:] == (["x:0"], ["y:0"], ["train"])
    assert {run.global_step for run in found} == {7}
    assert dump_dir().get_tensors("y", 0, "DebugIdentity") == [2.0] * 3


def test_what_is_fed_has_a_node_of_its_own(url, dump_dir):
    x = tf.placeholder(tf.int32, [2], name="x")
    y = tf.multiply(x, x, name="y")
    with tf.Session() as session:
        session.run(y, {x: [3, 4]}, options=_watching(url))
    dump = dump_dir()
    assert dump.node_inputs("y") == ["_arg_x_0_0"] * 2
    assert not dump.node_exists("x")
    np.testing.assert_array_equal(dump.get_tensors("_arg_x_0_0", 0, "DebugIdentity"), [[3, 4]])


def test_graphs_with_and_without_watches(url):
    v = tf.Variable([1.0, 2.0], name="v")
    y = tf.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * v), [0, tf.ones([2])])
    with tf.Session() as session:
        session.run(v.initializer)
        graphs = []
        for options in (tf.RunOptions(output_partition_graphs=True), _watching(url)):
            metadata = tf.RunMetadata()
            session.run(y, options=options, run_metadata=metadata)
            (graph,) = metadata.partition_graphs
            graphs.append(graph)
    plain, watched = graphs
    assert [node.name for node in watched.node if node.name.startswith("__copy_v")] == [
        "__copy_v_0",
        "__copy_v/read_0",
    ]
    for node in plain.node:  # a watched loop runs round by round
        if node.op == "Enter":
            node.attr["parallel_iterations"].i = 1
    assert tf_debug.reconstruct_non_debug_graph_def(watched).node == plain.node


def test_watches_of_one_tensor_and_of_all_others(url, dump_dir):
    a = tf.constant([1.0, np.nan], name="a")
    b = tf.negative(a, name="b")
    options = _watch(url, "b", debug_ops="DebugNanCount")
    tf_debug.add_debug_tensor_watch(options, "*", -1, debug_urls=url)
    with tf.Session() as session:
        session.run(b, options=options)
    dump = dump_dir()
    assert sorted(dump.debug_watch_keys("a") + dump.debug_watch_keys("b")) == [
        "a:0:DebugIdentity",
        "b:0:DebugNanCount",
    ]
    assert dump.get_tensors("b", 0, "DebugNanCount")[0].tolist() == [1]


def test_a_run_before_and_after_is_not_watched(url, tmp_path):
    y = tf.add(tf.constant(1.0), 1.0)
    with tf.Session() as session:
        options = _watching(url)
        session.run(y)
        assert not (tmp_path / "dumps").exists()
        session.run(y, options=options)
        count = len(list((tmp_path / "dumps").rglob("*")))
        session.run(y)
        assert len(list((tmp_path / "dumps").rglob("*"))) == count


def test_dumps_that_were_removed_are_written_again(url, dump_dir, tmp_path):
    y = tf.add(tf.constant(1.0), 1.0, name="y")
    with tf.Session() as session:
        for _ in range(2):
            session.run(y, options=_watching(url))
            assert dump_dir().loaded_partition_graphs()
            for path in sorted((tmp_path / "dumps").rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink()


def test_threads_watch_at_the_same_time(tmp_path):
    v = tf.Variable(0.0, name="v")
    more = [tf.assign_add(v, 1.0, use_locking=True, name=f"more{i}") for i in range(4)]
    with tf.Session() as session:
        session.run(v.initializer)

        def work(i):
            options = _watching(f"file://{tmp_path / str(i)}", session.graph)
            for _ in range(20):
                session.run(more[i], options=options)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(v) == 80
    numbers = set()
    for i in range(4):
        dump = tf_debug.DebugDumpDir(str(tmp_path / str(i)))
        assert len(dump.get_tensors("v", 0, "DebugIdentity")) == 20
        numbers.update(run.session_run_index for run in dump.core_metadata)
    assert len(numbers) == 80


# ---- What is refused ---------------------------------------------------------------------------------------------


def _error(options, fetch):
    with tf.Session() as session, pytest.raises(tf.errors.OpError) as caught:
        session.run(fetch, options=options)
    return type(caught.value).__name__, caught.value.message


@pytest.mark.parametrize(
    ("debug_op", "message"),
    [
        (
            "DebugNumericSummary",
            "Failed to find kernel definition for debug op DebugNumericSummary on watched tensor s:0",
        ),
        ("Other", "Failed to create node definition for debug op Other on watched tensor s:0"),
        ("DebugIdentity(a=1)", "1 attribute key(s) were not valid for debug node __dbg_s:0_0_DebugIdentity: a"),
        ("DebugIdentity(T=1)", "Unsupported type of custom attribute for debug ops: type"),
    ],
)
def test_debug_ops_that_there_are_not(url, debug_op, message):
    s = tf.constant("text", name="s")
    start = f"Failed to create debug node {debug_op} for tensor s:0, due to: "
    assert _error(_watch(url, "s", debug_ops=debug_op), s) == ("FailedPreconditionError", start + message)


@pytest.mark.parametrize("debug_op", ["DebugIdentity(", "(a=1)", "DebugIdentity(a=1", "DebugIdentity(a=1)b"])
def test_debug_ops_that_cannot_be_read(url, debug_op):
    s = tf.constant("text", name="s")
    message = f'Failed to create Copy/CopyHost node for tensor s:0, due to: Malformed debug op name "{debug_op}"'
    assert _error(_watch(url, "s", debug_ops=debug_op), s) == ("FailedPreconditionError", message)


def test_a_debug_op_may_be_missing_where_that_is_tolerated(url, dump_dir):
    n = tf.string_to_number(tf.constant("12", name="s"), name="n")
    options = _watching(url, debug_ops="DebugNumericSummary", tolerate_debug_op_creation_failures=True)
    with tf.Session() as session:
        session.run(n, options=options)
    assert [datum.node_name for datum in dump_dir().dumped_tensor_data] == ["n"]


def test_urls_of_other_schemes():
    x = tf.constant(1.0, name="x")
    name, message = _error(_watch("grpc://localhost:6064", "x"), x)
    assert name == "UnimplementedError"
    assert "file://" in message
    assert _error(_watch("other://x", "x"), x) == ("UnavailableError", "Invalid debug target URL: other://x")


def test_bytes_are_limited(url, monkeypatch):
    monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "10")
    x = tf.constant(1.0, name="x")
    options = _watch(url, "x")
    options.debug_options.reset_disk_byte_usage = True
    with tf.Session() as session:
        session.run(x, options=options)
        options.debug_options.reset_disk_byte_usage = False
        session.run(x, options=options)
        with pytest.raises(tf.errors.ResourceExhaustedError, match="TFDBG_DISK_BYTES_LIMIT"):
            session.run(x, options=options)


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    x = tf.constant(1.0, name="x")
    name, message = _error(_watch(f"file://{tmp_path / 'file'}", "x"), x)
    assert name == "FailedPreconditionError"
    assert "the path exists as a file" in message
