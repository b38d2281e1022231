"""Models of sparse and ragged tensors: inputs, outputs in batches, and refusals, as in TensorFlow."""

import numpy as np
import pytest
import scipy.sparse

import stillflow as tf
from stillflow.ragged.composites import take_rows

RAGGED = [[[1]], [[2, 3]]]


class ToDense(tf.keras.layers.Layer):
    def call(self, inputs):
        if isinstance(inputs, tf.RaggedTensor):
            inputs = inputs.to_tensor(default_value=-1)
        elif isinstance(inputs, tf.SparseTensor):
            inputs = tf.sparse.to_dense(inputs, default_value=-1)
        return tf.cast(inputs, tf.float32)


class ToRagged(tf.keras.layers.Layer):
    def call(self, inputs):
        return tf.RaggedTensor.from_tensor(inputs, padding=0)


class ToSparse(tf.keras.layers.Layer):
    def call(self, inputs):
        return tf.sparse.from_dense(inputs)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default(), tf.Session():
        yield


def model_of(layer, **kwargs):
    inputs = tf.keras.Input(**kwargs)
    model = tf.keras.Model(inputs, layer(inputs))
    if isinstance(layer, ToDense):
        model.compile("sgd", "mse", metrics=["accuracy"])
    return model


def sparse():
    return tf.SparseTensor([[0, 0, 0], [1, 0, 0], [1, 0, 1]], [1, 2, 3], [2, 1, 3])


def test_sparse_tensors_are_inputs():
    expected = np.array([[[1, -1, -1]], [[2, 3, -1]]])
    model = model_of(ToDense(), shape=(1, None), sparse=True, dtype="int32", name="x")
    np.testing.assert_array_equal(model.predict(sparse(), steps=1), expected)
    assert model.evaluate({"x": sparse()}, expected, steps=1, verbose=0) == [0.0, 1.0]
    dataset = tf.data.Dataset.from_tensor_slices((sparse(), expected)).batch(2)
    assert model.evaluate(dataset, steps=1, verbose=0) == [0.0, 1.0]
    model.fit(dataset, steps_per_epoch=1, verbose=0)
    with pytest.raises(ValueError, match=r"got array with shape \(1, 3\)"):
        model_of(ToDense(), shape=(2, None), sparse=True, dtype="int32").predict(sparse(), steps=1)


def test_scipy_matrices_are_inputs_in_batches():
    matrix = scipy.sparse.coo_matrix(([1, 2, 3], ([0, 1, 2], [0, 0, 1])), shape=[3, 3])
    model = model_of(ToDense(), shape=(3,), sparse=True, dtype="int64")
    expected = [[1, -1, -1], [2, -1, -1], [-1, 3, -1]]
    np.testing.assert_array_equal(model.predict(matrix.tocsr(), batch_size=2), expected)


def test_ragged_tensors_are_inputs():
    expected = np.array([[[1, -1]], [[2, 3]]])
    model = model_of(ToDense(), shape=(None, None), ragged=True, dtype="int32")
    assert model.inputs[0].ragged_rank == 2
    np.testing.assert_array_equal(model.predict(tf.ragged.constant(RAGGED)), expected)
    assert model.evaluate(tf.ragged.constant(RAGGED), expected, verbose=0) == [0.0, 1.0]
    dataset = tf.data.Dataset.from_tensor_slices((tf.ragged.constant(RAGGED), expected)).batch(2)
    assert model.evaluate(dataset, verbose=0) == [0.0, 1.0]


def test_ragged_tensors_of_another_form_are_refused():
    model = model_of(ToDense(), shape=(None, 2), ragged=True, dtype="int32")
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        model.predict(tf.ragged.constant([[[1, 0]], [[2, 3]]]))
    model = model_of(ToDense(), shape=(None, 4), ragged=True, dtype="int32")
    with pytest.raises(ValueError, match="got array with shape"):
        model.predict(tf.ragged.constant([[[1, 0]], [[2, 3]]], ragged_rank=1))


def test_outputs_of_batches_are_joined():
    rows = np.array([[1, 0, 0], [2, 3, 0], [4, 0, 0], [5, 6, 0], [7, 0, 0]])
    ragged = model_of(ToRagged(), shape=(None,)).predict(rows, batch_size=2)
    assert ragged.to_list() == [[1], [2, 3], [4], [5, 6], [7]]
    sparse = model_of(ToSparse(), shape=(3,)).predict(rows, batch_size=2)
    assert isinstance(sparse, tf.SparseTensorValue)
    np.testing.assert_array_equal(sparse.indices, np.argwhere(rows))
    np.testing.assert_array_equal(sparse.values, rows[rows != 0])
    np.testing.assert_array_equal(sparse.dense_shape, [5, 3])


def test_composite_inputs_have_to_be_declared():
    model = tf.keras.Sequential([ToDense()])
    with pytest.raises(ValueError, match="All SparseTensor and RaggedTensor inputs must be explicitly declared"):
        model.predict(sparse(), steps=1)
    with pytest.raises(ValueError, match="either a single array or a list of arrays"):
        model.predict(scipy.sparse.eye(3))


def test_rows_are_taken_in_any_order():
    rows = np.array([2, 0])
    places = np.array([[0, 1], [1, 0], [2, 0], [2, 2]])
    sparse_rows = tf.SparseTensorValue(places, np.arange(4), np.array([3, 3]))
    found = take_rows(sparse_rows, rows)
    np.testing.assert_array_equal(found.indices, [[0, 0], [0, 2], [1, 1]])
    np.testing.assert_array_equal(found.values, [2, 3, 0])
    np.testing.assert_array_equal(found.dense_shape, [2, 3])
    with tf.Session() as session:
        ragged = session.run(tf.ragged.constant([[[1], [2, 3]], [], [[4, 5, 6], []]], ragged_rank=2))
    assert take_rows(ragged, rows).to_list() == [[[4, 5, 6], []], [[1], [2, 3]]]
