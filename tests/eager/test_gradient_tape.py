"""tf.GradientTape: derivatives of what has run."""

import gc

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops


@pytest.fixture
def x():
    return tf.constant([[1.0, 2.0], [3.0, 4.0]])


def test_derivative_of_what_is_watched(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), 2 * x.numpy())
    with pytest.raises(RuntimeError, match="can only be called once on non-persistent tapes"):
        tape.gradient(y, x)


def test_variables_are_watched(x):
    weights, bias, other = tf.Variable(tf.ones([2, 2])), tf.Variable([1.0, 1.0]), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        loss = tf.reduce_mean(tf.nn.relu(tf.matmul(x, weights) + bias))
    gradients = tape.gradient(loss, [weights, bias, other])
    np.testing.assert_array_equal(gradients[0].numpy(), [[1.0, 1.0], [1.5, 1.5]])
    np.testing.assert_array_equal(gradients[1].numpy(), [0.5, 0.5])
    assert gradients[2] is None
    assert tape.gradient(loss, other, unconnected_gradients="zero").numpy() == 0.0
    assert tape.watched_variables() == (weights, bias)


def test_rows_that_are_looked_up_have_sparse_gradients():
    table = tf.Variable(tf.zeros([4, 3]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 3]))
    slices = tape.gradient(loss, table)
    assert isinstance(slices, tf.IndexedSlices)
    assert slices.indices.numpy().tolist() == [1, 1, 3]
    assert slices.dense_shape.numpy().tolist() == [4, 3]


def test_tapes_record_tapes(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3
        slope = inner.gradient(y, x)
    np.testing.assert_array_equal(outer.gradient(slope, x).numpy(), 6 * x.numpy())


def test_jacobians(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x, axis=1)
    expected = np.zeros([2, 2, 2])
    expected[0, 0], expected[1, 1] = [2, 4], [6, 8]
    np.testing.assert_array_equal(tape.jacobian(y, x).numpy(), expected)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_array_equal(tape.batch_jacobian(y, x).numpy(), [np.diag([2, 4]), np.diag([6, 8])])


@pytest.mark.parametrize("in_function", [False, True])
def test_jacobians_of_nothing(in_function):
    def derivatives(x, y):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch([x, y])
            z, w = x**2, y**2
        unconnected = tape.batch_jacobian(z, y), tape.jacobian(w, x)
        return tape.batch_jacobian(z, x), tape.jacobian(w, y), unconnected

    derivatives = tf.function(derivatives) if in_function else derivatives
    batch, plain, unconnected = derivatives(tf.zeros([1, 0]), tf.zeros([1, 0]))
    assert (batch.shape, plain.shape, unconnected) == ((1, 0, 0), (1, 0, 1, 0), (None, None))


def test_recording_can_be_stopped_and_begun_anew(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2
        with tape.stop_recording():
            z = x * 3
        assert tape.gradient(z, x) is None
        assert tape.gradient(y, x) is not None
        tape.reset()
        assert tape.gradient(y, x) is None


def test_what_cannot_be_watched():
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="not tf.Tensor"):
        tape.watch(3)
    with tf.GradientTape() as tape:
        y = tf.constant(1.0)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nothing'"):
        tape.gradient(y, y, unconnected_gradients="nothing")


def test_a_handle_may_outlive_its_variable():
    with tf.Graph().as_default():
        handle = tf.Variable(1.0, collections=[], use_resource=True).handle
        tf.get_default_graph().clear_collection(tf.GraphKeys.TRAINABLE_VARIABLES)
        gc.collect()
        with tf.GradientTape() as tape:
            value = ops.read_variable_op(handle, dtype=tf.float32)
        assert tape.watched_variables() == ()
        assert tape.gradient(value, handle) is None


def test_in_a_graph_it_records_nodes():
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = a * a
        assert session.run(tape.gradient(y, a)).tolist() == [2.0, 4.0]


def test_gradients_are_added_in_the_order_of_tensorflow():
    variable = tf.Variable(tf.zeros([3]))
    with tf.GradientTape(persistent=True) as tape:
        a, b, c = tf.gather(variable, [1]), tf.gather(variable, [1]), tf.gather(variable, [2])
        first = tf.reduce_sum(a * 1.0) + tf.reduce_sum(b * 2.0) + tf.reduce_sum(c * 3.0)
        second = tf.reduce_sum(c * 3.0) + tf.reduce_sum(a * 1.0) + tf.reduce_sum(b * 2.0)
        d = variable * 1.0
        third = tf.reduce_sum(d * [1e8, 1.0, 1.0]) + tf.reduce_sum(d) + tf.reduce_sum(d * [-1e8, 3.0, 1.0])
    assert tape.gradient(first, variable).values.numpy().tolist() == [3.0, 1.0, 2.0]
    assert tape.gradient(second, variable).values.numpy().tolist() == [2.0, 3.0, 1.0]
    assert tape.gradient(third, variable).numpy().tolist() == [0.0, 5.0, 3.0]
