"""Calls of tf.function in graphs: the nodes and functions that TensorFlow 1.15.5 makes."""

import numpy as np
import pytest

import stillflow as tf


def test_nodes_and_gradients():
    v = tf.Variable(3.0, use_resource=True, name="v")
    f = tf.function(lambda x, y=2.0: (x * y + v, {"a": x}), autograph=False)

    @tf.function
    def g(x):
        return x * x

    x = tf.placeholder(tf.float32, [None], name="x")
    (y, parts), z = f(x), g(x)
    assert (y.name, parts["a"].name, z.name) == (
        "StatefulPartitionedCall:0", "StatefulPartitionedCall:1", "PartitionedCall:0",
    )  # fmt: skip
    assert y.shape.as_list() == [None]
    by_x, by_v = tf.gradients(y, [x, v])
    (by_z,) = tf.gradients(z, x)
    assert by_x.name == "gradients/StatefulPartitionedCall_grad/PartitionedCall:0"
    assert by_z.name == "gradients_1/PartitionedCall_grad/PartitionedCall:0"
    second = tf.gradients(tf.gradients(g(g(x)), x), x)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run([y, z, by_x, by_v, by_z, second], {x: [1, 2]})
    for value, expected in zip(found, [[5, 7], [1, 4], [2, 2], 2, [2, 4], [12, 48]], strict=True):
        np.testing.assert_array_equal(value, expected)
    library = {
        function.signature.name: function for function in tf.get_default_graph().as_graph_def().library.function
    }
    node = tf.get_default_graph().get_operation_by_name("PartitionedCall")
    forward = library[node.get_attr("f").name]
    assert [arg.name for arg in forward.signature.output_arg] == ["identity", "x"]
    inference = next(each for name, each in library.items() if name.startswith("__inference_g_"))
    assert [(n.name, n.op, list(n.input)) for n in inference.node_def] == [
        ("mul", "Mul", ["x", "x"]),
        ("Identity", "Identity", ["mul:z:0"]),
    ]


def test_graph_with_calls_can_be_imported():
    square = tf.function(lambda x: x * x, autograph=False)
    x = tf.placeholder(tf.float32, [], name="x")
    tf.identity(square(x), name="y")
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        assert session.run("y:0", {"x:0": 3.0}) == 9
    assert graph.get_operation_by_name("PartitionedCall")


def _nested(x):
    return tf.cond(x > 0.5, lambda: tf.cond(x > 2.0, lambda: 2.0 * x**3, lambda: x * x), lambda: x**4)


def _chosen(x):
    cases = [(x > 2.0, lambda: x**4), (x > 1.0, lambda: x**5)]
    return tf.case(cases, default=lambda: x**3)


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (_nested, 0.5, [0.0625, 0.5, 3.0, 12.0]),
        (_nested, 1.0, [1.0, 2.0, 2.0, 0.0]),
        (_nested, 3.0, [54.0, 54.0, 36.0, 12.0]),
        (_chosen, 0.5, [0.125, 0.75, 3.0, 6.0]),
        (_chosen, 1.5, [7.59375, 25.3125, 67.5, 135.0]),
        (_chosen, 3.0, [81.0, 108.0, 108.0, 72.0]),
    ],
)
def test_derivatives_of_functions_with_branches(function, x, expected):
    x = tf.constant(x)
    found = [tf.function(function)(x)]
    for _ in range(3):
        found += tf.gradients(found[-1], x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(function)(x)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run([*found, tape.gradient(y, x)]), [*expected, expected[1]], rtol=1e-5)
