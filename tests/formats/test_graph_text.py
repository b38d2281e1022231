"""GraphDefs as text: what protobuf prints, byte for byte."""

import numpy as np
import pytest
from google.protobuf import text_format

import stillflow as tf
from stillflow.formats.graph_text import graph_def_text


def graph_with_much_in_it():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.device("/cpu:0"), tf.control_dependencies([x]):
            tf.constant([1.5, 1e-7, 3e20, np.nan, np.inf])
        tf.constant(b'a"\x01\xe9\n\\')
        tf.constant(np.arange(300.0))
        tf.cond(tf.reduce_sum(x) > 1, lambda: x * 2, lambda: x)
        tf.split(x, 3, axis=1)
        tf.function(lambda value: value * 2)(x)
    return graph.as_graph_def(add_shapes=True)


@pytest.mark.parametrize("change", ["nothing", "name", "debug_info", "unknown_attr", "no_nodes"])
def test_text_is_that_of_protobuf(change):
    graph_def = graph_with_much_in_it()
    if change == "name":
        graph_def.node[0].name = 'é"\\\n'
        graph_def.node[1].input.append("")
    elif change == "debug_info":
        graph_def.node[2].experimental_debug_info.original_node_names.append("a")
    elif change == "unknown_attr":
        graph_def.node[0].attr["empty"].SetInParent()
        graph_def.version = 7
    elif change == "no_nodes":
        del graph_def.node[:]
    assert graph_def_text(graph_def) == text_format.MessageToString(graph_def)


def test_it_can_be_read_again():
    graph_def = graph_with_much_in_it()
    assert graph_def.library.function
    assert text_format.Parse(graph_def_text(graph_def), tf.GraphDef()).SerializeToString(
        deterministic=True
    ) == graph_def.SerializeToString(deterministic=True)
