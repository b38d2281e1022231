"""DebugDumpDir and GradientsDebugger."""

import numpy as np
import pytest
from stillflow.python import debug as tf_debug
from stillflow.python.debug.lib import debug_data, debug_gradients, debug_graphs

import stillflow as tf


@pytest.fixture(autouse=True)
def new_graph():
    tf.reset_default_graph()
    debug_gradients.clear_gradient_debuggers()


def _dump(tmp_path, fetch, **arguments):
    options = tf.RunOptions()
    tf_debug.watch_graph(options, tf.get_default_graph(), debug_urls=f"file://{tmp_path / 'd'}", **arguments)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(fetch, options=options)
    return tf_debug.DebugDumpDir(str(tmp_path / "d"))


def _sum():
    v = tf.Variable(1.0, name="v")
    w = tf.Variable(2.0, name="w")
    with tf.control_dependencies([tf.add(v, w, name="first")]):
        return tf.add(w, w, name="second")


def test_ways_through_the_graph(tmp_path):
    dump = _dump(tmp_path, _sum())
    assert dump.find_some_path("v", "second") == ["v", "v/read", "first", "second"]
    assert dump.find_some_path("v", "second", include_control=False) is None
    assert dump.transitive_inputs("second", include_control=False) == ["w/read", "w"]
    assert dump.node_inputs("second", is_control=True) == ["first"]
    assert dump.node_recipients("first", is_control=True) == ["second"]
    assert dump.node_device("v") == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert dump.node_attributes("v")["dtype"].type == tf.float32.as_datatype_enum


def test_what_there_is_not(tmp_path):
    dump = _dump(tmp_path, _sum())
    with pytest.raises(ValueError, match=r"None of the 1 device\(s\) has a node named 'x'"):
        dump.node_inputs("x")
    with pytest.raises(
        debug_data.WatchKeyDoesNotExistInDebugDumpDirError, match='"x:0:DebugIdentity" does not exist'
    ):
        dump.get_tensors("x", 0, "DebugIdentity")
    with pytest.raises(LookupError, match="Python graph is not available"):
        dump.node_traceback("v")
    with pytest.raises(OSError, match="does not exist"):
        tf_debug.DebugDumpDir(str(tmp_path / "other"))
    assert dump.debug_watch_keys("x") == dump.watch_key_to_data("x:0:DebugIdentity") == []


def test_dumps_in_an_impossible_order(tmp_path):
    dump = _dump(tmp_path, _sum())
    (path,) = dump.get_tensor_file_paths("w/read", 0, "DebugIdentity")
    (after,) = dump.watch_key_to_data("first:0:DebugIdentity")
    moved = path.rpartition("_")[0]
    (tmp_path / path).rename(f"{moved}_{after.timestamp + 1}")
    with pytest.raises(ValueError, match=r"Causality violated .*first.*\('w/read', 0\)"):
        tf_debug.DebugDumpDir(str(tmp_path / "d"))
    assert tf_debug.DebugDumpDir(str(tmp_path / "d"), validate=False).size == dump.size
    (tmp_path / f"{moved}_{after.timestamp + 1}").rename(f"{moved}_{after.timestamp}")  # at the same time
    assert tf_debug.DebugDumpDir(str(tmp_path / "d")).size == dump.size


def test_finding_tensors(tmp_path):
    x = tf.log(tf.constant([0.0, 1.0], name="c"), name="x")
    dump = _dump(tmp_path, tf.multiply(x, 0.0, name="y"))
    assert [datum.node_name for datum in dump.find(tf_debug.has_inf_or_nan)] == ["x", "y"]
    assert [datum.node_name for datum in dump.find(tf_debug.has_inf_or_nan, first_n=1)] == ["x"]
    assert [datum.node_name for datum in dump.find(tf_debug.has_inf_or_nan, exclude_node_names="x$")] == ["y"]
    assert dump.get_rel_timestamps("c", 0, "DebugIdentity") == [0]
    assert dump.get_dump_sizes_bytes("c", 0, "DebugIdentity") == [dump.dumped_tensor_data[0].dump_size_bytes]


