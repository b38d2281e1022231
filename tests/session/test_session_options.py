"""make_callable, RunOptions and RunMetadata, and what may not be fed or fetched."""

import collections

import numpy as np
import pytest

import stillflow as tf


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


# ---- make_callable ------------------------------------------------------------------------------------------


def test_a_callable_returns_what_run_returns(session):
    x = tf.constant([1.0, 2.0])
    both = session.make_callable({"a": x, "b": [x.op, "Const:0"]})()
    np.testing.assert_array_equal(both["a"], [1, 2])
    assert both["b"][0] is None
    w = tf.Variable(0.0)
    session.run(w.initializer)
    step = session.make_callable(tf.assign_add(w, 1.0).op)
    assert step() is None
    assert step() is None
    assert session.run(w) == 2


def test_a_callable_takes_feeds_in_order_and_options_by_name(session):
    a, b = tf.placeholder(tf.float32, [], "a"), tf.placeholder(tf.float32)
    call = session.make_callable(a - b, feed_list=[a, b])
    assert call(5, 3) == 2
    assert call(5, 3, options=tf.RunOptions(timeout_in_ms=60000), run_metadata=None) == 2
    np.testing.assert_array_equal(call(5, [1, 2]), [4, 3])
    with pytest.raises(TypeError, match="zz"):
        call(1, 2, zz=3)
    with pytest.raises(TypeError, match="`feed_list` must be a list or tuple"):
        session.make_callable(a, feed_list=a)
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value for placeholder tensor"):
        call(1)
    with pytest.raises(TypeError):
        session.make_callable(tf.constant(1))(options=None)
    assert session.make_callable(tf.constant(1), accept_options=True)(options=None) == 1


def test_a_callable_notices_changes_of_the_graph_and_the_end_of_its_session(session):
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        session.make_callable("x:0")
    a, b = tf.constant(1.0), tf.constant(2.0)
    c = tf.identity(a) + 0.0
    call = session.make_callable(c)
    assert call() == 1
    c.op._update_input(0, b)
    assert call() == 2
    session.close()
    with pytest.raises(tf.errors.CancelledError, match="Session has been closed"):
        call()


# ---- Options and metadata -----------------------------------------------------------------------------------


def test_a_trace_names_every_step(session):
    x = tf.placeholder(tf.float32, [300, 300], name="x")
    y = tf.matmul(x, x, name="y")
    z = tf.reduce_sum(tf.exp(y * 1e-3, name="e"), name="z")
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    value = session.run(z, {x: np.ones((300, 300))}, options=options, run_metadata=metadata)
    assert value == session.run(z, {x: np.ones((300, 300))})
    (device,) = metadata.step_stats.dev_stats
    stats = {node.node_name: node for node in device.node_stats}
    assert device.device.endswith("CPU:0")
    assert {"y", "z"} <= set(stats)
    assert stats["y"].timeline_label == "y = MatMul(x, x)"
    assert stats["y"].memory[0].total_bytes >= 300 * 300 * 4
    assert [dim.size for dim in stats["y"].output[0].tensor_description.shape.dim] == [300, 300]
    starts = [node.all_start_nanos for node in device.node_stats]
    assert starts == sorted(starts)
    assert stats["y"].all_start_nanos + stats["y"].all_end_rel_nanos <= stats["z"].all_start_nanos
    names = [node.name for node in metadata.partition_graphs[0].node]
    assert names == ["_arg_x_0_0", "y", "mul/y", "mul", "e", "Const", "z", "_retval_z_0_0"]
    session.run(z, {x: np.ones((300, 300))}, run_metadata=metadata)
    assert not metadata.step_stats.dev_stats  # nobody asked for it


def test_a_trace_of_a_run_that_is_planned_for_the_first_time_and_of_a_later_one(session):
    x = tf.placeholder(tf.float32)
    y = tf.cumsum(x, name="y")
    options = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
    for shape in ([2], [3], [2]):
        metadata = tf.RunMetadata()
        session.run(y, {x: np.zeros(shape)}, options, metadata)
        assert [node.node_name for node in metadata.step_stats.dev_stats[0].node_stats][-1] == "y"


def test_options_that_are_no_messages(session):
    x = tf.constant(1.0)
    for wrong in ({"options": 5}, {"run_metadata": 5}):
        with pytest.raises(AttributeError):
            session.run(x, **wrong)


