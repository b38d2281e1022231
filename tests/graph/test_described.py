"""Operations made of NodeDef messages."""

import pytest

import stillflow as tf
from stillflow.graph.described import node_def_of


def test_a_message_becomes_a_node(new_graph):
    x = tf.constant([1.0, 2.0])
    op = tf.Operation(node_def_of("Neg", "minus", device="/cpu:0"), new_graph, [x], control_inputs=[x])
    assert op.name == "minus"
    assert op.device == "/cpu:0"
    assert op.outputs[0].shape.as_list() == [2]
    assert new_graph.get_operation_by_name("minus") is op
    assert tf.identity(x, name="minus").op.name == "minus_1"
    with tf.Session() as session:
        assert session.run(op.outputs[0]).tolist() == [-1.0, -2.0]


def test_attributes_are_those_of_the_message_or_the_default(new_graph):
    x = tf.constant([[1.0]])
    value = tf.AttrValue(b=True)
    node = node_def_of("MatMul", "product", device=lambda node: f"/job:{node.name}", attrs={"transpose_a": value})
    op = tf.Operation(node, new_graph, [x, x])
    assert op.device == "/job:product"
    assert (op.get_attr("transpose_a"), op.get_attr("transpose_b"), op.get_attr("T")) == (True, False, tf.float32)


@pytest.mark.parametrize("name", ["", "_x", "x:0", "taken"])
def test_names_have_to_be_valid_and_new(name, new_graph):
    tf.no_op("taken")
    with pytest.raises(ValueError, match="name"):
        tf.Operation(node_def_of("NoOp", name), new_graph)


def test_what_does_not_fit_is_refused(new_graph):
    with pytest.raises(TypeError, match="node_def needs to be a NodeDef"):
        tf.Operation("NoOp", new_graph)
    with pytest.raises(TypeError, match="g needs to be a Graph"):
        tf.Operation(node_def_of("NoOp", "x"), None)
    with pytest.raises(TypeError, match="input needs to be a Tensor"):
        tf.Operation(node_def_of("Neg", "x"), new_graph, [1.0])
    with pytest.raises(ValueError, match="missing attr 'dtype'"):
        tf.Operation(node_def_of("Placeholder", "x"), new_graph)
    with pytest.raises(ValueError, match="Op type not registered 'Nothing'"):
        tf.Operation(node_def_of("Nothing", "x"), new_graph)
    assert new_graph.get_operations() == []
