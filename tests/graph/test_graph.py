"""Graphs: names, scopes, dependencies, devices, collections, lookups."""

import numpy as np
import pytest

import stillflow as tf


def names(graph):
    return [op.name for op in graph.get_operations()]


# ---- Names --------------------------------------------------------------------------------------------------


def test_names_are_made_unique_without_regard_to_case(new_graph):
    for name in ("x", "x", "X", "x_1", "x"):
        tf.constant(0, name=name)
    assert names(new_graph) == ["x", "x_1", "X_2", "x_1_1", "x_3"]


def test_name_scopes_nest_repeat_and_return(new_graph):
    with tf.name_scope("outer") as outer:
        tf.constant(0, name="c")
        with tf.name_scope("inner"):
            tf.constant(0, name="c")
        with tf.name_scope("inner"):
            tf.constant(0, name="c")
    with tf.name_scope("outer"):
        tf.constant(0, name="c")
    with tf.name_scope(outer):
        tf.constant(0, name="c")
        with tf.name_scope(None):
            tf.constant(0, name="c")
    assert outer == "outer/"
    assert names(new_graph) == ["outer/c", "outer/inner/c", "outer/inner_1/c", "outer_1/c", "outer/c_1", "c"]


@pytest.mark.parametrize("name", ["a b", "_a", "a:0", "/a"])
def test_malformed_names_are_refused(name):
    with pytest.raises(ValueError, match="is not a valid (scope|node) name"), tf.name_scope(name):
        pass
    with pytest.raises(ValueError, match="is not a valid (scope|node) name"):
        tf.constant(0, name=name)


def test_a_refused_name_leaves_no_graph_behind_as_the_default(new_graph):
    with tf.Graph().as_default():
        x = tf.constant(1.0)
    for build in (
        lambda: tf.Variable(x, name="a:b"),
        lambda: tf.identity(x, name="a b"),
        lambda: tf.add_n([x, x], "/"),
    ):
        with pytest.raises(ValueError, match="is not a valid"):
            build()
        assert tf.get_default_graph() is new_graph


def test_lookups_by_name(new_graph):
    x = tf.constant([1, 2], name="x")
    assert new_graph.get_tensor_by_name("x:0") is x
    assert new_graph.get_operation_by_name("x") is x.op
    assert new_graph.as_graph_element("x") is x.op
    assert new_graph.as_graph_element(x) is x
    for call, error, message in (
        (lambda: new_graph.get_tensor_by_name("y:0"), KeyError, "The operation, 'y', does not exist in the graph"),
        (lambda: new_graph.get_tensor_by_name("x:1"), KeyError, "exists but only has 1 outputs"),
        (lambda: new_graph.get_tensor_by_name("x"), ValueError, "refers to an Operation, not a Tensor"),
        (lambda: new_graph.get_tensor_by_name("y"), ValueError, r"looks like an \(invalid\) Operation name"),
        (lambda: new_graph.get_tensor_by_name("x:a"), ValueError, "not a valid one"),
        (lambda: new_graph.get_tensor_by_name(5), TypeError, "Tensor names are strings"),
        (lambda: new_graph.get_operation_by_name("y"), KeyError, "refers to an Operation not in the graph"),
        (lambda: new_graph.get_operation_by_name("x:0"), ValueError, "appears to refer to a Tensor, not a Operation"),
        (lambda: new_graph.as_graph_element(5), TypeError, "Can not convert a int into a Tensor or Operation"),
    ):
        with pytest.raises(error, match=message):
            call()


# ---- Scopes -------------------------------------------------------------------------------------------------


def test_control_dependencies_are_added_once_and_not_where_an_input_waits(new_graph):
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    with tf.control_dependencies([a, b, a]):
        c = tf.constant(3, name="c")
        d = tf.identity(c, name="d")
        e = tf.identity(a, name="e")
        with tf.control_dependencies(None):
            f = tf.constant(4, name="f")
    assert [op.name for op in c.op.control_inputs] == ["a", "b"]
    assert d.op.control_inputs == []  # c waits already
    assert [op.name for op in e.op.control_inputs] == ["b"]
    assert f.op.control_inputs == []
    assert list(c.op.node_def.input) == ["^a", "^b"]