def test_a_failed_run_leaves_no_trace(session):
    x = tf.check_numerics(tf.placeholder_with_default(np.float32("nan"), []), "bad")
    metadata = tf.RunMetadata()
    metadata.step_stats.dev_stats.add(device="of an earlier run")
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(x, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    assert not metadata.step_stats.dev_stats


# ---- What may be fed and fetched ----------------------------------------------------------------------------


def test_what_is_marked_cannot_be_fed_or_fetched(session, new_graph):
    x = tf.constant([1.0, 2.0])
    y = x * 2.0
    assert new_graph.is_feedable(x)
    assert new_graph.is_fetchable(y)
    new_graph.prevent_feeding(x)
    new_graph.prevent_fetching(y.op)
    assert not new_graph.is_feedable(x)
    assert not new_graph.is_fetchable(y)
    assert not new_graph.is_fetchable(y.op)
    for fetch in (y, y.op, [y], y.name):
        inaccessible = tf.python.framework.errors.InaccessibleTensorError
        with pytest.raises(inaccessible, match="'mul' has been marked as not fetchable"):
            session.run(fetch)
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(x, {x: [1.0, 2.0]})
    np.testing.assert_array_equal(session.run(x), [1, 2])


def test_slices_are_fed_and_fetched_as_their_parts(session):
    slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([3]), tf.constant([5]))
    value = session.run(slices)
    assert type(value).__name__ == "IndexedSlicesValue"
    assert (value.values, value.indices, value.dense_shape) == ([1], [3], [5])
    fed = session.run(slices, {slices: ([7.0], [4], [9])})
    assert (fed.values, fed.indices, fed.dense_shape) == ([7], [4], [9])
    assert session.run({"s": tf.IndexedSlices(slices.values, slices.indices)})["s"].dense_shape is None


def test_mappings_keep_their_type(session):
    x = tf.constant(1.0)
    ordered = session.run(collections.OrderedDict([("b", x), ("a", [x])]))
    assert list(ordered) == ["b", "a"]
    assert type(ordered) is collections.OrderedDict


# ---- Interactive sessions -----------------------------------------------------------------------------------


def test_interactive_sessions_are_closed_in_any_order():
    graphs = [tf.Graph(), tf.Graph()]
    first = tf.InteractiveSession(graph=graphs[0])
    with pytest.warns(UserWarning, match="An interactive session is already active"):
        second = tf.InteractiveSession(graph=graphs[1])
    assert tf.get_default_graph() is graphs[1]
    assert tf.constant(2.0).eval() == 2
    first.close()
    assert tf.get_default_graph() is graphs[1]
    assert tf.get_default_session() is second
    assert tf.constant(3.0).eval() == 3
    second.close()
    second.close()
    assert tf.get_default_session() is None
    assert tf.get_default_graph() not in graphs


def test_an_interactive_session_after_another_is_no_cause_for_warnings(recwarn):
    for _ in range(2):
        with tf.Graph().as_default():
            session = tf.InteractiveSession()
            assert (tf.constant(1.0) + 1.0).eval() == 2
            session.close()
    assert not [w for w in recwarn if "interactive" in str(w.message)]


def test_a_session_may_tell_on_which_device_each_operation_runs(capsys):
    device = "/job:localhost/replica:0/task:0/device:CPU:0"
    with tf.Graph().as_default():
        a, v = tf.constant(1.0, name="a"), tf.Variable(2.0, name="v")
        session = tf.Session(config=tf.ConfigProto(log_device_placement=True))
        assert capsys.readouterr().out == "Device mapping: no known devices.\n"
        session.run(v.initializer)
        lines = [
            "v: (VariableV2)",
            "v/Assign: (Assign)",
            "v/read: (Identity)",
            "a: (Const)",
            "v/initial_value: (Const)",
        ]
        assert capsys.readouterr().out == "".join(f"{line}: {device}\n" for line in lines)
        session.run(a)
        assert capsys.readouterr().out == ""
        session.run(tf.add(a, v, name="b"))
        assert capsys.readouterr().out.splitlines()[3] == f"b: (Add): {device}"
        with tf.device("/gpu:0"), pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
            session.run(tf.identity(a))
        assert capsys.readouterr().out == ""
        session.close()
