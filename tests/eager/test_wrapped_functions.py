"""tf.wrap_function: functions written for graphs and sessions, where operations run when they are called."""

import pytest

import stillflow as tf
from stillflow.traced_functions.lifting import UnliftableError
from stillflow.traced_functions.wrapped import WrappedGraph, function_from_graph_def

SCALAR = tf.TensorSpec([], tf.float32)


def scaled(x):
    scale = tf.compat.v1.get_variable("scale", initializer=3.0, use_resource=True)
    return tf.multiply(x, scale, name="scaled")


def test_variables_are_made_once_and_live_with_the_function():
    wrapped = tf.wrap_function(scaled, [SCALAR])
    (variable,) = wrapped.variables
    assert wrapped(tf.constant(2.0)).numpy() == 6.0
    variable.assign(5.0)
    assert wrapped(tf.constant(2.0)).numpy() == 10.0


def test_gradients_of_variables():
    wrapped = tf.wrap_function(scaled, [SCALAR])
    with tf.GradientTape() as tape:
        result = wrapped(tf.constant(2.0)) * 4.0
    assert tape.gradient(result, wrapped.variables)[0].numpy() == 8.0


def test_an_effect_happens_only_if_a_result_needs_it():
    variable = tf.Variable(1.0)

    def add(x):
        with tf.control_dependencies([variable.assign_add(10.0)]):
            needed = tf.identity(x)
        variable.assign_add(100.0)
        return needed

    wrapped = tf.wrap_function(add, [SCALAR])
    assert wrapped(tf.constant(2.0)).numpy() == 2.0
    assert variable.numpy() == 11.0


def test_parts_of_a_function():
    wrapped = tf.wrap_function(scaled, [SCALAR])
    tripled = wrapped.prune(feeds="placeholder:0", fetches={"result": "scaled:0"})
    assert tripled(tf.constant(2.0))["result"].numpy() == 6.0
    assert tripled.variables[0] is wrapped.variables[0]
    with pytest.raises(UnliftableError, match="depends transitively on placeholder"):
        wrapped.prune([], "scaled:0")
    with pytest.raises(ValueError, match=r"Feeds must be tensors\."):
        wrapped.prune(wrapped.graph.get_operation_by_name("placeholder"), "scaled:0")
    with pytest.raises(ValueError, match="is not an element of this graph"):
        wrapped.prune(tf.wrap_function(scaled, [SCALAR]).inputs[:1], "scaled:0")


def test_functions_of_one_graph_share_variables():
    shared = WrappedGraph()

    def increased():
        with tf.compat.v1.variable_scope("", reuse=tf.compat.v1.AUTO_REUSE):
            count = tf.compat.v1.get_variable(
                "count", [], tf.int32, tf.compat.v1.zeros_initializer(), use_resource=True
            )
        return count.assign_add(1)

    first = shared.wrap_function(increased, [], "first")
    second = shared.wrap_function(lambda x: x * increased(), [tf.TensorSpec([], tf.int32)], "second")
    assert first().numpy() == 1
    assert second(tf.constant(10)).numpy() == 20
    assert list(shared.variables) == ["count"]
    assert sorted(shared.functions) == ["first", "second"]


def test_a_function_of_a_graph_def():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None], "x")
        tf.identity(tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2.0), (0, x))[1], name="result")
    eightfold = function_from_graph_def(graph.as_graph_def(), "x:0", {"result": "result:0"})
    assert eightfold(tf.constant([1.0, 2.0]))["result"].numpy().tolist() == [8.0, 16.0]
