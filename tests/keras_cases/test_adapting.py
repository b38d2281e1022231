"""Layers that take in data before training: the moments of Normalization, over arrays and data sets."""

import numpy as np
import pytest
from stillflow.python.keras.layers.preprocessing.normalization import Normalization

import stillflow as tf

DATA = np.random.RandomState(0).normal(3, 2, (12, 4)).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default(), tf.Session():
        yield


def expected(data):
    return (DATA - data.mean(0)) / data.var(0)


def test_moments_of_all_batches_count():
    layer = Normalization()
    layer.adapt(tf.data.Dataset.from_tensor_slices(DATA).batch(5))
    inputs = tf.keras.Input((4,))
    model = tf.keras.Model(inputs, layer(inputs))
    np.testing.assert_allclose(model.predict(DATA), expected(DATA), rtol=1e-4)
    layer.adapt(DATA[:3])
    np.testing.assert_allclose(model.predict(DATA), expected(DATA[:3]), rtol=1e-4)
    layer.adapt(DATA[3:], reset_state=False)
    np.testing.assert_allclose(model.predict(DATA), expected(DATA), rtol=1e-4)
    assert layer.get_weights()[2] == 12


def test_weights_without_a_count_cannot_be_adapted_further():
    layer = Normalization()
    layer.build((None, 2))
    layer.set_weights([np.array([1.5, 2.0]), np.array([0.0, 1.0])])
    with pytest.raises(RuntimeError, match="without also setting 'count'"):
        layer.adapt(np.ones((1, 2)), reset_state=False)


def test_data_that_cannot_be_adapted_to():
    layer = Normalization()
    with pytest.raises(RuntimeError, match="must be called after build"):
        layer._set_state_variables({"mean": [1.0]})
    with pytest.raises(ValueError, match="a Dataset or a Numpy array"):
        layer.adapt([1.0, 2.0])
    with pytest.raises(ValueError, match="infinite number of elements"):
        layer.adapt(tf.data.Dataset.from_tensors([1.0]).repeat())
    with pytest.raises(ValueError, match="may not be 0"):
        Normalization(axis=0)


def test_accumulators_survive_as_bytes():
    combiner = Normalization(axis=(1, 2))._combiner
    found = combiner.compute(DATA.reshape((3, 2, 2, 4)), combiner.compute(DATA.reshape((3, 2, 2, 4)) + 1))
    again = combiner.deserialize(combiner.serialize(found))
    assert again.count == 24 and again.mean.shape == (2, 2)
    np.testing.assert_array_equal(again.variance, found.variance)
