"""Models that HDF5 files bring back go on training as if nothing had happened."""

import contextlib

import numpy as np
import pytest
from keras_cases.eager_scenarios import _normalizing
from keras_cases.training_scenarios import CLASSES, X

import stillflow as tf
from stillflow.eager.graph import EagerGraph

pytest.importorskip("h5py")


@contextlib.contextmanager
def in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        yield


@contextlib.contextmanager
def in_eager_execution():
    with EagerGraph().as_default():
        yield


@pytest.mark.parametrize("second", [in_a_graph, in_eager_execution])
@pytest.mark.parametrize("first", [in_a_graph, in_eager_execution])
def test_the_training_goes_on(first, second, tmp_path):
    path = str(tmp_path / "model.h5")
    with first():
        model = _normalizing(tf)
        model.fit(X, CLASSES, epochs=2, verbose=0, shuffle=False)
        model.save(path)
        model.reset_metrics()  # the first step would go on counting where fit ended, which no file has
        expected = [model.train_on_batch(X, CLASSES) for _ in range(3)]
    with second():
        again = tf.keras.models.load_model(path)
        found = [again.train_on_batch(X, CLASSES) for _ in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_model_that_was_built_by_its_data_brings_the_state_of_its_optimizer(tmp_path):
    path = str(tmp_path / "model.h5")
    with in_a_graph():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dense(3, activation="softmax")])
        model.compile(tf.keras.optimizers.Adam(0.1), "sparse_categorical_crossentropy")
        model.train_on_batch(X, CLASSES)
        model.save(path)
        expected = [model.train_on_batch(X, CLASSES) for _ in range(3)]
    with in_a_graph():
        again = tf.keras.models.load_model(path)
        assert [again.train_on_batch(X, CLASSES) for _ in range(3)] == expected
