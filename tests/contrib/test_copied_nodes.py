"""tf.contrib.copy_graph: nodes and variables in another graph."""

import pytest

import stillflow as tf


@pytest.mark.parametrize("scope", ["", "copied"])
def test_a_sum_is_copied_with_what_it_needs(scope):
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        x = tf.Variable([1.0, 2.0], name="x")
        y = tf.add(tf.constant([3.0, 4.0], name="c"), x.value() * 2.0, name="total")
        tf.add_to_collection("sums", y)
    copied = tf.contrib.copy_graph.copy_variable_to_graph(x, second, scope)
    prefix = f"{scope}/" if scope else ""
    assert copied.name == f"{prefix}x:0"
    total = tf.contrib.copy_graph.copy_op_to_graph(y, second, [copied], scope)
    assert total.name == f"{prefix}total:0"
    assert tf.contrib.copy_graph.get_copied_op(y, second, scope) is total
    assert second.get_collection(f"{prefix}sums") == [total]
    assert [variable.name for variable in second.get_collection("trainable_variables")] == [copied.name]
    with tf.Session(graph=second) as session:
        session.run(copied.initializer)
        assert session.run(total).tolist() == [5.0, 8.0]


def test_what_is_neither_is_refused():
    with pytest.raises(TypeError, match="is not a Variable"):
        tf.contrib.copy_graph.copy_variable_to_graph(3, tf.Graph())
