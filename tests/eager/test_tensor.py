"""Tensors that have their values, spelled as TensorFlow 1.15.5 spells them."""

import copy
import pickle

import numpy as np
import pytest

import stillflow as tf


def test_operations_run_when_they_are_called():
    assert tf.executing_eagerly()
    product = tf.matmul([[1.0, 2.0], [3.0, 4.0]], [[1.0], [1.0]])
    np.testing.assert_array_equal(product.numpy(), [[3.0], [7.0]])
    assert product.shape.as_list() == [2, 1]
    assert product.dtype is tf.float32


def test_text():
    tensor = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert str(tensor) == "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)"
    number = f"<tf.Tensor: id={tensor._id}, shape=(2, 2), dtype=float32, numpy="
    assert repr(tensor) == number + "\narray([[1., 2.],\n       [3., 4.]], dtype=float32)>"
    assert str(tensor[0, 0]) == "tf.Tensor(1.0, shape=(), dtype=float32)"
    assert repr(tf.constant("a")).endswith("shape=(), dtype=string, numpy=b'a'>")
    assert repr(tf.constant([1])).endswith("shape=(1,), dtype=int32, numpy=array([1], dtype=int32)>")


def test_a_scalar_is_a_number():
    one = tf.constant(1)
    assert int(one) == 1
    assert float(one) == 1.0
    assert list(range(one)) == [0]
    assert one
    assert not tf.constant(0.0)
    assert f"{tf.constant(0.25):.1f}" == "0.2"
    with pytest.raises(TypeError, match=r"Scalar tensor has no `len\(\)`"):
        len(one)
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        iter(one)


def test_an_array_is_a_sequence():
    tensor = tf.constant([[1, 2], [3, 4]])
    assert len(tensor) == 2
    assert [row.numpy().tolist() for row in tensor] == [[1, 2], [3, 4]]
    assert tensor.ndim == 2
    with pytest.raises(ValueError, match="truth value"):
        bool(tensor)


def test_nobody_changes_the_value():
    source = np.array([1.0, 2.0])
    tensor = tf.constant(source)
    source[0] = 5.0
    tensor.numpy()[1] = 6.0
    np.asarray(tensor)[1] = 7.0
    assert tensor.numpy().tolist() == [1.0, 2.0]


def test_strings_are_bytes():
    assert tf.constant("a").numpy() == b"a"
    joined = tf.strings.join([tf.constant(["a", "b"]), "c"])
    assert joined.numpy().tolist() == [b"ac", b"bc"]


def test_copies_and_pickles():
    tensor = tf.constant([1.5])
    assert copy.deepcopy(tensor).numpy() == 1.5
    assert pickle.loads(pickle.dumps(tensor)).numpy() == 1.5


@pytest.mark.parametrize("name", ["op", "name", "graph", "value_index"])
def test_what_belongs_to_graphs_is_missing(name):
    with pytest.raises(AttributeError, match=f"Tensor.{name} is meaningless when eager execution is enabled"):
        getattr(tf.constant(1), name)


def test_errors_name_the_op():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Matrix size-incompatible: .*\[Op:MatMul\]") as caught:
        tf.matmul(tf.ones([2, 2]), tf.ones([3, 3]))
    assert caught.value.op is None or caught.value.op.type == "MatMul"


def test_a_graph_is_built_where_one_is_the_default():
    value = tf.constant(1)
    with tf.Graph().as_default():
        assert not tf.executing_eagerly()
        symbol = tf.constant(1)
        with pytest.raises(RuntimeError, match="Attempting to capture an EagerTensor without building a function"):
            tf.identity(value)
        with tf.Session() as session:
            assert session.run(symbol) == 1
    with pytest.raises(TypeError, match='passed a "Graph" tensor'):
        tf.identity(symbol)


def test_random_numbers_are_those_of_tensorflow():
    tf.set_random_seed(1)
    first = [tf.random_uniform([2]).numpy().tolist(), tf.random_uniform([2]).numpy().tolist()]
    seeded = [tf.random_uniform([2], seed=3).numpy().tolist() for _ in range(2)]
    assert np.float32(first).tolist() == np.float32([[0.16513085, 0.9014813], [0.51010704, 0.44353175]]).tolist()
    assert np.float32(seeded).tolist() == np.float32([[0.7787856, 0.80119777], [0.24208665, 0.8160603]]).tolist()
    assert tf.random_normal([2]).numpy().tolist() == np.float32([-0.45701224, -0.40686727]).tolist()
    tf.set_random_seed(1)
    assert tf.random_uniform([2]).numpy().tolist() == first[0]
    assert tf.random_uniform([2], seed=3).numpy().tolist() == seeded[0]
