"""tf.contrib.tensorrt: without TensorRT, models stay what they are."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.contrib import tensorrt


def test_nodes_of_a_graph_stay():
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.nn.relu(x, name="y")
    graph_def = tf.get_default_graph().as_graph_def()
    assert tensorrt.create_inference_graph(graph_def, ["y"], precision_mode="fp16") == graph_def


def test_a_saved_model_is_frozen_and_written(tmp_path):
    with tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        y = x * tf.Variable([2.0, 3.0])
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "in"), {"x": x}, {"y": y})
    graph_def = tensorrt.create_inference_graph(
        None, None, input_saved_model_dir=str(tmp_path / "in"), output_saved_model_dir=str(tmp_path / "out")
    )
    assert not [node.name for node in graph_def.node if node.op.startswith("Variable")]
    predict = tf.contrib.predictor.from_saved_model(str(tmp_path / "out"))
    np.testing.assert_array_equal(predict({"x": [1.0, 2.0]})["y"], [2.0, 6.0])


def test_a_model_is_needed():
    with pytest.raises(ValueError, match="Must specify one of"):
        tensorrt.create_inference_graph(None, ["y"])
    with pytest.raises(ValueError, match="Can only specify one of"):
        tensorrt.create_inference_graph(tf.GraphDef(node=[{"name": "x"}]), ["y"], input_saved_model_dir="in")
    with pytest.raises(ValueError, match="precision mode 'FP8' is not supported"):
        tensorrt.create_inference_graph(None, ["y"], precision_mode="FP8")
