"""Layers that a model has itself and in a model inside of it, as variational autoencoders do."""

import contextlib

import numpy as np
import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph

X = np.ones((4, 2), np.float32)


def _model():
    layers = tf.keras.layers
    inputs = tf.keras.Input((2,))
    hidden = layers.Dense(1, kernel_initializer="ones", name="hidden")(inputs)
    inner = tf.keras.Model(inputs, hidden)
    model = tf.keras.Model(inputs, [layers.Dense(1, kernel_initializer="ones")(inner(inputs)), hidden])
    model.compile(tf.keras.optimizers.SGD(0.5), "mse")
    return model


@pytest.mark.parametrize("is_eager", [False, True])
def test_each_weight_is_trained_once(is_eager):
    with EagerGraph().as_default() if is_eager else contextlib.nullcontext():
        model = _model()
        assert len(model.trainable_weights) == 6
        loss = model.train_on_batch(X, [X[:, :1] * 2, X[:, :1] * 1.5])
        assert loss == [0.25, 0.0, 0.25]
        # The step is half the gradient, 2 * 0.5 of one kernel of two inputs, and of the bias.
        assert model.get_layer("hidden").get_weights()[0].tolist() == [[0.5], [0.5]]
        assert model.get_layer("hidden").get_weights()[1].tolist() == [-0.5]


def test_summaries_count_them_once(capsys):
    _model().summary()
    assert "Trainable params: 5" in capsys.readouterr().out
