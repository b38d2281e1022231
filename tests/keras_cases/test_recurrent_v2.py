"""Recurrent layers of TensorFlow 2 in graphs: what TensorFlow 1.15.5 adds beside the nodes of tf.keras.layers."""

import pytest

import stillflow as tf


@pytest.mark.parametrize("name", ["GRU", "LSTM"])
@pytest.mark.parametrize(("settings", "steps"), [({}, 5), ({"time_major": True}, 2)])
def test_the_loop_is_told_how_many_steps_there_are(new_graph, name, settings, steps):
    layer = getattr(tf.compat.v2.keras.layers, name)(4, **settings)
    layer(tf.keras.Input(batch_shape=(2, 5, 3)))
    nodes = {node.name.partition("/")[2]: node for node in tf.get_default_graph().as_graph_def().node}
    limit = nodes["while/maximum_iterations"].attr["value"].tensor
    assert tf.make_ndarray(limit) == steps
    assert nodes["runtime"].device == "/device:CPU:0"
    assert tf.make_ndarray(nodes["runtime"].attr["value"].tensor) == 0.0
