"""Tensors that a session keeps between runs."""

import gc

import numpy as np
import pytest

import stillflow as tf


def test_a_handle_brings_its_tensor_into_later_runs():
    x = tf.placeholder(tf.float32, [2])
    keep = tf.get_session_handle(x * 2.0)
    with tf.Session() as session:
        handle = session.run(keep, {x: [1.0, 2.0]})
        holder, kept = tf.get_session_tensor(handle.handle, tf.float32)
        assert handle.handle == "GetSessionHandle;0;/job:localhost/replica:0/task:0/device:CPU:0"
        np.testing.assert_array_equal(session.run(kept + 1.0, {holder: handle.handle}), [3.0, 5.0])
        np.testing.assert_array_equal(handle.eval(), [2.0, 4.0])


def test_a_handle_is_fed_in_the_place_of_its_value():
    x = tf.constant([1.0, 2.0])
    doubled = x * 2.0
    with tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant([5.0, 6.0])))
        np.testing.assert_array_equal(session.run(doubled, {x: handle}), [10.0, 12.0])
        np.testing.assert_array_equal(session.run(x, {x: handle}), [5.0, 6.0])


def test_a_kept_variable_does_not_change():
    variable = tf.Variable([1.0])
    add = variable.assign_add([1.0])
    keep = tf.get_session_handle(variable.read_value())
    with tf.Session() as session:
        session.run(variable.initializer)
        handle = session.run(keep)
        session.run(add)
        assert handle.eval() == [1.0]


def test_deleted_tensors_are_gone():
    with tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant(1)))
        holder, kept = tf.get_session_tensor(handle.handle, tf.int32)
        handle.delete()
        with pytest.raises(TypeError, match="may have already been deleted"):
            handle.eval()
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            session.run(kept, {holder: handle.handle})


def test_the_owner_of_a_raw_handle_deletes_the_tensor():
    with tf.Session() as session:
        raw = session.run(tf.get_session_handle(tf.constant(1))).get_raw_handle()
        holder, delete = tf.delete_session_tensor(raw)
        session.run(delete, {holder: raw})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Failed to delete"):
            session.run(delete, {holder: raw})


def test_tensors_go_with_their_handles():
    keep = tf.get_session_handle(tf.constant(1))
    holder, kept = tf.get_session_tensor(";;", tf.int32)
    with tf.Session() as session:
        first = session.run(keep).handle
        gc.collect()
        for _ in range(12):
            session.run(keep)
        gc.collect()
        session.run(keep)
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
            session.run(kept, {holder: first})


def test_only_tensors_are_kept():
    with pytest.raises(TypeError, match="must be of type Tensor"):
        tf.get_session_handle(1)
