"""tf.keras.experimental's LinearModel and WideDeepModel."""

import numpy as np
import pytest

import stillflow as tf

WIDE = np.sin(np.arange(40.0)).reshape(20, 2).astype("float32")
DEEP = np.cos(np.arange(60.0)).reshape(20, 3).astype("float32")
LinearModel, WideDeepModel = tf.keras.experimental.LinearModel, tf.keras.experimental.WideDeepModel


def deep_net():
    return tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])


def test_a_linear_model_finds_a_linear_function():
    model = LinearModel(kernel_initializer="zeros")
    model.compile("sgd", "mse")
    y = WIDE @ [[2.0], [-1.0]] + 0.5
    history = model.fit(WIDE, y, epochs=300, verbose=0).history["loss"]
    assert history[-1] < 0.1 * history[0]
    assert [weight.shape.as_list() for weight in model.weights] == [[2, 1], [1]]
    assert LinearModel.from_config(model.get_config()).get_config() == model.get_config()


def test_a_linear_model_adds_up_inputs():
    model = LinearModel(kernel_initializer="ones", use_bias=False, activation="relu")
    outputs = model([tf.constant(WIDE), tf.constant(DEEP)])
    with tf.keras.backend.get_session() as session:
        np.testing.assert_allclose(
            session.run(outputs)[:, 0], np.maximum(WIDE.sum(axis=1) + DEEP.sum(axis=1), 0), atol=1e-6
        )
    with pytest.raises(ValueError, match="Expected 2 inputs, but got 1 inputs"):
        model(tf.constant(WIDE))


def test_a_wide_and_deep_model_has_an_optimizer_for_each():
    linear, deep = LinearModel(kernel_initializer="zeros"), deep_net()
    model = WideDeepModel(linear, deep)
    model.compile([tf.keras.optimizers.SGD(0.0), tf.keras.optimizers.SGD(0.1)], "mse")
    y = WIDE[:, :1] * DEEP[:, :1]
    before = model.predict([WIDE, DEEP])
    deep_before = deep.get_weights()
    model.fit([WIDE, DEEP], y, epochs=2, verbose=0)
    np.testing.assert_array_equal(linear.get_weights()[0], np.zeros((2, 1)))
    assert any(np.any(new != old) for new, old in zip(deep.get_weights(), deep_before, strict=True))
    assert np.any(model.predict([WIDE, DEEP]) != before)
    np.testing.assert_allclose(before, 0.5 * (0 + _value(deep_before, DEEP)), rtol=1e-5, atol=1e-6)


def _value(weights, x):
    return np.maximum(x @ weights[0] + weights[1], 0) @ weights[2] + weights[3]


def test_a_wide_and_deep_model_is_made_of_its_config():
    deep = deep_net()
    deep.build((None, 3))
    model = WideDeepModel(LinearModel(units=2), deep, activation="tanh")
    again = WideDeepModel.from_config(model.get_config())
    assert again.linear_model.units == 2
    assert [layer.units for layer in again.dnn_model.layers] == [4, 1]
    assert again.activation is model.activation
