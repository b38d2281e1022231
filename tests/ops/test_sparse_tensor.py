"""SparseTensor: made, fed, fetched, printed, refused."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import new_session


def test_parts_are_converted():
    with new_session():
        x = tf.SparseTensor(indices=[[0, 1]], values=[2.5], dense_shape=np.array([2, 3], np.int32))
        assert [part.dtype for part in (x.indices, x.values, x.dense_shape)] == [tf.int64, tf.float32, tf.int64]
        assert (x.dtype, x.shape.as_list(), x.get_shape().as_list()) == (tf.float32, [2, 3], [2, 3])
        assert x.op is x.values.op
        assert x.graph is tf.get_default_graph()
        assert str(x).startswith('SparseTensor(indices=Tensor("SparseTensor/indices:0", shape=(1, 2), dtype=int64)')
        assert tf.is_tensor(x)


@pytest.mark.parametrize(
    ("indices", "values", "shape"),
    [([0, 1], [1.0], [2, 3]), ([[0, 1]], [1.0, 2.0], [2, 3]), ([[0, 1]], [1.0], [2]), ([[0, 1]], 1.0, [2, 3])],
)
def test_parts_that_do_not_fit_are_refused(indices, values, shape):
    with new_session(), pytest.raises(ValueError, match="rank|compatible"):
        tf.SparseTensor(indices, values, shape)


def test_a_session_takes_and_gives_sparse_values():
    with new_session() as session:
        x = tf.sparse_placeholder(tf.float32, name="x")
        value = tf.SparseTensorValue(np.array([[0, 1], [1, 0]]), np.array([1.5, 2.5]), np.array([2, 2]))
        assert [t.name for t in (x.indices, x.values, x.dense_shape)] == ["x/indices:0", "x/values:0", "x/shape:0"]
        for fed in (value, tuple(value), [[[0, 1], [1, 0]], [1.5, 2.5], [2, 2]]):
            found = session.run({"x": x, "dense": tf.sparse_tensor_to_dense(x)}, {x: fed})
            assert isinstance(found["x"], tf.SparseTensorValue)
            assert found["x"].values.dtype == np.float32
            assert found["x"].indices.tolist() == [[0, 1], [1, 0]]
            assert found["dense"].tolist() == [[0, 1.5], [2.5, 0]]
        assert x.eval({x: value}).values.tolist() == [1.5, 2.5]
        run = session.make_callable(x, [x])
        assert run(value).dense_shape.tolist() == [2, 2]
        handle = session.partial_run_setup([x], [x])
        assert session.partial_run(handle, [x], {x: value})[0].values.tolist() == [1.5, 2.5]


def test_indexed_slices_are_fetched_and_fed():
    with new_session() as session:
        x = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3]), tf.constant([5, 2]))
        assert session.run(x).indices.tolist() == [3]
        assert session.run(x.values * 2, {x: (np.zeros((1, 2)), [4], [5, 2])}).tolist() == [[0, 0]]


def test_a_sparse_tensor_is_no_tensor():
    with new_session():
        x = tf.SparseTensor([[0]], [1.0], [1])
        with pytest.raises(TypeError, match="Failed to convert object of type"):
            tf.convert_to_tensor(x)
        with pytest.raises(TypeError):
            tf.ones([1]) + x
        with pytest.raises(TypeError, match="Input must be a SparseTensor"):
            tf.sparse_reorder(tf.ones([1]))
        with pytest.raises(TypeError, match="Neither a SparseTensor nor SparseTensorValue"):
            tf.SparseTensor.from_value(1)
        with pytest.raises(RuntimeError, match="Sparse dtype: requested = int32, actual = float32"):
            tf.convert_to_tensor_or_sparse_tensor(x, tf.int32)
        with pytest.raises(TypeError, match="At least one input should be SparseTensor"):
            tf.sparse_add(1, 2)


def test_known_shapes():
    with new_session():
        x = tf.sparse_placeholder(tf.float32, [None, 3])
        assert x.shape.as_list() == [None, None]
        assert tf.sparse_placeholder(tf.float32, [2, 3]).shape.as_list() == [2, 3]
        y = tf.SparseTensor([[0, 0]], [1.0], tf.stack([tf.cast(tf.size(x.values), tf.int64), 4]))
        assert y.shape.as_list() == [None, 4]
        assert tf.sparse_reduce_sum(tf.sparse_placeholder(tf.float32, [2, 3]), 0).shape.as_list() == [3]
        assert tf.sparse_tensor_dense_matmul(tf.sparse_placeholder(tf.float32, [2, 3]), tf.ones([3, 4])).shape == [
            2,
            4,
        ]