@pytest.mark.parametrize(("argument", "message"), [([5], "Can not convert a int"), (5, "not iterable")])
def test_what_is_no_control_dependency(argument, message):
    with pytest.raises(TypeError, match=message), tf.control_dependencies(argument):
        pass


def test_what_device_functions_say_is_kept_as_it_is_spelled():
    with tf.device(lambda node: "/cpu:0"):
        assert tf.constant(1).device == "/cpu:0"
        with tf.device("/task:1"):
            assert tf.constant(1).device == "/cpu:0"
    with tf.device("/job:ps"), tf.device(lambda node: "/cpu:0"):
        x = tf.constant(1)
        assert x.device == "/job:ps/device:CPU:0"
    with tf.device(lambda node: tf.DeviceSpec(device_type="CPU")):
        assert tf.constant(1).device == "/device:CPU:*"
    with tf.device(lambda node: None):
        assert tf.constant(1).device == ""
    with pytest.raises(ValueError, match="Unknown attribute"), tf.device(lambda node: "/what:0"):
        tf.constant(1)
    x.op._set_device("/cpu:0")
    assert x.device == "/cpu:0" and tf.Session().run(x) == 1


def test_devices_merge_from_the_inside_out():
    with tf.device("/job:worker/task:1"):
        with tf.device("/cpu:0"):
            a = tf.constant(0)
        with tf.device("/job:ps"):
            b = tf.constant(0)
        with tf.device(None):
            c = tf.constant(0)
        with tf.device(lambda op: f"/device:GPU:{len(op.name)}"):
            d = tf.constant(0, name="four")
    assert a.device == "/job:worker/task:1/device:CPU:0"
    assert b.device == "/job:ps/task:1"
    assert c.device == ""
    assert d.device == "/job:worker/task:1/device:GPU:4"
    with pytest.raises(ValueError, match="Unknown attribute: 'x' in 'x'"), tf.device("x"):
        pass


def test_colocation_is_noted_on_the_node():
    w = tf.Variable(1.0, name="w")
    with tf.device("/gpu:0"), tf.get_default_graph().colocate_with(w.op):
        c = tf.constant(0)
    assert c.op.get_attr("_class") == [b"loc:@w"]
    assert c.device == ""
    assert w.initializer.colocation_groups() == [b"loc:@w"]


def test_gradient_overrides_and_registration():
    @tf.RegisterGradient("TimesSeven")
    def _(op, grad):
        return 7.0 * grad

    x = tf.constant(2.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "TimesSeven"}):
        y = tf.identity(x)
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x)) == [7]
    with pytest.raises(KeyError, match="Registering two gradient with name 'Identity'"):
        tf.RegisterGradient("Identity")(lambda op, grad: grad)
    with tf.get_default_graph().gradient_override_map({"Identity": "Nowhere"}):
        z = tf.identity(x)
    with pytest.raises(LookupError, match="No gradient defined for operation"):
        tf.gradients(z, x)


# ---- Collections --------------------------------------------------------------------------------------------


def test_collections():
    w = tf.Variable(1.0, name="net/w")
    v = tf.Variable(1.0, name="other/v", trainable=False)
    assert tf.trainable_variables() == [w]
    assert tf.global_variables() == [w, v]
    assert tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope="net") == [w]
    assert tf.get_collection("none") == []
    tf.add_to_collection("mine", 5)
    copy = tf.get_collection("mine")
    copy.append(6)
    assert tf.get_collection("mine") == [5]
    tf.get_collection_ref("mine").append(7)
    assert tf.get_collection("mine") == [5, 7]


# ---- Life cycle ---------------------------------------------------------------------------------------------


def test_a_finalized_graph_takes_no_nodes(new_graph):
    tf.constant(1)
    new_graph.finalize()
    with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
        tf.constant(2)


