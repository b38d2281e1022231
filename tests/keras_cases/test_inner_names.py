"""What libraries take from Keras' inner modules, and layers that make variables of their own."""

import numpy as np
import pytest
from stillflow.python.keras.utils import tf_utils
from stillflow.python.ops import variables

import stillflow as tf


def test_signatures_of_outputs():
    dense = tf.keras.layers.Dense(4)
    spec = dense.compute_output_signature(tf.TensorSpec([None, 3], tf.float64))
    assert (spec.shape.as_list(), spec.dtype) == ([None, 4], tf.float64)
    added = tf.keras.layers.Add(dtype="float16").compute_output_signature([tf.TensorSpec([2, 3])] * 2)
    assert (added.shape.as_list(), added.dtype) == ([2, 3], tf.float16)
    with pytest.raises(TypeError, match="Only TensorSpec signature types are supported"):
        dense.compute_output_signature(tf.TensorShape([2, 3]))


def test_variables_that_a_lambda_makes_are_its_own():
    layer = tf.keras.layers.Lambda(lambda x: x * variables.Variable(2.0, name="factor"))
    with tf.Graph().as_default(), tf.Session():
        outputs = [layer(tf.ones([2, 3])) for _ in range(2)]
        assert [weight.name for weight in layer.trainable_weights] == [f"{layer.name}/factor:0"]
        np.testing.assert_array_equal(tf.keras.backend.get_value(outputs[1]), np.full((2, 3), 2.0))


def test_shapes_of_lambdas_are_found():
    layer = tf.keras.layers.Lambda(lambda x: (x[0], {"rows": x[1][:, :1]}))
    first, second = layer.compute_output_shape([(None, 3), (2, 5)])
    assert (first.as_list(), second["rows"].as_list()) == ([None, 3], [2, 1])
    layer = tf.keras.layers.Lambda(lambda x, more: x)
    with pytest.raises(NotImplementedError, match="We could not automatically infer the shape"):
        layer.compute_output_shape((None, 3))


class _Pair:
    """Converts to a tensor, as TensorFlow Probability's distributions do."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.shape, self.dtype = tensor.shape, tensor.dtype


def test_classes_of_symbolic_tensors():
    tf.register_tensor_conversion_function(_Pair, lambda value, dtype=None, name=None, as_ref=False: value.tensor)
    inputs = tf.keras.Input([3])
    assert not tf_utils.is_symbolic_tensor(_Pair(inputs))
    tf_utils.register_symbolic_tensor_type(_Pair)
    assert tf_utils.is_symbolic_tensor(_Pair(inputs))
    paired = tf.keras.layers.Lambda(_Pair)(inputs)
    outputs = tf.keras.layers.Lambda(lambda x: tf.convert_to_tensor(x) + 1.0)(paired)
    model = tf.keras.Model(inputs, outputs)
    np.testing.assert_array_equal(model.predict(np.ones([2, 3])), np.full((2, 3), 2.0))


def test_variables_of_the_inner_module_are_resources():
    variable = variables.Variable(1.0)
    assert isinstance(variable, variables.Variable) and variable.op.type == "VarHandleOp"
    assert isinstance(tf.Variable(1.0), variables.Variable)
    assert variables.Variable.SaveSliceInfo is tf.Variable.SaveSliceInfo


def test_names_are_counted_anew_in_all_graphs():
    graph = tf.Graph()
    with graph.as_default():
        assert tf.keras.layers.Dense(1).name == "dense"
    tf.keras.backend.reset_uids()
    with graph.as_default():
        assert tf.keras.layers.Dense(1).name == "dense"
