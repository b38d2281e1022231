"""keras.backend.function in eager execution. Values are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph

K = tf.keras.backend
ONES = np.ones((2, 3))


@pytest.fixture(autouse=True)
def _eagerly():
    with EagerGraph().as_default():
        yield


def _model():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Dense(2, kernel_initializer="ones", input_shape=(3,)), layers.Dropout(0.5)])


def test_placeholders_need_no_layer():
    x, y = K.placeholder(ndim=2), K.placeholder(shape=(2, 3))
    assert K.function([x], tf.keras.activations.elu(x, 0.5))([np.array([[1.0, 2.0]])]).tolist() == [[1, 2]]
    found = K.function([x, y], {"sum": x + K.sum(y)})([ONES, ONES])
    assert found["sum"].tolist() == [[7] * 3] * 2


def test_variables_are_read_at_each_call_and_updated_after_it():
    x, v = K.placeholder(ndim=0), K.variable(1.0)
    add = K.function([x], [x + K.sum(v), v], updates=[(v, v * 3)])
    assert [float(each) for each in add([5])] == [6, 1]
    v.assign_add(1.0)
    assert [float(each) for each in add([5])][1] == 4
    assert float(v) == 3


def test_parts_of_models_are_run():
    model = _model()
    (found,) = K.function([model.input], [model.layers[0].output])([ONES])
    assert found.tolist() == [[3, 3]] * 2
    model.layers[0].set_weights([np.full((3, 2), 2.0), np.ones(2)])
    (total,) = K.function(model.inputs, [K.sum(model.output)])([ONES])
    assert total == 28


def test_learning_phase_may_be_fed():
    model = _model()
    run = K.function([model.input, K.learning_phase()], [model.output])
    assert run([ONES, 0])[0].tolist() == [[3, 3]] * 2
    assert set(np.unique(run([np.ones((50, 3)), 1])[0])) == {0, 6}


def test_what_cannot_be_run_is_refused():
    x = K.placeholder(ndim=2)
    with pytest.raises(ValueError, match="Session keyword arguments are not support during eager execution"):
        K.function([x], [x], feed_dict={})
    with pytest.raises(TypeError, match="`updates` in a Keras backend function should be a list or tuple"):
        K.function([x], [x], updates={"a": 1})
    with pytest.raises(ValueError, match="You must feed a value for placeholder"):
        K.function([x], [x + 1])([None])
    with pytest.raises(Exception, match="depends transitively on placeholder"):
        K.function([x], [K.placeholder(ndim=2) + x])


def test_operations_on_inputs_know_their_shapes():
    x = tf.keras.Input((10,))
    mean = tf.reduce_mean(x, axis=1, keepdims=True)
    assert mean.shape.as_list() == [None, 1]
    model = tf.keras.Model(x, tf.keras.layers.Dense(2, kernel_initializer="ones")(mean))
    assert model.predict(np.ones((1, 10))).tolist() == [[1, 1]]