def test_dumps_of_several_devices(tmp_path):
    for device in ("cpu_0", "device_GPU_1"):
        folder = tmp_path / f"_tfdbg_device_,job_localhost,replica_0,task_0,{device}" / "scope"
        folder.mkdir(parents=True)
        (folder / "node_a_1_DebugIdentity_100-1").write_bytes(b"")
    graphs = []
    for device in ("cpu:0", "device:GPU:1"):
        graph = tf.GraphDef()
        graph.node.add(name="scope/node_a", op="NoOp", device=f"/job:localhost/replica:0/task:0/{device}")
        graphs.append(graph)
    dump = tf_debug.DebugDumpDir(str(tmp_path), partition_graphs=graphs)
    cpu, gpu = dump.devices()
    assert {cpu, gpu} == {f"/job:localhost/replica:0/task:0/{name}" for name in ("cpu:0", "device:GPU:1")}
    assert set(dump.node_device("scope/node_a")) == {cpu, gpu}
    with pytest.raises(ValueError, match=r"multiple \(2\) devices"):
        dump.watch_key_to_data("scope/node_a:1:DebugIdentity")
    (datum,) = dump.watch_key_to_data("scope/node_a:1:DebugIdentity", cpu)
    assert (datum.timestamp, datum.extended_timestamp, datum.dump_size_bytes) == (100, "100-1", 0)


@pytest.mark.parametrize("name", ["node_DebugIdentity_1", "node"])
def test_files_of_other_names(tmp_path, name):
    folder = tmp_path / "_tfdbg_device_,job_a,replica_0,task_0,cpu_0"
    folder.mkdir()
    (folder / name).write_bytes(b"")
    with pytest.raises(ValueError, match="does not conform to the naming pattern"):
        tf_debug.DebugDumpDir(str(tmp_path))


def test_names_of_debug_nodes():
    assert debug_graphs.parse_debug_node_name("__dbg_a/b_1:2_0_DebugNanCount") == ("a/b_1", 2, 0, "DebugNanCount")
    for name, message in (("a", "prefix"), ("__dbg_a:0", "debug node name"), ("__dbg_a_0_Op", "tensor name")):
        with pytest.raises(ValueError, match=f"Invalid {message}"):
            debug_graphs.parse_debug_node_name(name)


# ---- Gradients ----------------------------------------------------------------------------------------------------


def test_gradients_of_tensors_are_found_and_dumped(tmp_path):
    u, v = tf.Variable(2.0, name="u"), tf.Variable(3.0, name="v")
    w = tf.multiply(u.value(), v.value(), name="w")
    y = tf.square(w, name="y")
    debugger = tf_debug.GradientsDebugger(y)
    with debugger.watch_gradients_by_tensors(tf.get_default_graph(), w):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(y)
    dump = _dump(tmp_path, train)
    assert debug_gradients.gradient_values_from_dump(debugger, w, dump) == [12.0]
    assert debug_gradients.gradient_values_from_dump(debugger, "w:0", dump) == [12.0]
    assert list(debugger.gradient_tensors()) == ["w:0"]
    with pytest.raises(LookupError, match="has not received any gradient tensor for x-tensor y:0"):
        debugger.gradient_tensor(y)


def test_gradients_of_references_and_of_two_losses():
    v = tf.Variable(3.0, name="v")
    first, second = tf_debug.GradientsDebugger(), tf_debug.GradientsDebugger()
    a = tf.square(first.identify_gradient(v._ref()), name="a")
    b = tf.sqrt(second.identify_gradient(v._ref()), name="b")
    with first:
        tf.gradients(a, v)
    with second:
        tf.gradients(b, v)
    with tf.Session() as session:
        session.run(v.initializer)
        found = session.run([first.gradient_tensor("v:0"), second.gradient_tensor("v:0")])
    np.testing.assert_allclose(found, [6.0, 0.5 * 3**-0.5], rtol=1e-6)
    with pytest.raises(ValueError, match="already contains an op named"):
        first.identify_gradient(v._ref())
