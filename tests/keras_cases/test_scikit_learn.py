"""Models as scikit-learn has its own."""

import numpy as np
import pytest

import stillflow as tf

X = np.random.RandomState(0).randn(64, 2).astype(np.float32)
NAMES = np.where(X[:, 0] > 0, "yes", "no")
wrappers = tf.keras.wrappers.scikit_learn


def classifier(units=8, outputs=2, loss="sparse_categorical_crossentropy", metrics=("accuracy",)):
    layers = tf.keras.layers
    last = layers.Dense(outputs, activation="softmax" if outputs > 1 else "sigmoid")
    model = tf.keras.Sequential([layers.Dense(units, activation="tanh", input_shape=(2,)), last])
    model.compile(tf.keras.optimizers.Adam(0.1), loss, metrics=list(metrics))
    return model


def regressor():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile(tf.keras.optimizers.SGD(0.1), "mse")
    return model


@pytest.mark.parametrize(
    "options",
    [{}, {"loss": "categorical_crossentropy"}, {"outputs": 1, "loss": "binary_crossentropy"}],
    ids=["sparse", "categories", "binary"],
)
def test_classifier(options):
    with tf.Graph().as_default():
        found = wrappers.KerasClassifier(classifier, units=4, epochs=30, batch_size=16, verbose=0, **options)
        found.fit(X, NAMES)
        assert found.classes_.tolist() == ["no", "yes"]
        assert found.score(X, NAMES) > 0.9
        probabilities = found.predict_proba(X)
        assert probabilities.shape == (64, 2)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
        assert (np.squeeze(found.predict(X)) == NAMES).mean() > 0.9


def test_regressor():
    with tf.Graph().as_default():
        found = wrappers.KerasRegressor(regressor, epochs=20, verbose=0)
        found.fit(X, X @ [1.0, -2.0])
        assert found.predict(X).shape == (64,)
        assert -0.01 < found.score(X, X @ [1.0, -2.0]) <= 0


def test_parameters():
    found = wrappers.KerasClassifier(classifier, units=4, epochs=1)
    assert found.get_params() == {"units": 4, "epochs": 1, "build_fn": classifier}
    assert found.set_params(batch_size=8) is found
    with pytest.raises(ValueError, match="other is not a legal parameter"):
        found.set_params(other=1)
    with tf.Graph().as_default():
        found = wrappers.KerasClassifier(classifier, metrics=(), verbose=0).set_params(epochs=1)
        found.fit(X, NAMES)
        with pytest.raises(ValueError, match="not configured to compute accuracy"):
            found.score(X, NAMES)
        with pytest.raises(ValueError, match="Invalid shape for y"):
            found.fit(X, np.zeros((2, 2, 2)))
