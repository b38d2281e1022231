"""TensorInfo messages of composite tensors: those of TensorFlow 1.15.5, there and back."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph
from stillflow.graph.graph import Graph


def test_a_ragged_tensor_is_named_by_its_parts():
    ragged = tf.ragged.constant([[1, 2], [3]])
    info = tf.saved_model.build_tensor_info(ragged)
    assert info.WhichOneof("encoding") == "composite_tensor"
    names = [part.name for part in info.composite_tensor.components]
    assert names == [ragged.flat_values.name, ragged.row_splits.name]
    assert info.composite_tensor.type_spec.type_spec_class_name == "RaggedTensorSpec"
    found = tf.saved_model.utils.get_tensor_from_tensor_info(info)
    assert isinstance(found, tf.RaggedTensor)
    assert found.flat_values is ragged.flat_values
    assert found.row_splits is ragged.row_splits


def test_indexed_slices_are_named_by_their_parts():
    slices = tf.IndexedSlices(tf.constant([[1.0]]), tf.constant([0]))
    found = tf.saved_model.get_tensor_from_tensor_info(tf.saved_model.build_tensor_info(slices))
    assert found.values is slices.values
    assert found.indices is slices.indices


def test_a_signature_of_ragged_tensors_is_saved_and_found_again(tmp_path):
    directory = str(tmp_path / "model")
    with tf.Session() as session:
        ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
        tf.saved_model.simple_save(session, directory, {"x": ragged}, {"y": ragged * 2.0})
    with Graph().as_default(), tf.Session() as session:
        meta_graph = tf.saved_model.load(session, ["serve"], directory)
        infos = meta_graph.signature_def["serving_default"]
        x, y = (tf.saved_model.get_tensor_from_tensor_info(info) for info in (infos.inputs["x"], infos.outputs["y"]))
        fed = tf.ragged.constant_value([[5.0], [1.0, 2.0]], dtype=np.float32, row_splits_dtype=np.int64)
        assert session.run(y, {x: fed}).to_list() == [[10.0], [2.0, 4.0]]


def test_eager_tensors_have_no_names():
    with EagerGraph().as_default(), pytest.raises(RuntimeError, match="is not supported in Eager mode"):
        tf.saved_model.build_tensor_info(tf.constant(1))
