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


def test_what_can_be_reached_from_inputs():
    x, y = tf.placeholder(tf.float32), tf.Variable(1.0, use_resource=False)
    doubled = x * 2.0
    total = doubled + y
    reached = tf_utils.get_reachable_from_inputs([x])
    assert {doubled, total, total.op, x} <= set(reached) and y.op not in reached
    assert total in tf_utils.get_reachable_from_inputs(y, targets=[total])
    assert total not in tf_utils.get_reachable_from_inputs(x, targets=doubled)
    with pytest.raises(TypeError, match="Expected Operation, Variable, or Tensor, got 3"):
        tf_utils.get_reachable_from_inputs([3])


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


def test_shapes_and_conditions_of_layers_own_code():
    tuples, shapes = tf_utils.convert_shapes, tf.TensorShape
    assert tuples([None, 3]) == (None, 3) and tuples(5) == (5,)
    assert tuples([shapes([None, 2]), (1,)]) == [(None, 2), (1,)]
    assert [shape.as_list() for shape in tuples([(None, 3), (1,)], to_tuples=False)] == [[None, 3], [1]]

    class Doubling:
        @tf_utils.shape_type_conversion
        def compute_output_shape(self, input_shape):
            assert type(input_shape) is tuple
            return (*input_shape[:-1], 2 * input_shape[-1])

    assert Doubling().compute_output_shape(shapes([None, 4])).as_list() == [None, 8]
    assert tf_utils.constant_value(1) is True and tf_utils.constant_value(tf.Variable(True)) is None
    assert tf_utils.smart_cond(tf.constant(False), lambda: 1, lambda: 2) == 2
    assert tf_utils.is_tensor_or_tensor_list([tf.constant(1)]) and not tf_utils.is_tensor_or_tensor_list([1])
    assert tf_utils.is_tensor_or_variable(tf.Variable(1)) and not tf_utils.is_tensor_or_variable(1)
    assert tf_utils.are_all_symbolic_tensors([tf.constant(1), tf.Variable(1)])