def test_graphs_do_not_mix(new_graph):
    a = tf.constant(1.0)
    with tf.Graph().as_default():
        b = tf.constant(1.0)
        with pytest.raises(ValueError, match="must be from the same graph as"):
            tf.add(a, b)
        with pytest.raises(ValueError, match="must be from the same graph as"):
            a + b
        with pytest.raises(ValueError, match="is not an element of this graph"), tf.control_dependencies([a]):
            pass


def test_reset_inside_a_graph_context_is_refused():
    with pytest.raises(AssertionError, match=r"Do not use tf.reset_default_graph\(\) to clear nested graphs"):
        tf.reset_default_graph()


def test_create_op_by_type(new_graph):
    x = tf.constant([1.0, 2.0])
    op = new_graph.create_op("Identity", [x], attrs={"T": tf.float32}, name="same")
    assert op.name == "same" and op.outputs[0].shape == (2,)
    with pytest.raises(RuntimeError, match="Op type not registered 'NoSuchOp'"):
        new_graph.create_op("NoSuchOp", [])


def test_long_chains_need_no_recursion(new_graph):
    x = y = tf.placeholder(tf.float32, [])
    for _ in range(20000):
        y = tf.identity(y)
    grad = tf.gradients(y, x)[0]
    with tf.Session() as session:
        assert session.run([y, grad], {x: 3.0}) == [3, 1]


# ---- Tensors as Python objects ------------------------------------------------------------------------------


def test_what_tensors_are_not():
    t = tf.constant([1, 2])
    with pytest.raises(
        TypeError, match="^using a `tf.Tensor` as a Python `bool` is not allowed in Graph exec"
    ) as bad:
        bool(t)
    assert type(bad.value).__name__ == "OperatorNotAllowedInGraphError"
    lazy = iter(t)
    with pytest.raises(TypeError, match="^iterating over `tf.Tensor` is not allowed in Graph execution. Use Eager"):
        next(lazy)
    with pytest.raises(ValueError, match="Use `with sess.as_default\\(\\):` or pass an explicit session to `run"):
        t.op.run()
    with pytest.raises(ValueError, match="Use `with sess.as_default\\(\\)` or pass an explicit session to `eval"):
        t.eval()
    for function in (len, float, int):
        with pytest.raises(TypeError):
            function(t)
    with pytest.raises(NotImplementedError, match="Cannot convert a symbolic Tensor"):
        __import__("numpy").array(t)
    assert t == t and {t: 1}[t] == 1
    assert repr(t) == "<tf.Tensor 'Const:0' shape=(2,) dtype=int32>"
    assert str(t) == 'Tensor("Const:0", shape=(2,), dtype=int32)'
    with tf.device("/cpu:0"):
        t = tf.constant([1, 2])
    assert str(t) == 'Tensor("Const_1:0", shape=(2,), dtype=int32, device=/device:CPU:0)'
    assert repr(t) == "<tf.Tensor 'Const_1:0' shape=(2,) dtype=int32>"


def test_set_shape_adds_and_does_not_contradict():
    x = tf.placeholder(tf.float32, [None, 3])
    x.set_shape([2, None])
    assert x.shape == (2, 3)
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal, but are 2 and 4"):
        x.set_shape([4, 3])


def test_the_traceback_ends_where_the_node_was_made():
    x = tf.constant(1)
    file, _, function, source = x.op.traceback[-1]
    assert file == __file__ and function == "test_the_traceback_ends_where_the_node_was_made"
    assert source == "x = tf.constant(1)"


def test_constants_keep_zeros_at_the_end_of_strings():
    for value in (b"a\0", "a\0", [b"a\0", b"b"], [["\0"]]):
        with tf.Session() as session:
            expected = np.vectorize(lambda item: item if isinstance(item, bytes) else item.encode(), otypes="O")(
                np.array(value, object)
            )
            assert np.array_equal(np.array(session.run(tf.constant(value)), object), expected)
